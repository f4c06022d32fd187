"""Launch latencies: number of kernels by the time from the launch to the kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastrnns_rs.counting import counted
from fastrnns_rs.views.scale import time
from fastrnns_rs.views.summary.plain import make_plain

if TYPE_CHECKING:
    from fastrnns_rs.documents.summary import SummaryDocument
    from fastrnns_rs.views.plots.drawing import Canvas
    from fastrnns_rs.views.summary.plain import PlainSummary

    Row = dict[str, Any]

#: Histograms of launches, each with its title.
HISTOGRAMS = {"latency": "latency: start of the call to the kernel", "queue": "queue: end of the call to the kernel"}
_NS = 1e3


def is_available(document: PlainSummary | SummaryDocument) -> bool:
    """Returns True if latencies above 0 were counted."""
    histogram = make_plain(document)["launches"]["latency_histogram"]
    return histogram is not None and bool(histogram["counts"])


def draw(document: PlainSummary | SummaryDocument, canvas: Canvas) -> None:
    """Draws the number of kernels in each bin, with median and p95 of the latency."""
    launches = make_plain(document)["launches"]
    axes = canvas.axes
    low, high = float("inf"), 0.0
    for number, (key, title) in enumerate(HISTOGRAMS.items()):
        histogram = launches[f"{key}_histogram"]
        # Logarithms of 0 do not exist: the first bin begins at half a nanosecond.
        edges = [max(one, 0.5) / _NS for one in histogram["bounds_ns"]]
        if not edges:
            continue
        low, high = min(low, edges[0]), max(high, edges[-1])
        axes.stairs(
            histogram["counts"],
            edges,
            color=canvas.color(number),
            linestyle=canvas.line(0) if number == 0 else "--",
            linewidth=1.4,
            label=title,
        )
    for key, style in (("latency_median_ns", ":"), ("latency_p95_ns", "-.")):
        value = launches[key]
        if value is not None and value > 0:
            name = "median" if "median" in key else "p95"
            label = f"{name} latency: {time(value)}"
            axes.axvline(value / _NS, color=canvas.theme.muted, linestyle=style, linewidth=1.0, label=label)
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_xlabel("time, µs")
    axes.set_ylabel("kernels")
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, axis="y")
    axes.set_axisbelow(True)
    canvas.legend()
    canvas.note = "Bins: eight to each power of two."
    if negative := launches["latency_histogram"]["negative_count"]:
        canvas.note += f" {counted(negative, 'latency', 'latencies')} below 0 is not drawn: the clocks differ."
