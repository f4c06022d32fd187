"""Lists of a summary that fit the width of a terminal."""

from __future__ import annotations

from fastrnns_rs.views import table
from fastrnns_rs.views.prose import wrapped
from fastrnns_rs.views.text import width

TYPE_CHECKING = False  # As in the package: `typing` is slow to load.
if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrnns_rs.views.summary.columns import Column
    from fastrnns_rs.views.summary.lists import Row

#: Keys of the columns that a narrow terminal leaves out, in this order; then other columns, from the right.
_LEFT_OUT = (
    *("stddev_bytes", "min_bytes", "max_bytes", "median_bytes", "mean_bytes"),
    *("stddev_ns", "min_ns", "max_ns", "p95_ns", "median_ns"),
    *(
        "registers_per_thread",
        "shared_memory_bytes",
        "process_id",
        "overlap_ns",
        "exposed_communication_ns",
        "domain",
        "kind",
        "measure",
    ),
    *("gpu_other_threads_ns", "gpu_time_ns", "gpu_time_median_ns", "outlier", "queue_p95_ns", "latency_p95_ns"),
)


def lines(columns: Sequence[Column], rows: Sequence[Row], limit: int) -> tuple[list[str], list[str]]:
    """Formats a list without the columns that do not fit.

    A note names these columns. The first column, names and the last text stay. Texts are then cut.

    Args:
        columns: Columns of the list.
        rows: Rows of the list.
        limit: Width of the terminal.
    """
    texts = [column.unit.texts("terminal", list(map(column.read, rows))) for column in columns]
    widths = [max(map(width, [column.heading, *cells])) for column, cells in zip(columns, texts, strict=True)]
    least = [
        needed if column.right else min(needed, table.LEAST_TEXT)
        for column, needed in zip(columns, widths, strict=True)
    ]
    kept = [*range(len(columns))]
    table.leave_out(kept, least, [_rank(columns, place) for place in kept], limit)
    shown = zip(*(texts[place] for place in kept), strict=True)
    drawn = table.lines([columns[place] for place in kept], shown, limit=limit)
    missing = dict.fromkeys(column.name or "bar" for place, column in enumerate(columns) if place not in kept)
    note = f"Columns for a wider terminal, or --format csv: {', '.join(missing)}"
    return drawn, wrapped(note, limit) if missing else []


def _rank(columns: Sequence[Column], place: int) -> int:
    """Returns the rank of a column: the highest is left out first.

    The first column, names, and a text of the document that ends the list have rank 0: they stay.
    """
    column = columns[place]
    ends_list = place == len(columns) - 1 and not column.right and bool(column.key)
    if place == 0 or column.key in {"name", "cause"} or ends_list:
        return 0
    return 1 + (len(_LEFT_OUT) - _LEFT_OUT.index(column.key) if column.key in _LEFT_OUT else 0)
