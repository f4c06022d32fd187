"""Tables for a person, on a terminal or in a log: aligned columns without lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.errors import printable

if TYPE_CHECKING:
    from collections.abc import Container, Sequence


def aligned(rows: Sequence[Sequence[str]], numbers: Container[int] = ()) -> list[str]:
    """The rows as lines, the heads first, each column as wide as it has to be; no text moves a cursor.

    Args:
        rows: As many cells in each.
        numbers: The columns that are aligned on the right.
    """
    shown = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    sides = [str.rjust if place in numbers else str.ljust for place in range(len(widths))]
    lines = (
        "  ".join(side(cell, width) for side, cell, width in zip(sides, row, widths, strict=True)) for row in shown
    )
    return [line.rstrip() for line in lines]
