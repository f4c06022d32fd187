"""Lines of a sweep: cells of a runner along an axis, with their intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fastrnns_rs.documents.run_file import PhaseSummary, Run
from fastrnns_rs.documents.sweep import Sweep, SweepCell, SweepGrowth, name_runner

#: Statistics by runner, point and phase.
Summaries = Mapping[tuple[str, str, str], PhaseSummary]

#: Phase, name and key of each quantity of a cell.
TIMES = (("forward", "forward", "time_ns"), ("backward", "backward", "time_ns"))
RATES = (
    ("iteration", "sequence steps per second", "steps_per_second"),
    ("iteration", "samples per second", "samples_per_second"),
)
#: More lines than colours are parted by the values of the other axes.
_MOST_LINES = 8
#: Larger values of an axis have no place on a scale.
_LARGEST = 1e15


@dataclass(frozen=True, slots=True)
class Spot:
    """Cell of a line.

    Attributes:
        value: Value of the axis.
        cell: Cell of the sweep.
        summary: Statistics of the cell's phase; None without a run, and for rates.
    """

    value: int | str
    cell: SweepCell
    summary: PhaseSummary | None


@dataclass(frozen=True, slots=True)
class SweepLine:
    """Cells of one runner along an axis.

    Attributes:
        name: Runner, with the values of the other axes if they differ within the panel.
        spots: Cells in the order of the axis.
        growth: Growth along the axis; None for a rate or an axis of names.
    """

    name: str
    spots: Sequence[Spot]
    growth: SweepGrowth | None


@dataclass(frozen=True, slots=True)
class Panel:
    """Plot of one quantity along one axis.

    Attributes:
        name: Name of the row of the plot, as `hidden-size/forward`.
        axis: Name of the axis.
        others: Values of the other axes; empty if the lines differ in them, or there are none.
        quantity: Name of the quantity.
        key: Attribute of a cell with the quantity.
        values: Values of the axis, in order.
        is_numeric: True if all values are numbers above 0.
        lines: Line of each runner and, if they differ, of the values of other axes.
    """

    name: str
    axis: str
    others: str
    quantity: str
    key: str
    values: Sequence[int | str]
    is_numeric: bool
    lines: Sequence[SweepLine]


def panels(document: Run | Sweep, quantities: Iterable[tuple[str, str, str]]) -> list[Panel]:
    """Returns the panels of a run or of a sweep.

    Axes with one value are left out if another axis has several.

    Args:
        document: Run or sweep; a run without a sweep has no panels.
        quantities: Phase, name and key of each quantity.
    """
    sweep = document.sweep if isinstance(document, Run) else document
    if sweep is None:
        return []
    known = summaries(document) if isinstance(document, Run) else {}
    values = {axis: _values(sweep, axis) for axis in dict.fromkeys(one.name for one in sweep.axes)}
    several = [axis for axis, found in values.items() if len(found) > 1] or [*values]
    return [
        panel
        for axis in several
        for phase, quantity, key in quantities
        for panel in _panels(sweep, axis, values[axis], (phase, quantity, key), known)
    ]


def _panels(
    sweep: Sweep,
    axis: str,
    values: Sequence[int | str],
    quantity: tuple[str, str, str],
    known: Summaries,
) -> list[Panel]:
    phase, name, key = quantity
    cells = [one for one in sweep.cells if one.phase == phase and axis in one.point and getattr(one, key) is not None]
    found: dict[tuple[str, str], dict[int | str, SweepCell]] = {}
    for one in cells:
        found.setdefault((one.runner, _others(one, axis)), {}).setdefault(one.point[axis], one)
    # A few lines share a panel, whatever the values of the other axes.
    is_shared = len({other for _, other in found}) > 1 and len(found) <= _MOST_LINES
    is_numeric = all(isinstance(one, int) and 0 < one < _LARGEST for one in values)
    growths = {(one.runner, _point_text(one.at)): one for one in sweep.growth if (one.axis, one.phase) == (axis, phase)}
    places = {value: place for place, value in enumerate(values)}
    parts: dict[str, list[SweepLine]] = {}
    for (runner, other), spots in found.items():
        line = SweepLine(
            f"{runner}, {other}" if is_shared and other else runner,
            [
                Spot(value, spots[value], find_summary(known, spots[value]))
                for value in sorted(spots.keys() & places.keys(), key=lambda value: places[value])
            ],
            growths.get((runner, other)) if key == "time_ns" else None,
        )
        parts.setdefault("" if is_shared else other, []).append(line)
    return [
        Panel(
            f"{axis}/{name}, {part}" if len(parts) > 1 and part else f"{axis}/{name}",
            axis,
            part,
            name,
            key,
            values,
            is_numeric,
            lines,
        )
        for part, lines in parts.items()
    ]


def summaries(run: Run) -> Summaries:
    """Returns the statistics of each runner, point and phase."""
    found: dict[tuple[str, str, str], PhaseSummary] = {}
    for one in run.results:
        for phase, summary in (("forward", one.forward), ("backward", one.backward)):
            if summary is not None:
                found.setdefault((name_runner(one), _point_text(one.point), phase), summary)
    return found


def find_summary(known: Summaries, cell: SweepCell) -> PhaseSummary | None:
    """Returns the statistics of a cell's phase; None for an iteration."""
    return known.get((cell.runner, _point_text(cell.point), cell.phase))


def _values(sweep: Sweep, axis: str) -> list[int | str]:
    """Returns the measured values of an axis; numbers are sorted."""
    present = {one.point[axis] for one in sweep.cells if axis in one.point}
    given = [value for one in sweep.axes if one.name == axis for value in one.values]
    found = [*dict.fromkeys(value for value in given if value in present)]
    numbers = [one for one in found if isinstance(one, int)]
    return [*sorted(numbers)] if len(numbers) == len(found) else found


def _others(cell: SweepCell, axis: str) -> str:
    return _point_text({name: value for name, value in cell.point.items() if name != axis})


def _point_text(point: Mapping[str, int | str]) -> str:
    """Returns the values of a point, the same for any order of its axes."""
    return ",".join(f"{name}={value}" for name, value in sorted(point.items()))
