"""GPUs and ranks of a summary that plots show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from fastrnns_rs.views.summary import budget

if TYPE_CHECKING:
    from fastrnns_rs.views.summary.plain import Document

    Row = dict[str, Any]

#: With more GPUs or ranks, only the slowest, the median and the fastest are shown, as in the report.
MOST = 8


def labels(document: Document) -> list[str]:
    """Returns the label of each GPU, as `GPU 0`, `rank 1` or `GPU 0, process 4711`."""
    heading, names = budget.labels(document["devices"])
    # The heading `GPU, process` has the names `0, 4711`.
    inner = {"GPU, process": (", ", ", process "), "GPU of rank": (" of ", " of rank ")}.get(heading, ("", ""))
    noun = "rank" if heading == "rank" else "GPU"
    return [f"{noun} {name.replace(*inner) if inner[0] else name}" for name in names]


def chosen(rows: Sequence[tuple[str, Row]], most: int = MOST) -> list[tuple[str, Row]]:
    """Returns at most `most` rows.

    Of more rows, the slowest, the median and the fastest by busy time are returned.

    Args:
        rows: GPUs or ranks, each with its label.
        most: Number of rows, at least 3.
    """
    if len(rows) <= most:
        return [*rows]
    ordered = sorted(rows, key=lambda row: -row[1]["busy_ns"])
    three = (ordered[0], ordered[len(ordered) // 2], ordered[-1])
    return [
        (f"{label} ({word})", row) for (label, row), word in zip(three, ("slowest", "median", "fastest"), strict=True)
    ]


def devices(document: Document, keep: Callable[[Row], bool], most: int = MOST) -> list[tuple[str, Row]]:
    """Returns the shown GPUs of those that `keep` accepts, each with its label."""
    rows = zip(labels(document), document["devices"], strict=True)
    return chosen([(label, row) for label, row in rows if keep(row)], most)


def with_budget(document: Document) -> list[tuple[str, Row]]:
    """Returns the shown GPUs with a time budget."""
    return devices(document, lambda row: row["span_ns"] > 0 and row["budget"] is not None)


def with_activity(document: Document, most: int = MOST) -> list[tuple[str, Row]]:
    """Returns the shown GPUs with activity over time."""
    return devices(document, lambda row: row["activity"] is not None and bool(row["activity"]["busy_ns"]), most)


def selection_note(document: Document, noun: str, key: str) -> str:
    """Returns a sentence about the rows that are not shown; empty if all are shown."""
    count = len(document[key])
    return (
        f"Of {count:,} {noun}, the slowest, the median and the fastest by busy time are shown." if count > MOST else ""
    )
