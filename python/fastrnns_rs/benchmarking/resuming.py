"""Goes on with a run that was interrupted, if it is still the same run on the same machine."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from fastrnns_rs.benchmarking.opening import record
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.benchmarking.plan import BenchPlan
    from fastrnns_rs.results import Run

#: What differs from one minute to the next.
_VOLATILE = {"load_average_1m", "sm_clock_mhz", "temperature_c", "dirty"}
#: What only the end of a run tells.
_OF_THE_END = {"stopped_by", "precision", "order_seed"}


def resumed(earlier: Run, plan: BenchPlan, fresh: Run) -> tuple[BenchPlan, Run]:
    """A plan and its run that go on where an interrupted run ended: in its order, and with its results.

    Args:
        earlier: The run that was interrupted.
        plan: What the same command would run now.
        fresh: The run that it would begin.

    Raises:
        UsageError: Nothing is left to run, or plan or environment are others now.
    """
    if earlier.status != "interrupted":
        raise UsageError(f"the run is {earlier.status}: nothing of it is left to run", "leave out --resume")
    if earlier.sides:
        raise UsageError("the run has two sides", "start ab again: its sides are to be measured at the same time")
    given: dict[str, Any] = {"order_seed": earlier.plan.order_seed or 0}
    if plan.rule is None and "process_seconds" in earlier.plan.stop.parameters:
        # It follows from how long torch took to import, which is never the same.
        given["loop"] = replace(plan.loop, seconds=earlier.plan.stop.parameters["process_seconds"])
    plan = replace(plan, **given)
    _compare("plan", asdict(earlier.plan), asdict(record(plan)))
    _compare("environment", asdict(earlier.environment), asdict(fresh.environment))
    _compare("tool", asdict(earlier.tool), asdict(fresh.tool))
    # What was interrupted is measured again; what it had measured stays in the file.
    return plan, replace(earlier, warnings=fresh.warnings)


def _compare(name: str, before: dict[str, Any], now: dict[str, Any]) -> None:
    earlier, later = _flat(name, before), _flat(name, now)
    for key in sorted(earlier.keys() | later.keys()):
        if earlier.get(key) != later.get(key):
            was, is_now = earlier.get(key), later.get(key)
            message = f"the run cannot be resumed: its {key} was {was}, and is {is_now} now"
            raise UsageError(message, "give the options of its command, on the machine that ran it, or start anew")


def _flat(path: str, value: Any) -> dict[str, Any]:
    """The leaves of nested objects and lists, by path."""
    if isinstance(value, dict):
        parts = [_flat(f"{path}.{key}", one) for key, one in value.items() if key not in _VOLATILE | _OF_THE_END]
    elif isinstance(value, (list, tuple)):
        parts = [_flat(f"{path}[{index}]", one) for index, one in enumerate(value)]
    else:
        return {path: value}
    return {key: one for part in parts for key, one in part.items()}
