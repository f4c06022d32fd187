"""Continuation of an interrupted run, with an equal plan on the same machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine import warnings
from fastrnns_rs.runners.source_hash import source_sha256
from fastrnns_rs.verbs.bench.plan_record import record_plan

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.verbs.bench.bench_plan import BenchPlan

#: Keys that differ from minute to minute, and keys that are known only at the end of a run.
_DIFFERING = {
    *("load_average_1m", "sm_clock_mhz", "temperature_c", "dirty"),
    *("stopped_by", "precision", "order_seed"),
}
_SAME_CONDITIONS = "Use the options, the folder and the machine of the first command."


def resumed(earlier: Run, plan: BenchPlan, fresh: Run, *, order_seed: int | None = None) -> tuple[BenchPlan, Run]:
    """Returns the plan and the run that continue an interrupted run.

    The order and the results of the interrupted run are kept.

    Args:
        earlier: Interrupted run.
        plan: Plan of the same command now.
        fresh: New run of this plan.
        order_seed: Requested random seed for the order of processes; None for that of the interrupted run.

    Raises:
        UsageError: If nothing is left to run, or the plan or the environment has changed.
    """
    check_interrupted(earlier)
    if order_seed is not None:
        _compare("plan.order_seed", earlier.plan.order_seed, order_seed)
    given: dict[str, Any] = {"order_seed": earlier.plan.order_seed or 0}
    if "process_seconds" in earlier.plan.stop.parameters:
        # The measuring time depends on the import time of torch, which varies.
        given["loop"] = replace(plan.loop, seconds=earlier.plan.stop.parameters["process_seconds"])
    plan = replace(plan, **given)
    _compare("plan", earlier.plan, record_plan(plan))
    _compare("environment", earlier.environment, fresh.environment)
    _compare("tool", earlier.tool, fresh.tool)
    _check_machine(earlier, fresh)
    _check_results(earlier)
    _check_sources(earlier, plan)
    # Warnings about samples are computed again at the end. Warnings about the machine stay valid for the earlier
    # samples.
    sample_codes = {one.code for one in warnings.check_samples(earlier)}
    kept = [one for one in earlier.warnings if one.code not in sample_codes]
    # The interrupted process is measured again; its results stay in the file.
    return plan, replace(
        earlier,
        warnings=[*kept, *(one for one in fresh.warnings if one not in kept)],
        sessions=[*earlier.sessions, *fresh.sessions],
        # The findings of the earlier results are not those of the results to come.
        sweep=None,
    )


def check_interrupted(run: Run) -> None:
    """Checks that a run can be resumed.

    Raises:
        UsageError: If the run is not interrupted, or has ranks or two sides.
    """
    if run.status != "interrupted":
        message = f"cannot resume a run with status {run.status!r}"
        raise UsageError(message, "Leave out `resume`.")
    if run.ranks:
        raise UsageError("cannot resume a run of torchrun", "Start the run again.")
    if run.sides:
        raise UsageError("cannot resume a run of ab", "Run ab again: baseline and candidate are interleaved.")


def _check_machine(earlier: Run, fresh: Run) -> None:
    """Checks that both runs are of one machine.

    Machines of one model have equal environments.

    Raises:
        UsageError: If an earlier session ran on another machine.
    """
    known = {one.machine_id for one in (*earlier.sessions, *fresh.sessions)} - {None}
    if len(known) > 1:
        hint = "Use the machine of the first command, or run again. A container may get a new machine ID at each start."
        raise UsageError("cannot resume the run: it began on another machine", hint)


def _check_results(run: Run) -> None:
    """Checks that the results could come from a benchmark.

    Raises:
        UsageError: If a result is invalid; the message names it.
    """
    try:
        # A run that Python code passes need not come from a file.
        run.check()
    except UsageError as error:
        raise _damaged(error.message) from error
    planned = [(one.runner, one.side, one.problem) for one in run.plan.runners]
    for index, one in enumerate(run.results):
        if (one.runner, one.side, one.problem) not in planned:
            raise _damaged(f"results[{index}] is not in the plan of the run")


def _check_sources(run: Run, plan: BenchPlan) -> None:
    """Checks that the code of the runners is that of the earlier samples.

    Raises:
        UsageError: If a runner has changed.
    """
    sources = {(task.runner.name, task.side): (task.runner.source, task.setting.known_path()) for task in plan.tasks}
    now = {key: source_sha256(*one) for key, one in sources.items()}
    for one in run.results:
        known = {one.source_sha256, now.get((one.runner, one.side))}
        if one.processes and len(known) > 1 and None not in known:
            raise UsageError(
                f"cannot resume the run: the code of runner {one.runner!r} has changed", "Start the run again."
            )


def _damaged(what: str) -> UsageError:
    return UsageError(f"cannot resume a changed run file: {what}", "Start the run again.")


def _compare(name: str, before: Any, now: Any) -> None:
    earlier, later = flat(name, to_plain(before)), flat(name, to_plain(now))
    for key in sorted(earlier.keys() | later.keys()):
        if earlier.get(key) != later.get(key):
            was, is_now = earlier.get(key), later.get(key)
            message = f"cannot resume the run: {key} was {was} and is {is_now} now"
            raise UsageError(message, _SAME_CONDITIONS)


def flat(path: str, value: Any) -> dict[str, Any]:
    """Returns the leaves of nested objects and lists, by path.

    Keys that differ from run to run are excluded.
    """
    if isinstance(value, dict):
        # The plan records the effect of fastrnns-rs's own variables.
        compared = {key: one for key, one in value.items() if key not in _DIFFERING and not key.startswith("FASTRNNS_")}
        parts = [flat(f"{path}.{key}", one) for key, one in compared.items()]
    elif isinstance(value, (list, tuple)):
        parts = [flat(f"{path}[{index}]", one) for index, one in enumerate(value)]
    else:
        return {path: value}
    return {key: one for part in parts for key, one in part.items()}
