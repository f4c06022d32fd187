"""Tables of a sweep: one for each phase and rate, then exponents.

Rows are values of an axis, columns are runners.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from fastrnns_rs.escaping import visible
from fastrnns_rs.views import table
from fastrnns_rs.views.figures import figure
from fastrnns_rs.views.prose import WIDTH, wrapped
from fastrnns_rs.views.scale import Scale
from fastrnns_rs.views.text import code_cell, code_span, width
from fastrnns_rs.views.units import significant

if TYPE_CHECKING:
    from fastrnns_rs.documents.sweep import Point, Sweep, SweepCell, SweepGrowth

    #: Title, headings, rows that begin with their name, and notes on single cells.
    Block = tuple[str, list[str], list[list[str]], list[str]]

T = TypeVar("T")

_NONE = "-"
#: Spaces between two columns.
_GAP = 2
#: Phase, title and key of each quantity of a cell. The unit of times follows the title.
_QUANTITIES = (
    ("forward", "forward", "time_ns"),
    ("backward", "backward", "time_ns"),
    ("iteration", "sequence steps per second", "steps_per_second"),
    ("iteration", "samples per second", "samples_per_second"),
)


def lines(sweep: Sweep, limit: int = WIDTH) -> list[str]:
    """Returns the tables as terminal lines, separated by empty lines.

    Args:
        sweep: Cells and exponents of a sweep.
        limit: Width of the terminal. Runners that do not fit are in a further table.
    """
    found: list[str] = []
    for title, headings, rows, notes in blocks(sweep):
        columns, cells = _escaped(headings, rows, visible)
        for part in _parts(columns, cells, limit):
            found += [*([""] if found else []), *wrapped(visible(title), limit)]
            found += table.lines([columns[place] for place in part], [[row[place] for place in part] for row in cells])
        found += [line for note in notes for line in wrapped(f"note: {visible(note)}", limit)]
    return found


def _parts(columns: Sequence[table.Column], cells: Sequence[Sequence[str]], limit: int) -> Iterator[list[int]]:
    """Yields the places of the columns of each table that fits.

    Each table begins with the first column.
    """
    widths = [
        max(width(text) for text in (column.heading, *(row[place] for row in cells)))
        for place, column in enumerate(columns)
    ]
    part, room = [0], limit - widths[0]
    for place in range(1, len(columns)):
        if len(part) > 1 and widths[place] + _GAP > room:
            yield part
            part, room = [0], limit - widths[0]
        part.append(place)
        room -= widths[place] + _GAP
    yield part


def markdown(sweep: Sweep) -> list[str]:
    """Returns the tables as Markdown lines, each after an empty line."""
    found: list[str] = []
    for title, headings, rows, notes in blocks(sweep):
        columns, cells = _escaped(headings, rows, code_cell)
        note_lines = [f"- {code_span(note)}" for note in notes]
        found += [
            "",
            f"{code_span(title)}:",
            "",
            *table.markdown(columns, cells),
            *([""] if note_lines else []),
            *note_lines,
        ]
    return found


def _escaped(
    headings: list[str], rows: list[list[str]], escape: Callable[[str], str]
) -> tuple[list[table.Column], list[list[str]]]:
    columns = [table.Column(escape(heading), right=True) for heading in headings]
    return columns, [[escape(cell) for cell in row] for row in rows]


def blocks(sweep: Sweep) -> Iterator[Block]:
    """Yields the title, the headings, the rows and the notes of each table."""
    ranks: dict[str, dict[int | str, int]] = {}
    for one in sweep.axes:
        ranks.setdefault(one.name, {value: rank for rank, value in enumerate(one.values)})
    for axis, at, cells in _groups(sweep.cells, partial(_place, [*ranks])):
        for phase, quantity, key in _QUANTITIES:
            here = [cell for cell in cells if cell.phase == phase]
            numbers = [getattr(cell, key) for cell in here]
            if any(number is not None for number in numbers):
                title, texts = _texts(quantity, numbers, is_time=key == "time_ns")
                shown = _first((cell.point[axis], cell.runner, text) for cell, text in zip(here, texts, strict=True))
                rank = ranks[axis]
                present = sorted({cell.point[axis] for cell in here} & rank.keys(), key=rank.__getitem__)
                yield _block(_titled(title, at), axis, present, dict.fromkeys(cell.runner for cell in here), shown, [])
    for axis, at, found in _groups(sweep.growth, lambda one: (one.axis, one.at)):
        title = _titled(f"exponent b of time ~ {axis}^b, with its 95 % interval", at)
        runners, phases = (dict.fromkeys(getattr(one, key) for one in found) for key in ("runner", "phase"))
        shown = _first((one.runner, one.phase, exponent(one)) for one in found)
        yield _block(title, "runner", runners, phases, shown, [text for one in found if (text := _note(one))])


def _texts(quantity: str, numbers: Sequence[float | None], *, is_time: bool) -> tuple[str, list[str]]:
    """Returns the title with the unit, and the text of each number."""
    if not is_time:
        return quantity, [_NONE if number is None else figure(number) for number in numbers]
    scale = Scale(number for number in numbers if number is not None)
    texts = [_NONE if number is None else significant(number / scale.ns) for number in numbers]
    return f"{quantity}, {scale.unit}", texts


def _groups(items: Iterable[T], place: Callable[[T], tuple[str, Point] | None]) -> list[tuple[str, Point, list[T]]]:
    """Groups items by place, in the order of first appearance.

    Items without a place are left out.
    """
    found: dict[Hashable, tuple[str, Point, list[T]]] = {}
    for one in items:
        where = place(one)
        if where is not None:
            axis, at = where
            found.setdefault((axis, frozenset(at.items())), (axis, at, []))[2].append(one)
    return [*found.values()]


def _place(axes: Sequence[str], cell: SweepCell) -> tuple[str, Point] | None:
    """Returns the axis of a cell's table rows, and the values of the other axes.

    The axis is the first axis that concerns the cell's runner. Returns None if no axis does.
    """
    axis = next((axis for axis in axes if axis in cell.point), None)
    return None if axis is None else (axis, {name: value for name, value in cell.point.items() if name != axis})


def _block(
    title: str,
    corner: str,
    down: Iterable[int | str],
    across: Iterable[str],
    shown: dict[tuple[int | str, str], str],
    notes: list[str],
) -> Block:
    rows = [[str(value), *(shown.get((value, name), _NONE) for name in across)] for value in down]
    return title, [corner, *across], rows, notes


def _first(cells: Iterable[tuple[int | str, str, str]]) -> dict[tuple[int | str, str], str]:
    """Returns texts by row and column; the first text of a place is kept."""
    found: dict[tuple[int | str, str], str] = {}
    for down, across, text in cells:
        found.setdefault((down, across), text)
    return found


def exponent(growth: SweepGrowth) -> str:
    """Formats an exponent with its interval, as `1.02 [0.99, 1.05]`; `-` for none."""
    if growth.exponent is None or growth.ci_low is None or growth.ci_high is None:
        return _NONE
    return f"{growth.exponent:.2f} [{growth.ci_low:.2f}, {growth.ci_high:.2f}]"


def _note(growth: SweepGrowth) -> str | None:
    """Returns why there is no exponent, or why one exponent does not fit."""
    name = f"{growth.runner} {growth.phase}"
    if growth.reason is not None:
        return f"{name}: no exponent: {growth.reason}"
    if growth.straight is not False:
        return None
    steps = ", ".join(f"{one:.2f}" for one in growth.local_exponents)
    off = "" if growth.largest_deviation is None else f", up to {100 * growth.largest_deviation:.0f} % off"
    return f"{name} does not follow one exponent{off}: from value to value it is {steps}"


def _titled(title: str, at: Point) -> str:
    return f"{title}, at {','.join(f'{name}={value}' for name, value in at.items())}" if at else title
