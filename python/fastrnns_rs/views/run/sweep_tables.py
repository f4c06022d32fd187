"""The tables of a sweep: an axis down and the runners across, one for each phase and rate, then exponents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.views import table
from fastrnns_rs.views.table import Column
from fastrnns_rs.views.text import code_cell, code_span, visible
from fastrnns_rs.views.units import milliseconds, significant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from fastrnns_rs.documents.sweep import Point, Sweep, SweepCell, SweepGrowth

_NONE = "-"


class Block:
    """A table with a title, its first column the name of its rows.

    Attributes:
        title: Quantity of the table, and the values of the other axes.
        headings: Headings of the columns.
        rows: Cells of each row.
        notes: Remarks on single cells.
    """

    def __init__(self, title: str, at: Point, headings: list[str], rows: list[list[str]], notes: list[str]) -> None:
        self.title = f"{title}, at {','.join(f'{name}={value}' for name, value in at.items())}" if at else title
        self.headings = headings
        self.rows = rows
        self.notes = notes

    def draw(self, escape: Callable[[str], str]) -> tuple[list[Column], list[list[str]]]:
        """The columns and rows, each text made safe by `escape`."""
        columns = [Column(escape(heading), right=True) for heading in self.headings]
        return columns, [[escape(cell) for cell in row] for row in self.rows]


def _rate(value: float | None) -> str | None:
    return None if value is None else significant(value)


#: The phase, the title and the text of each quantity that cells hold.
_QUANTITIES: tuple[tuple[str, str, Callable[[SweepCell], str | None]], ...] = (
    ("forward", "forward, ms", lambda cell: milliseconds(cell.time_ns)),
    ("backward", "backward, ms", lambda cell: milliseconds(cell.time_ns)),
    ("iteration", "sequence steps per second", lambda cell: _rate(cell.steps_per_second)),
    ("iteration", "samples per second", lambda cell: _rate(cell.samples_per_second)),
)


def lines(sweep: Sweep) -> list[str]:
    """The tables as lines for a terminal, with an empty line between two."""
    found: list[str] = []
    for block in _blocks(sweep):
        drawn = table.lines(*block.draw(visible))
        notes = [f"note: {visible(note)}" for note in block.notes]
        found += [*([""] if found else []), visible(block.title), *drawn, *notes]
    return found


def markdown(sweep: Sweep) -> list[str]:
    """The tables as lines of Markdown, with an empty line before each."""
    found: list[str] = []
    for block in _blocks(sweep):
        found += ["", f"{code_span(block.title)}:", "", *table.markdown(*block.draw(code_cell))]
        if block.notes:
            found += ["", *(f"- {code_span(note)}" for note in block.notes)]
    return found


def _blocks(sweep: Sweep) -> Iterator[Block]:
    placed = [(place, cell) for cell in sweep.cells if (place := _place(sweep, cell)) is not None]
    for axis, at in _distinct(place for place, _ in placed):
        here = [cell for place, cell in placed if place == (axis, at)]
        for phase, title, show in _QUANTITIES:
            shown = [(cell, text) for cell in here if cell.phase == phase and (text := show(cell)) is not None]
            if shown:
                yield _block(sweep, axis, title, at, [cell for cell in here if cell.phase == phase], show)
    for axis, at in _distinct((one.axis, one.at) for one in sweep.growth):
        yield _exponents(axis, at, [one for one in sweep.growth if (one.axis, one.at) == (axis, at)])


def _place(sweep: Sweep, cell: SweepCell) -> tuple[str, Point] | None:
    """The axis that runs down where a cell stands, the first that concerns its runner, and the values of the others."""
    axis = next((axis.name for axis in sweep.axes if axis.name in cell.point), None)
    return None if axis is None else (axis, {name: value for name, value in cell.point.items() if name != axis})


def _block(
    sweep: Sweep, axis: str, title: str, at: Point, cells: list[SweepCell], show: Callable[[SweepCell], str | None]
) -> Block:
    runners = [*dict.fromkeys(cell.runner for cell in cells)]
    shown: dict[tuple[int | str, str], str] = {}
    for cell in cells:
        shown.setdefault((cell.point[axis], cell.runner), show(cell) or _NONE)
    values = next(one.values for one in sweep.axes if one.name == axis)
    present = [value for value in values if any(value == known for known, _ in shown)]
    rows = [[str(value), *(shown.get((value, runner), _NONE) for runner in runners)] for value in present]
    return Block(title, at, [axis, *runners], rows, [])


def _exponents(axis: str, at: Point, found: list[SweepGrowth]) -> Block:
    phases = [*dict.fromkeys(one.phase for one in found)]
    shown: dict[tuple[str, str], str] = {}
    for one in found:
        shown.setdefault((one.runner, one.phase), _exponent(one))
    runners = dict.fromkeys(one.runner for one in found)
    rows = [[runner, *(shown.get((runner, phase), _NONE) for phase in phases)] for runner in runners]
    title = f"exponent b of time ~ {axis}^b, with its 95 % interval"
    return Block(title, at, ["runner", *phases], rows, [note for one in found if (note := _note(one)) is not None])


def _exponent(growth: SweepGrowth) -> str:
    if growth.exponent is None or growth.ci_low is None or growth.ci_high is None:
        return _NONE
    return f"{growth.exponent:.2f} ({growth.ci_low:.2f}..{growth.ci_high:.2f})"


def _note(growth: SweepGrowth) -> str | None:
    """Why there is no exponent, or why one number does not describe the growth."""
    name = f"{growth.runner} {growth.phase}"
    if growth.reason is not None:
        return f"{name}: no exponent: {growth.reason}"
    if growth.straight is not False:
        return None
    steps = ", ".join(f"{one:.2f}" for one in growth.local_exponents)
    off = "" if growth.largest_deviation is None else f", up to {100 * growth.largest_deviation:.0f} % off"
    return f"{name} does not follow one exponent{off}: from value to value it is {steps}"


def _distinct(places: Iterable[tuple[str, Point]]) -> list[tuple[str, Point]]:
    found: list[tuple[str, Point]] = []
    for place in places:
        if place not in found:
            found.append(place)
    return found
