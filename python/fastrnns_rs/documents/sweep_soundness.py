"""Consistency checks of the sweep in a run file."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.documents.codec import shown
from fastrnns_rs.documents.sweep import label, name_runner
from fastrnns_rs.documents.sweep_findings import LARGEST_DEVIATION, Growths, by_chance
from fastrnns_rs.documents.tolerances import COMPUTED, check_number
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Result, Run
    from fastrnns_rs.documents.sweep import Point, Sweep, SweepCell, SweepGrowth

#: Numbers of a growth that the processes give. Earlier builds had another test of the fit.
_COMPUTED = ("n_points", "exponent", "ci_low", "ci_high", "confidence_level", "largest_deviation")


def check_sweep(run: Run) -> None:
    """Rejects times, rates and exponents of a sweep that the results do not give.

    Raises:
        UsageError: If there is such a number, or a cell without a result; the message names the path.
    """
    if run.sweep is None:
        return
    measured = [one for one in run.results if one.status == "ok" and one.point]
    with_cells = _check_cells(run.sweep, measured)
    for number, one in enumerate(run.sweep.growth):
        _check_exponent(f"sweep.growth[{number}].exponent", one)
        _check_words(f"sweep.growth[{number}]", one)
    # Earlier builds kept the sweep of an interrupted run while they resumed it.
    if measured and run.status != "interrupted":
        _check_growths(run.sweep.growth, measured)
        for number, result in enumerate(run.results):
            is_shown = result.status == "ok" and result.point and result.forward is not None
            if is_shown and id(result) not in with_cells:
                raise UsageError(f"results[{number}] has no cell in sweep.cells")


def _check_cells(sweep: Sweep, measured: Sequence[Result]) -> set[int]:
    """Rejects cells that no result has, and returns the results with cells.

    Sweeps of other programs may have no results with a point: then nothing says which cells there are.
    """
    axes = {one.name for one in sweep.axes}
    results: dict[Hashable, Result] = {}
    for one in measured:
        # A cell may name the axes of the sweep alone.
        for point in (one.point, {name: value for name, value in one.point.items() if name in axes}):
            results.setdefault(_key(name_runner(one), point), one)
    found: set[int] = set()
    seen: set[Hashable] = set()
    for number, cell in enumerate(sweep.cells):
        path, key = f"sweep.cells[{number}]", _key(cell.runner, cell.point)
        if (key, cell.phase) in seen:
            raise UsageError(f"duplicate value: {path}")
        seen.add((key, cell.phase))
        result = results.get(key)
        expected = None if result is None else _time(result, cell.phase)
        if result is not None and expected is not None:
            _check_cell(path, cell, result, expected)
            found.add(id(result))
        elif measured:
            name = f"{label(cell.runner, cell.point)}/{cell.phase}"
            raise UsageError(f"{path} is {shown(name)}, and no result has this time")
    return found


def _key(runner: str, point: Point) -> Hashable:
    return (runner, *sorted(point.items()))


def _time(result: Result, phase: str) -> float | None:
    """Returns the time of a phase, or of an iteration; None if it was not measured."""
    times = {name: found.estimate_ns for name in ("forward", "backward") if (found := getattr(result, name))}
    return sum(times.values()) if times and phase == "iteration" else times.get(phase)


def _check_cell(path: str, cell: SweepCell, result: Result, expected: float) -> None:
    check_number(f"{path}.time_ns", cell.time_ns, expected, "the result")
    samples = cell.samples_per_second
    rate = result.problem.mini_batch / expected * 1e9 if expected > 0 else None
    if samples is not None:
        check_number(f"{path}.samples_per_second", samples, rate, "mini_batch and time_ns")
    length, steps = result.problem.seq_length, cell.steps_per_second
    known = None if length is None or samples is None else length * samples
    if steps is not None:
        check_number(f"{path}.steps_per_second", steps, known, "seq_length and samples_per_second")


def _check_exponent(path: str, one: SweepGrowth) -> None:
    """Rejects an exponent outside of its interval, or of the local exponents."""
    local = one.local_exponents
    known = [(one.ci_low, one.ci_high, "its interval")]
    # The slope of a fitted line is a weighted mean of the slopes between neighbours.
    known += [(min(local), max(local), "its local exponents")] if local else []
    for low, high, of in known:
        if low is None or one.exponent is None or high is None:
            continue
        # Exponents near 0 have absolute rounding errors.
        if not low - COMPUTED <= one.exponent <= high + COMPUTED:
            raise UsageError(f"{path} is {one.exponent:.9g}, outside of {of} from {low:.9g} to {high:.9g}")


def _check_words(path: str, one: SweepGrowth) -> None:
    """Rejects a reason with an exponent, and a fit that its deviation contradicts."""
    if (one.exponent is None) == (one.reason is None):
        raise UsageError(f"{path} has {'neither exponent nor' if one.reason is None else 'both exponent and'} reason")
    off = one.largest_deviation
    if one.straight is None or off is None:
        return
    bends = off > LARGEST_DEVIATION
    if bends == one.straight and not (bends and by_chance(one.lack_of_fit_p)):
        raise UsageError(f"{path}.straight is {str(one.straight).lower()}, and largest_deviation is {off:.4g}")


def _check_growths(growth: Sequence[SweepGrowth], measured: Sequence[Result]) -> None:
    """Rejects exponents that are not those of the processes."""
    computed = Growths({one.axis for one in growth}, measured)
    for number, one in enumerate(growth):
        path, expected = f"sweep.growth[{number}]", computed.find(one.axis, one.runner, one.at, one.phase)
        if expected is None:
            if one.exponent is not None:
                raise UsageError(f"{path}.exponent is {one.exponent:.9g}, and the results have none")
            continue
        # Exponents near 0 have the rounding errors of numbers near 1.
        for name in _COMPUTED:
            check_number(f"{path}.{name}", getattr(one, name), getattr(expected, name), "the results", unit=1)
        if (one.straight is None) != (expected.straight is None):
            unknown = "unknown" if expected.straight is None else "known"
            raise UsageError(f"{path}.straight is {shown(one.straight)}, and by the results it is {unknown}")
        if len(one.local_exponents) != len(expected.local_exponents):
            lengths = [len(found.local_exponents) for found in (one, expected)]
            raise UsageError(f"{path}.local_exponents has length {lengths[0]}, and that of the results is {lengths[1]}")
        for place, (value, known) in enumerate(zip(one.local_exponents, expected.local_exponents, strict=True)):
            check_number(f"{path}.local_exponents[{place}]", value, known, "the results", unit=1)
