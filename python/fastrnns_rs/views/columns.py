"""Tables of texts, on a terminal or in a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.errors import printable
from fastrnns_rs.views.table import Column, lines

if TYPE_CHECKING:
    from collections.abc import Container, Sequence


def aligned(rows: Sequence[Sequence[str]], numbers: Container[int] = ()) -> list[str]:
    """The rows as lines, the heads first; no text moves a cursor.

    Args:
        rows: As many cells in each.
        numbers: The columns that are aligned on the right.
    """
    heads, *shown = [[printable(cell) for cell in row] for row in rows]
    return lines([Column(head, right=place in numbers) for place, head in enumerate(heads)], shown)
