"""Lists of a summary, and the list of each view."""

from __future__ import annotations

import math

from fastrnns_rs.views.summary import columns

TYPE_CHECKING = False  # As in the package: `typing` is slow to load.
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from fastrnns_rs.views.summary.columns import Column

    Row = dict[str, Any]
    Document = dict[str, Any]


class List:
    """First rows of a list, and the sums of the other rows.

    Attributes:
        title: Title.
        columns: Shown columns.
        rows: Shown rows, as in the document.
        more: Count and sums of the rows that are not shown; empty if all are shown.
    """

    __slots__ = ("columns", "more", "rows", "title")

    def __init__(self, title: str, columns: Sequence[Column], rows: Sequence[Row], top: int | None = None) -> None:
        self.title = title
        self.columns = columns
        self.rows = rows if top is None else rows[:top]
        self.more = _more(columns, rows[len(self.rows) :])

    def __bool__(self) -> bool:
        # A list with no shown rows at the user's request still reports the count and sums of its rows.
        return bool(self.rows or self.more)


def _more(columns: Sequence[Column], rest: Sequence[Row]) -> str:
    """Returns `3 more: share 1.20 %, total 0.5000 ms, count 12`; empty without rows."""
    if not rest:
        return ""
    sums = []
    for column in columns:
        total = _sum([column.read(row) for row in rest]) if column.summed else None
        if total is not None:
            sums.append(f"{column.name} {column.unit.terminal(total)} {column.unit.symbol}".rstrip())
    return f"{len(rest)} more{': ' if sums else ''}{', '.join(sums)}"


def _sum(values: Sequence[float | None]) -> float | None:
    """Returns the sum, added in order; None if a value is unknown.

    A partial sum would be read as the total.
    """
    total: float = 0
    # The built-in `sum` of Python 3.12 and newer rounds differently from Python 3.11.
    for value in values:
        if value is None:
            return None
        total += value
    return total if math.isfinite(total) else None


class View:
    """List that a report can show.

    Attributes:
        title: Title of the list.
        columns: Columns of the list.
        rows: Function from the document to the rows, or the key of the rows.
        nothing: Sentence for an empty list.
    """

    __slots__ = ("columns", "nothing", "rows", "title")

    def __init__(
        self, title: str, columns: Sequence[Column], rows: str | Callable[[Document], Sequence[Row]], nothing: str
    ) -> None:
        self.title = title
        self.columns = columns
        self.rows = rows if callable(rows) else lambda document: document[rows]
        self.nothing = nothing

    def list(self, document: Document, keep: Callable[[Column], bool], top: int | None = None) -> List:
        """Returns the list with the columns that `keep` accepts and at most `top` rows."""
        return List(self.title, [column for column in self.columns if keep(column)], self.rows(document), top)


def _launches(document: Document) -> list[Row]:
    found = document["launches"]
    # The figures describe kernels.
    return [found] if found["matched_count"] or found["unmatched_kernel_count"] else []


def _inductor(document: Document) -> list[Row]:
    found = document["inductor"]
    return found["categories"] if found else []


#: All views by their `--by` name, in the order of the help text. CSV of the overview contains the kernels.
VIEWS = {
    "overview": View("Kernels", columns.KERNELS, "kernels", "No GPU activities in the capture."),
    "kernel": View("Kernels", columns.KERNELS, "kernels", "No kernels in the capture."),
    "launch-shape": View("Kernels by launch shape", columns.KERNELS, "kernels", "No kernels in the capture."),
    "category": View("Categories", columns.CATEGORIES, "categories", "No kernels in the capture."),
    "device": View("Devices", columns.DEVICES, "devices", "No GPU in the capture."),
    "stream": View("Streams", columns.STREAMS, "streams", "No streams in the capture."),
    "api": View("GPU API calls", columns.API_CALLS, "api_calls", "No GPU API calls in the capture."),
    "operator": View(
        "CPU operators",
        columns.OPERATORS,
        "cpu_operators",
        "No CPU operators: they are listed for captures without GPU activity only.",
    ),
    "memory": View("Memory operations", columns.MEMORY, "memory_operations", "No copies and sets in the capture."),
    "range": View("Ranges", columns.RANGES, "ranges", "No ranges in the capture."),
    "iteration": View(
        "Iterations",
        columns.ITERATIONS,
        "iterations",
        "No iterations: no ProfilerStep, no range of profile. Name a range of the capture with --iteration-range.",
    ),
    "launch": View("Launches", columns.LAUNCHES, _launches, "No kernels in the capture."),
    "idle": View("Idle time", columns.IDLE, "idle_causes", "No idle time in the capture."),
    "cudnn-rnn": View(
        "cuDNN's recurrent networks",
        columns.CUDNN_RNN,
        "cudnn_rnn",
        "No kernels of cuDNN's recurrent networks in the capture.",
    ),
    "metric": View("Metrics", columns.METRICS, "metrics", "No metrics of nvprof in the capture."),
    "rank": View("Ranks", columns.RANKS, "ranks", "No ranks: the report is of a single file."),
    "inductor": View("Inductor's categories", columns.INDUCTOR_CATEGORIES, _inductor, "No figures of Inductor."),
}
