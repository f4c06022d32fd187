"""GPUs and ranks of a summary that plots show."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastrnns_rs.views.summary import budget
from fastrnns_rs.views.summary.budget import MOST, chosen

if TYPE_CHECKING:
    from fastrnns_rs.views.summary.plain import Document

    Row = dict[str, Any]


def labels(document: Document) -> list[str]:
    """Returns the label of each GPU, as `GPU 0`, `rank 1` or `GPU 0, process 4711`."""
    heading, names = budget.labels(document["devices"])
    # The heading `GPU, process` has the names `0, 4711`.
    inner = {"GPU, process": (", ", ", process "), "GPU of rank": (" of ", " of rank ")}.get(heading, ("", ""))
    noun = "rank" if heading == "rank" else "GPU"
    return [f"{noun} {name.replace(*inner) if inner[0] else name}" for name in names]


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
    shown = "the slowest, the median and the fastest by busy time without communication"
    return f"Of {count:,} {noun}, {shown} are shown." if count > MOST else ""
