"""Iterations of a runner and phase in order, with outliers marked."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from fastrnns_rs.views.plots.drawing import MOST_TICKS
from fastrnns_rs.views.plots.thinning import thinned
from fastrnns_rs.views.scale import Scale
from fastrnns_rs.views.summary.column_units import differences
from fastrnns_rs.views.summary.plain import make_plain

if TYPE_CHECKING:
    from fastrnns_rs.documents.summary import SummaryDocument
    from fastrnns_rs.views.plots.drawing import Canvas
    from fastrnns_rs.views.summary.plain import Document, PlainSummary

    Row = dict[str, Any]

#: A single iteration needs no plot.
_LEAST = 2
#: Points of the line; outliers are always drawn.
_POINTS = 400
#: Top of the axis over the longest iteration.
_HEADROOM = 1.08
_MEASURES = {"gpu_ns": "GPU span", "host_ns": "host time"}


def is_available(document: PlainSummary | SummaryDocument) -> bool:
    """Returns True if a group has several iterations."""
    return bool(groups(make_plain(document)))


def rows(document: PlainSummary | SummaryDocument) -> list[str]:
    """Returns the name of each group of iterations, as `cudnn/forward`."""
    return [*groups(make_plain(document))]


def groups(document: Document) -> dict[str, tuple[Row, list[Row]]]:
    """Returns the statistics and the iterations of each group, by its name.

    Groups of one iteration are left out.
    """
    found: dict[str, tuple[Row, list[Row]]] = {}
    members: dict[tuple[Any, Any], list[Row]] = {}
    for row in document["iterations"]:
        members.setdefault((row["runner"], row["phase"]), []).append(row)
    for one in document["iteration_statistics"]:
        iterations = members.get((one["runner"], one["phase"]), [])
        name = "/".join(filter(None, (one["runner"], one["phase"]))) or one["name"] or "iterations"
        if len(iterations) >= _LEAST and iterations[0].get(one["measure"]) is not None:
            found[name] = one, iterations
    return found


def draw(document: PlainSummary | SummaryDocument, canvas: Canvas, row: str) -> None:
    """Draws the time of each iteration, the median, and a cross on each outlier."""
    from matplotlib.ticker import MaxNLocator

    statistics, iterations = groups(make_plain(document))[row]
    measure = statistics["measure"]
    times = [one[measure] for one in iterations]
    scale = Scale([max(times)])
    places, shown = thinned(times, _POINTS)
    # The numbers of the tables; iterations of several processes may have equal numbers.
    numbers = [one["index"] for one in iterations]
    is_ordered = all(before < after for before, after in pairwise(numbers))
    numbers = numbers if is_ordered else [*range(len(times))]
    axes = canvas.axes
    [line] = axes.plot(
        [numbers[place] for place in places],
        [one / scale.ns for one in shown],
        color=canvas.color(0),
        linewidth=0.8,
        marker=canvas.marker(0),
        markersize=3.0,
        label=_MEASURES[measure],
    )
    canvas.describe(
        line, [f"iteration {iterations[place]['index']}: {scale.text(times[place])} {scale.unit}" for place in places]
    )
    axes.axhline(
        statistics["median_ns"] / scale.ns, color=canvas.theme.muted, linestyle="--", linewidth=0.8, label="median"
    )
    outliers = [(place, one) for place, one in enumerate(iterations) if one["outlier"]]
    if outliers:
        marks = axes.scatter(
            [numbers[place] for place, _ in outliers],
            [one[measure] / scale.ns for _, one in outliers],
            marker="X",
            s=46,
            color=canvas.color(1),
            label="outlier",
            zorder=3,
        )
        canvas.describe(marks, [_outlier(one, measure, scale) for _, one in outliers])
    axes.set_xlabel("iteration" if is_ordered else "iteration, in order")
    axes.set_ylabel(f"{_MEASURES[measure]}, {scale.unit}")
    axes.set_ylim(0, max(*shown, 1) * _HEADROOM / scale.ns)
    axes.set_xlim(min(numbers) - 0.5, max(numbers) + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(MOST_TICKS, integer=True, min_n_ticks=1))
    axes.grid(visible=True, axis="y")
    axes.set_axisbelow(True)
    canvas.legend(row, columns=3)
    if len(shown) < len(times):
        canvas.note = f"{len(shown):,} of {len(times):,} iterations are drawn, with all extremes."


def _outlier(one: Row, measure: str, scale: Scale) -> str:
    unlike = differences(one["differences"])
    return f"iteration {one['index']}: {scale.text(one[measure])} {scale.unit}{f'; {unlike}' if unlike else ''}"
