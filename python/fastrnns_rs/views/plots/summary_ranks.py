"""Busy time of each rank, with the slowest marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastrnns_rs.views.plots import bars
from fastrnns_rs.views.plots.summary_devices import selection_note
from fastrnns_rs.views.scale import Scale
from fastrnns_rs.views.summary.budget import chosen, share
from fastrnns_rs.views.summary.plain import make_plain

if TYPE_CHECKING:
    from fastrnns_rs.documents.summary import SummaryDocument
    from fastrnns_rs.views.plots.drawing import Canvas
    from fastrnns_rs.views.summary.plain import Document, PlainSummary

    Row = dict[str, Any]


def is_available(document: PlainSummary | SummaryDocument) -> bool:
    """Returns True if a rank has a time span."""
    return any(row["span_ns"] for row in make_plain(document)["ranks"])


def ranks(document: Document) -> list[tuple[str, Row]]:
    """Returns the shown ranks, each labelled by its number or the name of its file."""
    rows = document["ranks"]
    numbers = [row["rank"] for row in rows]
    is_known = None not in numbers and len({*numbers}) == len(rows)
    names = [f"rank {row['rank']}" if is_known else row["path"].rpartition("/")[2] for row in rows]
    return chosen([*zip(names, rows, strict=True)])


def height(document: PlainSummary | SummaryDocument) -> float:
    """Returns the height of the figure in inches."""
    return bars.height(len(ranks(make_plain(document))))


def draw(document: PlainSummary | SummaryDocument, canvas: Canvas) -> None:
    """Draws a bar for each rank; that of the slowest has another colour and hatch."""
    plain = make_plain(document)
    rows = ranks(plain)
    scale = Scale([row["busy_ns"] for _, row in rows])
    texts = [
        f"{name}: busy {scale.text(row['busy_ns'])} {scale.unit}, {share(row['busy_ns'], row['span_ns'])} of its span"
        for name, row in rows
    ]
    times = [row["busy_ns"] / scale.ns for _, row in rows]
    bars.draw(canvas, [name for name, _ in rows], [("busy", times, texts)], f"busy time, {scale.unit}")
    slowest = [place for place, (_, row) in enumerate(rows) if row["slowest"]]
    for place in slowest:
        patch = canvas.axes.patches[place]
        patch.set(facecolor=canvas.color(1), hatch=canvas.hatch(1))
        canvas.axes.annotate(
            "slowest",
            (times[place], place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            color=canvas.theme.ink,
        )
    canvas.axes.set_xlim(0, max(times) * 1.15 or 1.0)
    canvas.note = selection_note(plain, "ranks", "ranks")
