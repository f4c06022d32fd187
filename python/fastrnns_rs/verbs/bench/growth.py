"""How the times of a sweep grow along an axis."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from fastrnns_rs.documents.sweep import Point, SweepGrowth
from fastrnns_rs.replicates import counted, levels
from fastrnns_rs.stats import growth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrnns_rs.documents.run_file import Result

_LEAST_POINTS = 3
_LEAST_PROCESSES = 3
#: No line fits where a time is further from it: that is an exponent that changes by about 0.2 over a factor of 4.
_LARGEST_DEVIATION = 0.05
#: And where chance among processes does not account for that.
_LEVEL = 0.05
#: What a document has of a law as it is.
_OF_LAW = (
    *("exponent", "ci_low", "ci_high", "confidence_level", "ci_method"),
    *("local_exponents", "largest_deviation", "lack_of_fit_p"),
)


def name_of(result: Result) -> str:
    """The runner, and where it runs if the run has several devices."""
    device = result.problem.device
    return f"{result.runner} on {device}" if result.title.endswith(f" on {device}") else result.runner


def growths(axis: str, results: Sequence[Result]) -> list[SweepGrowth]:
    """How times grow along an axis of numbers: for each runner, combination of the other axes, and phase."""
    lines: list[tuple[str, Point, list[Result]]] = []
    for one in results:
        if axis not in one.point:
            continue
        at = {name: value for name, value in one.point.items() if name != axis}
        name = name_of(one)
        line = next((found for runner, where, found in lines if (runner, where) == (name, at)), None)
        if line is None:
            lines.append((name, at, [one]))
        else:
            line.append(one)
    return [_growth(axis, runner, at, line, phase) for runner, at, line in lines for phase in _phases(line)]


def _phases(line: Sequence[Result]) -> list[Literal["forward", "backward"]]:
    return ["forward", "backward"] if any(one.backward is not None for one in line) else ["forward"]


def _growth(
    axis: str, runner: str, at: Point, line: Sequence[Result], phase: Literal["forward", "backward"]
) -> SweepGrowth:
    times = {int(one.point[axis]): _medians(one, phase) for one in line}
    times = {size: medians for size, medians in times.items() if medians}
    sizes = sorted(times)
    empty = SweepGrowth(runner=runner, phase=phase, axis=axis, at=at, n_points=len(sizes))
    if len(sizes) < _LEAST_POINTS:
        have = f"{len(sizes)} has" if len(sizes) == 1 else f"{len(sizes)} have"
        return replace(empty, reason=f"it takes {_LEAST_POINTS} values; {have} a time")
    if min(min(medians) for medians in times.values()) <= 0:
        return replace(empty, reason="the clock is too coarse: some times are 0")
    law = growth([float(size) for size in sizes], [times[size] for size in sizes])
    off = law.largest_deviation > _LARGEST_DEVIATION
    by_more_than_chance = law.lack_of_fit_p is None or law.lack_of_fit_p < _LEVEL
    return replace(
        empty,
        **{name: getattr(law, name) for name in _OF_LAW},
        # From fewer processes nobody can tell what is chance.
        straight=not (off and by_more_than_chance) if law.n_processes >= _LEAST_PROCESSES else None,
    )


def _medians(result: Result, phase: str) -> list[float]:
    """The number of each replicate that counts."""
    timed = [
        [(one.forward_ns if phase == "forward" else one.backward_ns or [])[one.steady_from :] for one in ranks]
        for ranks in counted(result.processes)
    ]
    return levels([ranks for ranks in timed if all(ranks)])
