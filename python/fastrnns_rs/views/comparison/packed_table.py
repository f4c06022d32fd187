"""Table in parts below each other, for more columns than fit in a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.escaping import visible
from fastrnns_rs.views import kernel_names
from fastrnns_rs.views.headed_table import HeadedColumn, table_lines, total_width
from fastrnns_rs.views.screen import Line
from fastrnns_rs.views.text import width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrnns_rs.views.table import Column

#: Width of short names, and of the shortest.
_NAME, _LEAST_NAME = 20, 8
_EMPTY = {"", "-"}


def packed(
    heading: str, names: Sequence[tuple[str, str]], columns: Sequence[Column], rows: Sequence[object], limit: int
) -> list[Line]:
    """Returns the lines of a table, in as many parts as needed.

    Each part has the names of the rows. Columns without values are left out. Names that are too long are shortened.

    Args:
        heading: Heading of the names.
        names: Name of each row, with the name of its function if it is a kernel.
        columns: Columns; `baseline, ms` has two lines of headings.
        rows: Record of each row.
        limit: Width of the terminal.
    """
    cells = [[visible(column.text(row) or "") for row in rows] for column in columns]
    left = [
        HeadedColumn(_split_heading(column.heading), shown, right=column.right)
        for column, shown in zip(columns, cells, strict=True)
        if any(one not in _EMPTY for one in shown)
    ]
    names = [(full, short) if full else ('""', '""') for full, short in names]
    widest = max((part.width for part in left), default=0)
    every = total_width(left)
    wanted = max(*(width(visible(full)) for full, _ in names), width(heading), _NAME)
    # All columns are beside the names, or the names have half of the terminal and room for one column.
    room = (
        wanted if wanted + every <= limit else max(min(wanted, limit // 2, limit - widest), limit - every, _LEAST_NAME)
    )
    labels = ["", heading, *kernel_names.shortened(names, room)]
    found: list[Line] = []
    while left:
        part, free = [left.pop(0)], limit - room
        while left and total_width(part) + left[0].width <= free:
            part.append(left.pop(0))
        found += [*([Line("")] if found else []), *table_lines(labels, room, part)]
    return found


def _split_heading(heading: str) -> tuple[str, str]:
    """Splits `baseline, ms` at the comma; another heading is the lower one."""
    above, comma, unit = heading.partition(", ")
    return (above, unit) if comma else ("", above)
