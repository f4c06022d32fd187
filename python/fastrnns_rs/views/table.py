"""Tables of all views, as terminal, Markdown and CSV lines.

Cells are texts that `views.text` has made safe for their place. A row may be shorter than the columns. Missing cells
and None are empty cells.
"""

from __future__ import annotations

from operator import gt

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.text import pad, width

TYPE_CHECKING = False  # As in the package: `typing` is slow to load.
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Sequence
    from typing import Any, Protocol

    class Aligned(Protocol):
        """Column whose cells are aligned on the left or on the right."""

        @property
        def right(self) -> bool:
            """True aligns cells on the right."""

    #: Cells of a row.
    Cells = Sequence[str | None]

#: Gap between columns.
GAP = "  "
_ELLIPSIS = "…"
#: Texts are not cut to fewer columns: a line that is too wide is better than names without meaning.
LEAST_TEXT = 24


class Column:
    """Column of a table.

    Attributes:
        heading: Heading, with the unit of the column's numbers.
        text: Function from a record to its cell in this column.
        right: True aligns cells on the right, for numbers. Cells aligned on the left are texts, which may be cut.
    """

    __slots__ = ("heading", "right", "text")

    def __init__(self, heading: str, text: Callable[[Any], str | None] = str, *, right: bool = False) -> None:
        self.heading = heading
        self.text = text
        self.right = right


def cells(columns: Iterable[Column], records: Iterable[Any]) -> list[list[str | None]]:
    """Returns the rows of a table: for each record, the cell of each column."""
    getters = [column.text for column in columns]
    return [[text(record) for text in getters] for record in records]


def lines(columns: Sequence[Column], rows: Iterable[Cells], *, limit: int | None = None) -> list[str]:
    """Formats headings and rows for a terminal, with columns as wide as needed.

    Args:
        columns: Columns, from the left.
        rows: Cells of each row.
        limit: Width of the terminal. If a line is longer, texts are cut in the middle, the widest column first. None
            cuts no text.
    """
    drawn = [[column.heading for column in columns], *([cell or "" for cell in row] for row in rows)]
    widths = [_widest([row[place] for row in drawn if place < len(row)]) for place in range(len(columns))]
    if limit is not None:
        _narrow(widths, [place for place, column in enumerate(columns) if not column.right], limit)
    # Most of thousands of rows are ASCII and need no cut.
    template = GAP.join(f"%{'' if column.right else '-'}{to}s" for column, to in zip(columns, widths, strict=True))
    return [(template % tuple(row)).rstrip() if _fits(row, widths) else line(columns, row, widths) for row in drawn]


def _fits(row: Sequence[str], widths: list[int]) -> bool:
    return len(row) == len(widths) and "".join(row).isascii() and not any(map(gt, map(len, row), widths))


def _widest(cells: list[str]) -> int:
    # There may be thousands of cells, and the width of ASCII is its length.
    return max(map(len if "".join(cells).isascii() else width, cells))


def aligned(rows: Sequence[Sequence[str]], numbers: Container[int] = ()) -> list[str]:
    """Formats rows of any texts for a terminal.

    Args:
        rows: Rows, the headings first.
        numbers: Indices of the columns that are aligned on the right.
    """
    headings, *shown = [[visible(cell) for cell in row] for row in rows]
    return lines([Column(heading, right=place in numbers) for place, heading in enumerate(headings)], shown)


def line(columns: Sequence[Aligned], row: Cells, widths: Sequence[int], gap: str = GAP) -> str:
    """Formats one row for a terminal, in columns of known widths.

    A cell that is too wide is cut.
    """
    drawn = []
    for column, cell, to in zip(columns, row, widths, strict=False):
        drawn.append(pad(fit(cell or "", to), to, right=column.right))
    return gap.join(drawn).rstrip()


def total_width(widths: Collection[int], gap: str = GAP) -> int:
    """Returns the width of a line with gaps between its columns."""
    return sum(widths) + len(gap) * (len(widths) - 1)


def leave_out(kept: list[int], least: Sequence[int], ranks: Sequence[int], limit: int) -> bool:
    """Removes the columns with the highest rank until the others fit.

    Args:
        kept: Indices of the columns. Of equal ranks, the last column is removed first.
        least: Least width of each column.
        ranks: Rank of each column; columns with rank 0 stay.
        limit: Width of the terminal.

    Returns:
        True if the remaining columns fit.
    """
    while total_width([least[place] for place in kept]) > limit:
        dropped = max(kept, key=lambda place: (ranks[place], place))
        if ranks[dropped] == 0:
            return False
        kept.remove(dropped)
    return True


def markdown(columns: Sequence[Column], rows: Iterable[Cells], *, spaced: bool = False) -> list[str]:
    """Formats headings, alignments and rows as lines of a pipe table.

    Args:
        columns: Columns, from the left.
        rows: Cells of each row.
        spaced: True puts spaces around the alignments.
    """
    rule = ["---:" if column.right else "---" for column in columns]
    return [
        _pipes([column.heading for column in columns], len(columns)),
        _pipes(rule, len(columns)) if spaced else f"|{'|'.join(rule)}|",
        *(_pipes(row, len(columns)) for row in rows),
    ]


def _pipes(row: Cells, count: int) -> str:
    known = [cell for cell in row if cell is not None]
    if len(known) == count:
        return f"| {' | '.join(known)} |"
    shown = [*row, *[None] * (count - len(row))]
    return "|" + "".join(" |" if cell is None else f" {cell} |" for cell in shown)


def csv(rows: Iterable[Cells]) -> str:
    """Formats rows as RFC 4180, the keys first, but with line feeds as line ends."""
    # Cells contain no line ends, because these are escaped as control characters.
    return "".join(
        ",".join([_quoted(cell) if cell and ("," in cell or '"' in cell) else cell or "" for cell in row]) + "\n"
        for row in rows
    )


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


def _narrow(widths: list[int], texts: Iterable[int], limit: int) -> None:
    """Narrows text columns, the widest first, until a line fits `limit`."""
    excess = total_width(widths) - limit
    for place in sorted(texts, key=lambda place: -widths[place]):
        given = max(0, min(excess, widths[place] - LEAST_TEXT))
        widths[place] -= given
        excess -= given


def folded(rows: Sequence[Any], count: int) -> tuple[Sequence[Any], Sequence[Any]]:
    """Splits rows into the shown rows and the rows that one row summarises.

    A single remaining row is shown as well.
    """
    count = count if len(rows) > count + 1 else len(rows)
    return rows[:count], rows[count:]


def fit(cell: str, to: int) -> str:
    """Cuts a cell wider than `to` columns in its middle.

    Kernel names differ at both ends.
    """
    if width(cell) <= to:
        return cell
    room = max(0, to - 1)
    if cell.isascii():
        return cell[: room - room // 2] + _ELLIPSIS + cell[len(cell) - room // 2 :]
    end = _tail(cell, room // 2)
    front = beginning(cell, room - width(end))
    return front + _ELLIPSIS + end + " " * (room - width(front) - width(end))


def beginning(cell: str, to: int) -> str:
    """Returns the longest beginning that fills at most `to` columns."""
    if cell.isascii():
        return cell[:to]
    place = 0
    while place < len(cell) and (wide := width(cell[place])) <= to:
        to -= wide
        place += 1
    return cell[:place]


def _tail(cell: str, room: int) -> str:
    """Returns the longest end that fits.

    Combining marks whose base character does not fit are removed.
    """
    start = place = len(cell)
    while place and (wide := width(cell[place - 1])) <= room:
        room -= wide
        place -= 1
        start = place if wide else start
    return cell[start:]
