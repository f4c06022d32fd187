"""Number of processes of `ab`, and checks of both sides before the measurement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fastrnns_rs.errors import MissingError, UsageError, exclusive, is_one_of, unknown
from fastrnns_rs.verbs.bench.effort import Effort

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.verbs.bench.bench_plan import BenchPlan

#: Runner that runs if none is named: the fastest runner.
DEFAULT_RUNNER = "cudnn"
_PROCESSES = 10
_QUICK_PROCESSES = 3
_RIGOROUS_PROCESSES = 20
#: Processes per side where both sides are equal. A noise floor needs 40 processes in all.
_SAME_PROCESSES = 20
#: Pairs of live processes, whose differences vary less.
_LIVE_PAIRS = 5
#: Largest number of pairs with `--until decided`.
_MOST_PAIRS = 50


def make_effort(given: Mapping[str, Any]) -> Effort:
    """Returns the measurement effort: a number of processes per side.

    Args:
        given: Options by name: `quick`, `rigorous`, `processes`, `same`, `order_seed`, `until`, `live`, `nloops`,
            `warmup`.

    Raises:
        UsageError: If a noise floor needs more processes, options exclude each other, or `until` is unknown.
    """
    if given["until"] is not None and not is_one_of(given["until"], ["decided"]):
        raise unknown("invalid value", given["until"], ["decided"], where="until")
    # The time of turns decides how many iterations there are, and their number which of them are warm-up.
    turns = tuple(("live", other) for other in ("same", "nloops", "warmup"))
    for name, other in (("quick", "rigorous"), ("until", "same"), *turns):
        # A warm-up of 0 iterations is requested too.
        if given[name] and given[other] is not None and given[other] is not False:
            raise exclusive(name, other)
    count = _default_processes(given) if given["processes"] is None else given["processes"]
    is_sequential = given["until"] is not None
    found = Effort(processes=count, order_seed=given["order_seed"], until_decided=is_sequential, live=given["live"])
    if given["same"] and count < _SAME_PROCESSES:
        reason = f"a noise floor needs {2 * _SAME_PROCESSES} processes"
        hint = f"Use `processes={_SAME_PROCESSES}` or more."
        raise UsageError(f"too few processes: {count}", hint, where="processes", reason=reason, value=count)
    return found


def _default_processes(given: Mapping[str, Any]) -> int:
    if given["until"] is not None:
        return _MOST_PAIRS
    if given["same"]:
        return _SAME_PROCESSES
    if given["quick"]:
        return _QUICK_PROCESSES
    return _RIGOROUS_PROCESSES if given["rigorous"] else _LIVE_PAIRS if given["live"] else _PROCESSES


#: Variables with which threads spin while they wait, by the values that make them.
_SPINNING = {"OMP_WAIT_POLICY": {"active"}, "GOMP_SPINCOUNT": {"infinite", "infinity"}, "KMP_BLOCKTIME": {"infinite"}}


def check_sides(plan: BenchPlan, run: Run, *, force: bool, noise_floor: bool) -> None:
    """Checks a plan before its first process.

    Args:
        plan: Plan of both sides.
        run: Run without results.
        force: Allow different devices.
        noise_floor: The margin is the stored noise floor.

    Raises:
        UsageError: If the sides run on different devices, processes spin while they wait, or the noise floor is too
            high.
        MissingError: If the noise floor of the device was never measured.
    """
    _check_live(plan)
    _check_devices(run, force=force)
    if noise_floor:
        _check_noise_floor(run)


def _check_live(plan: BenchPlan) -> None:
    """Checks that a process of a live pair sleeps while the other one runs.

    Raises:
        UsageError: If its environment makes waiting threads spin.
    """
    for task in plan.tasks if plan.turns else ():
        variables = task.setting.environment()
        for name, values in _SPINNING.items():
            if variables.get(name, "").lower() in values:
                reason = f"{name}={variables[name]} keeps threads busy while the other side is measured"
                raise UsageError(
                    "`live` needs processes that sleep while they wait", "Leave out `live`.", reason=reason
                )


def _check_devices(run: Run, *, force: bool) -> None:
    """Checks that both sides run on one device.

    Raises:
        UsageError: If the sides run on different devices.
    """
    first, second = (one.problem.device for one in run.plan.runners[:2])
    if first != second and not force:
        raise UsageError(f"different devices: {first} and {second}", "Add `force=True` to compare them anyway.")


def _check_noise_floor(run: Run) -> None:
    """Checks that the noise floor of the device is stored, and can be a margin.

    Raises:
        UsageError: If there are several devices, or their noise floor is too high.
        MissingError: If the noise floor of the device was never measured.
    """
    from fastrnns_rs.machine import noise
    from fastrnns_rs.verbs.compare import margins

    device = margins.one_device(one.problem.device for one in run.plan.runners)
    floor = noise.stored(device, run.environment)
    if floor is None:
        hint, command_hint = noise.hints(device)
        message = f"noise floor not measured: {device!r}"
        raise MissingError(message, hint, where="margin", command_hint=command_hint)
    margins.check_floor(floor.minimum_detectable_change, device)
