"""Tables with two lines of headings: names of rows, then columns of figures."""

from __future__ import annotations

from fastrnns_rs.views.screen import Line
from fastrnns_rs.views.text import pad, width

TYPE_CHECKING = False  # As in the package: `typing` is slow to load.
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_HEADINGS = 2


class HeadedColumn:
    """Column with two headings, in which all cells have one width.

    Attributes:
        headings: Upper and lower heading.
        cells: Text of each row.
        kind: Kind of the column, for the choice of columns on a narrow terminal.
        natural: Width of the longest text, with the gap before the column.
        width: Width with the gap, at least the least width.
    """

    __slots__ = ("_gap", "_right", "cells", "headings", "kind", "natural", "width")

    def __init__(
        self,
        headings: tuple[str, str],
        cells: Sequence[str],
        *,
        kind: str = "",
        right: bool = True,
        least: int = 0,
        gap: int = 2,
    ) -> None:
        """Measures the texts.

        Args:
            headings: Upper and lower heading.
            cells: Text of each row.
            kind: Kind of the column.
            right: True aligns the texts on the right.
            least: Least width, with the gap.
            gap: Number of spaces before the column.
        """
        self.headings = headings
        self.cells = cells
        self.kind = kind
        self._right = right
        self._gap = gap
        self.natural = gap + max(map(width, (*headings, *cells)))
        self.width = max(self.natural, least)

    def padded(self, row: int, *, natural: bool = False) -> str:
        """Returns a text with the width of the column.

        Args:
            row: Row, of which the headings are the first two.
            natural: True uses the natural width.
        """
        text = self.headings[row] if row < _HEADINGS else self.cells[row - _HEADINGS]
        room = self.natural if natural else self.width
        return pad(text, room, right=True) if self._right else " " * self._gap + pad(text, room - self._gap)


def total_width(columns: Iterable[HeadedColumn], *, natural: bool = False) -> int:
    """Returns the width of columns with their gaps."""
    return sum(one.natural if natural else one.width for one in columns)


def row_line(name: str, room: int, columns: Iterable[HeadedColumn], row: int, *, natural: bool = False) -> Line:
    """Returns a line: a name in its room, then the columns.

    Args:
        name: Name of the row, or heading of the names.
        room: Width of the names.
        columns: Columns.
        row: Row, of which the headings are the first two.
        natural: True uses the natural widths of the columns.
    """
    text = pad(name, room) + "".join(column.padded(row, natural=natural) for column in columns)
    return Line(text.rstrip(), "bold" if row < _HEADINGS else "")


def table_lines(
    names: Iterable[str], room: int, columns: Sequence[HeadedColumn], *, natural: bool = False
) -> list[Line]:
    """Returns the lines of all rows; the first two names are headings."""
    return [row_line(name, room, columns, row, natural=natural) for row, name in enumerate(names)]
