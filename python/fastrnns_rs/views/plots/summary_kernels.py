"""Pareto chart of kernels or CPU operators: time and cumulative share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.figures import share_percent
from fastrnns_rs.views.kernel_names import shortened
from fastrnns_rs.views.plots import bars
from fastrnns_rs.views.plots.drawing import LONGEST_KERNEL, LONGEST_TEXT
from fastrnns_rs.views.scale import time
from fastrnns_rs.views.summary.activities import Sum, sums
from fastrnns_rs.views.summary.plain import make_plain
from fastrnns_rs.views.table import fit

if TYPE_CHECKING:
    from fastrnns_rs.documents.summary import SummaryDocument
    from fastrnns_rs.views.plots.drawing import Canvas
    from fastrnns_rs.views.summary.plain import Document, PlainSummary

#: Rows with a bar.
MOST = 20
_ROW = 0.26
#: GPUs that have a row of each name, at most.
_MOST_GPUS = 64


class Ranked(NamedTuple):
    """Kernel or operator of the plot.

    Attributes:
        sum: Name, count and total time, of all GPUs together.
        share: Share of the time of all rows.
        up_to: Share of this row and all longer ones.
    """

    sum: Sum
    share: float
    up_to: float


def has_kernels(document: PlainSummary | SummaryDocument) -> bool:
    """Returns True if kernels took time."""
    return any(row["total_ns"] for row in make_plain(document)["kernels"])


def has_operators(document: PlainSummary | SummaryDocument) -> bool:
    """Returns True if CPU operators took time."""
    return any(row["self_ns"] for row in make_plain(document)["cpu_operators"])


def kernels_height(document: PlainSummary | SummaryDocument) -> float:
    """Returns the height of the plot of kernels, in inches."""
    return _height(make_plain(document)["kernels"])


def operators_height(document: PlainSummary | SummaryDocument) -> float:
    """Returns the height of the plot of CPU operators, in inches."""
    return _height(make_plain(document)["cpu_operators"])


def _height(rows: Sequence[dict[str, Any]]) -> float:
    # There may be a million rows, of which the first have the longest times.
    count = len({row["name"] for row in rows[: MOST * _MOST_GPUS]})
    return bars.AROUND + _ROW * max(min(count, MOST), 2)


def kernels(document: Document) -> list[Sum]:
    """Returns the kernels of all GPUs by name, the longest first."""
    return sums(document["kernels"])


def operators(document: Document) -> list[Sum]:
    """Returns the CPU operators by their own time, the longest first."""
    return sums({**row, "total_ns": row["self_ns"]} for row in document["cpu_operators"])


def longest(found: Sequence[Sum]) -> list[Ranked]:
    """Returns the rows with a bar."""
    whole = sum(one.total for one in found) or 1
    rows, before = [], 0
    for one in found[:MOST]:
        before += one.total
        rows.append(Ranked(one, one.total / whole, before / whole))
    return rows


def draw_kernels(document: PlainSummary | SummaryDocument, canvas: Canvas) -> None:
    """Draws a bar for each of the longest kernels, and a line of cumulative shares."""
    _draw(canvas, kernels(make_plain(document)), "kernel time", "kernels")


def draw_operators(document: PlainSummary | SummaryDocument, canvas: Canvas) -> None:
    """Draws a bar for each of the longest operators, and a line of cumulative shares."""
    _draw(canvas, operators(make_plain(document)), "time of CPU operators", "operators")


def _draw(canvas: Canvas, found: list[Sum], whole: str, noun: str) -> None:
    rows = longest(found)
    names = shortened([(one.sum.full, one.sum.short) for one in rows], LONGEST_KERNEL)
    texts = [
        f"{fit(visible(one.sum.full), LONGEST_TEXT)}: {time(one.sum.total)}, {share_percent(one.share)} of {whole}, "
        f"{share_percent(one.up_to)} with all above"
        for one in rows
    ]
    series = [("", [100 * one.share for one in rows], texts)]
    bars.draw(canvas, names, series, f"share of {whole}, %", longest=LONGEST_KERNEL)
    [line] = canvas.axes.plot(
        [100 * one.up_to for one in rows],
        range(len(rows)),
        color=canvas.color(1),
        marker=canvas.marker(0),
        linestyle=canvas.line(0),
        markersize=3.5,
        clip_on=False,
        label="cumulative share",
    )
    canvas.describe(line, texts)
    canvas.axes.set_xlim(0, 100)
    canvas.legend(handles=[line])
    if len(rows) < len(found):
        canvas.note = f"The {len(rows)} longest of {len(found):,} {noun}."
