"""Findings of a sweep in the run file: times, rates, and growth of times."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from fastrnns_rs._core import growth
from fastrnns_rs.documents.replicates import counted, levels
from fastrnns_rs.documents.sweep import Phase, Point, Sweep, SweepAxis, SweepCell, SweepGrowth, name_runner

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Result

_LEAST_POINTS = 3
_LEAST_PROCESSES = 3
#: A line does not fit if a time deviates more: the exponent then changes by about 0.2 over a factor of 4.
LARGEST_DEVIATION = 0.05
#: The deviation must also be significant at this level.
_LEVEL = 0.05
#: Fields of a growth law that the document copies.
_GROWTH_FIELDS = (
    *("exponent", "ci_low", "ci_high", "confidence_level", "ci_method"),
    *("local_exponents", "largest_deviation", "lack_of_fit_p"),
)


class Growths:
    """Growth of times along axes, fitted when it is needed.

    There is one fit for each runner, combination of the other axes, and phase.
    """

    def __init__(self, axes: Iterable[str], results: Iterable[Result]) -> None:
        """Groups the results by what is the same along an axis."""
        self._lines: dict[str, dict[Hashable, list[Result]]] = {axis: {} for axis in axes}
        self._found: dict[Hashable, SweepGrowth | None] = {}
        self._medians: dict[Hashable, list[float]] = {}
        for one in results:
            runner, digest = name_runner(one), _digest(one.point)
            for item in one.point.items():
                if (lines := self._lines.get(item[0])) is not None:
                    lines.setdefault((runner, digest - _digest_axis(item)), []).append(one)

    def along(self, axis: str) -> list[SweepGrowth]:
        """Fits all growth of times along a numeric axis."""
        return [self._fit(axis, line, phase) for line in self._lines[axis].values() for phase in _phases(line)]

    def find(self, axis: str, runner: str, at: Point, phase: Phase) -> SweepGrowth | None:
        """Returns a growth, or None if the results have none."""
        key = (axis, runner, _digest(at), phase)
        if key not in self._found:
            line = self._lines[axis].get(key[1:3], [])
            self._found[key] = None
            # Texts have no exponents, and neither have sizes that no build measures.
            with suppress(ValueError):
                self._found[key] = self._fit(axis, line, phase) if phase in _phases(line) else None
        return self._found[key]

    def _fit(self, axis: str, line: Sequence[Result], phase: Phase) -> SweepGrowth:
        times = {int(one.point[axis]): self._find_medians(one, phase) for one in line}
        times = {size: medians for size, medians in times.items() if medians}
        sizes = sorted(times)
        at = {name: value for name, value in line[0].point.items() if name != axis}
        empty = SweepGrowth(runner=name_runner(line[0]), phase=phase, axis=axis, at=at, n_points=len(sizes))
        if len(sizes) < _LEAST_POINTS:
            have = f"{len(sizes)} has" if len(sizes) == 1 else f"{len(sizes)} have"
            return replace(empty, reason=f"it takes {_LEAST_POINTS} values; {have} a time")
        if min(min(medians) for medians in times.values()) <= 0:
            return replace(empty, reason="the clock is too coarse: some times are 0")
        law = growth([float(size) for size in sizes], [times[size] for size in sizes])
        off = law.largest_deviation > LARGEST_DEVIATION
        return replace(
            empty,
            **{name: getattr(law, name) for name in _GROWTH_FIELDS},
            # With fewer processes, chance cannot be excluded.
            straight=not off or by_chance(law.lack_of_fit_p) if law.n_processes >= _LEAST_PROCESSES else None,
        )

    def _find_medians(self, result: Result, phase: Phase) -> list[float]:
        # A result is on a line of each of its axes.
        key = (id(result), phase)
        if key not in self._medians:
            self._medians[key] = _medians(result, phase)
        return self._medians[key]


def by_chance(lack_of_fit_p: float | None) -> bool:
    """Returns True if a deviation from the line may be by chance."""
    return lack_of_fit_p is not None and lack_of_fit_p >= _LEVEL


def _phases(line: Sequence[Result]) -> list[Phase]:
    phases: list[Phase] = ["forward"] if line else []
    return [*phases, "backward"] if any(one.backward is not None for one in line) else phases


def _digest(point: Point) -> int:
    """Returns a number from which axes can be subtracted.

    Two points have the same by chance alone.
    """
    return sum(map(_digest_axis, point.items()))


def _digest_axis(axis: tuple[str, int | str]) -> int:
    # Some numbers have the same hash, as -1 and -2.
    return hash((axis[0], repr(axis[1])))


def _medians(result: Result, phase: str) -> list[float]:
    """Returns the number of each complete replicate."""
    timed = [
        [(one.forward_ns if phase == "forward" else one.backward_ns or [])[one.first_timed :] for one in ranks]
        for ranks in counted(result.processes)
    ]
    return levels([ranks for ranks in timed if all(ranks)])


#: Runners whose sequences are randomly shorter than seq_length, so that the number of steps is unknown.
_VARIABLE_LENGTH_GROUP = "vl_lstm"
_NS = 1e9


def summarize_sweep(axes: Sequence[SweepAxis], results: Sequence[Result]) -> Sweep:
    """Returns the findings of a sweep."""
    measured = [one for one in results if one.status == "ok" and one.point]
    numeric = [axis.name for axis in axes if all(isinstance(value, int) for value in axis.values)]
    found = Growths(numeric, measured)
    return Sweep(
        axes=list(axes),
        cells=[cell for one in measured for cell in _cells(one)],
        growth=[one for axis in numeric for one in found.along(axis)],
    )


def _cells(result: Result) -> list[SweepCell]:
    forward = None if result.forward is None else result.forward.estimate_ns
    backward = None if result.backward is None else result.backward.estimate_ns
    if forward is None:
        return []
    cells = [_cell(result, "forward", forward)]
    if backward is not None:
        cells.append(_cell(result, "backward", backward))
    iteration = forward + (backward or 0.0)
    batch, length = result.problem.mini_batch, result.problem.seq_length
    samples = batch / iteration * _NS if iteration > 0 else None
    has_rate = samples is not None and length is not None and result.group != _VARIABLE_LENGTH_GROUP
    steps = length * samples if has_rate and length is not None and samples is not None else None
    return [*cells, _cell(result, "iteration", iteration, steps, samples)]


def _cell(
    result: Result, phase: Phase, time_ns: float, steps: float | None = None, samples: float | None = None
) -> SweepCell:
    return SweepCell(
        runner=name_runner(result),
        point=result.point,
        phase=phase,
        time_ns=time_ns,
        steps_per_second=steps,
        samples_per_second=samples,
    )
