"""Ranges within ranges by GPU time, as an icicle: a row of boxes for each depth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fastrnns_rs.counting import counted
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.plots import bars
from fastrnns_rs.views.plots.drawing import LONGEST_TEXT
from fastrnns_rs.views.scale import Scale, time
from fastrnns_rs.views.summary.plain import make_plain
from fastrnns_rs.views.table import fit

if TYPE_CHECKING:
    from fastrnns_rs.documents.summary import SummaryDocument
    from fastrnns_rs.views.plots.drawing import Canvas
    from fastrnns_rs.views.summary.plain import PlainSummary

    Row = dict[str, Any]

_LEVEL = 0.9
#: Deeper rows are in the table only.
_MOST_LEVELS = 16
#: Characters that fit the width of the plot, and the shortest name that is written.
_CHARACTERS, _LEAST = 92, 4


def is_available(document: PlainSummary | SummaryDocument) -> bool:
    """Returns True if ranges have GPU time."""
    return any(row["gpu_inclusive_ns"] for row in make_plain(document)["nested_ranges"])


def height(document: PlainSummary | SummaryDocument) -> float:
    """Returns the height of the figure in inches."""
    depths = [depth for _, _, depth in places(make_plain(document)["nested_ranges"])]
    return bars.height(min(max(depths, default=0) + 1, _MOST_LEVELS))


def title(row: Row) -> str:
    """Returns the name of a row, or the number of rows in it."""
    return counted(row["folded_count"], "smaller range") if row["name"] is None else str(row["name"])


def places(rows: Sequence[Row]) -> list[tuple[Row, int, int]]:
    """Returns each row with its start in ns and its depth.

    Rows of one parent follow each other.
    """
    found: list[tuple[Row, int, int]] = []
    # Where the next row of a parent starts.
    ends: dict[int | None, int] = {None: 0}
    for place, row in enumerate(rows):
        parent = row["parent"]
        depth = 0 if parent is None else found[parent][2] + 1
        found.append((row, ends[parent], depth))
        ends[place] = ends[parent]
        ends[parent] += row["gpu_inclusive_ns"]
    return found


def draw(document: PlainSummary | SummaryDocument, canvas: Canvas) -> None:
    """Draws a box for each row; the part that no nested range has is hatched."""
    plain = make_plain(document)
    rows = plain["nested_ranges"]
    found = [one for one in places(rows) if one[2] < _MOST_LEVELS and one[0]["gpu_inclusive_ns"]]
    whole = max(start + row["gpu_inclusive_ns"] for row, start, _ in found)
    scale = Scale([whole])
    _draw_boxes(canvas, found, scale, whole)
    axes = canvas.axes
    levels = max(depth for *_, depth in found) + 1
    axes.set_xlim(0, whole / scale.ns)
    axes.set_ylim(levels - 0.5, -0.5)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    gpus = sum(bool(row["busy_ns"]) for row in plain["devices"])
    axes.set_xlabel(f"GPU time, {f'sum of {gpus} GPUs, ' if gpus > 1 else ''}{scale.unit}")
    canvas.note = "Width: inclusive GPU time. Hatched: GPU time that no nested range has."
    if left := sum(depth >= _MOST_LEVELS for *_, depth in places(rows)):
        canvas.note += f" {counted(left, 'deeper row')} in the table only."


def _draw_boxes(canvas: Canvas, found: Sequence[tuple[Row, int, int]], scale: Scale, whole: int) -> None:
    import matplotlib as mpl
    from matplotlib.collections import PolyCollection

    def box(start: int, length: int, depth: int) -> list[tuple[float, float]]:
        left, right = start / scale.ns, (start + length) / scale.ns
        top, bottom = depth - _LEVEL / 2, depth + _LEVEL / 2
        return [(left, top), (right, top), (right, bottom), (left, bottom)]

    theme = canvas.theme
    boxes = PolyCollection(
        [box(start, row["gpu_inclusive_ns"], depth) for row, start, depth in found],
        facecolors=theme.band,
        edgecolors=theme.muted,
        linewidths=0.4,
    )
    canvas.axes.add_collection(boxes)
    canvas.describe(boxes, [_text(row) for row, _, _ in found])
    alone = [
        box(start + row["gpu_inclusive_ns"] - row["gpu_exclusive_ns"], row["gpu_exclusive_ns"], depth)
        for row, start, depth in found
        if row["gpu_exclusive_ns"]
    ]
    with mpl.rc_context({"hatch.color": theme.muted}):
        hatched = PolyCollection(alone, facecolors="none", edgecolors=theme.muted, linewidths=0.0, hatch="////")
    canvas.axes.add_collection(hatched)
    for row, start, depth in found:
        room = int(_CHARACTERS * row["gpu_inclusive_ns"] / whole)
        if room >= _LEAST:
            canvas.axes.text(
                start / scale.ns,
                depth,
                f" {fit(visible(title(row)), room)}",
                va="center",
                clip_on=True,
                bbox={"facecolor": theme.band, "edgecolor": "none", "pad": 0.5},
            )


def _text(row: Row) -> str:
    name, alone = fit(visible(title(row)), LONGEST_TEXT), time(row["gpu_exclusive_ns"])
    counts = f"{counted(row['kernel_count'], 'kernel')}, {counted(row['count'], 'range')}"
    return f"{name}: {time(row['gpu_inclusive_ns'])}, of which {alone} in no nested range; {counts}"
