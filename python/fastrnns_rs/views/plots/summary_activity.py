"""Activity of GPUs over time: busy time of each, or categories of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.plots import bars, looks
from fastrnns_rs.views.plots.drawing import short_names
from fastrnns_rs.views.plots.summary_devices import labels, selection_note, with_activity
from fastrnns_rs.views.scale import Scale, time
from fastrnns_rs.views.summary.budget import share
from fastrnns_rs.views.summary.plain import make_plain

if TYPE_CHECKING:
    from fastrnns_rs.documents.summary import SummaryDocument
    from fastrnns_rs.views.plots.drawing import Canvas
    from fastrnns_rs.views.summary.plain import Document, PlainSummary

    Row = dict[str, Any]
    #: Name of a lane, and the time in each bin.
    Lane = tuple[str, Sequence[int]]

#: Lanes of a timeline; the longest categories come first.
_MOST_LANES = 12
#: Share of a lane that its area fills at most.
_FILLED = 0.86


def is_available(document: PlainSummary | SummaryDocument) -> bool:
    """Returns True if a GPU has activity over time."""
    return bool(with_activity(make_plain(document)))


def rows(document: PlainSummary | SummaryDocument) -> list[str]:
    """Returns the labels of the GPUs with activity over time, as `GPU 0`."""
    plain = make_plain(document)
    known = zip(labels(plain), plain["devices"], strict=True)
    return [label for label, row in known if row["activity"] is not None and row["activity"]["busy_ns"]]


def utilization_height(document: PlainSummary | SummaryDocument) -> float:
    """Returns the height of a plot of all GPUs, in inches."""
    return bars.AROUND + 0.55 * max(len(with_activity(make_plain(document))), 2)


def timeline_height(document: PlainSummary | SummaryDocument, row: str) -> float:
    """Returns the height of the timeline of a GPU, in inches."""
    return bars.height(len(lanes(_device(make_plain(document), row))[:_MOST_LANES]))


def _device(document: Document, row: str) -> Row:
    devices: dict[str, Row] = dict(zip(labels(document), document["devices"], strict=True))
    return devices[row]


def lanes(device: Row) -> list[Lane]:
    """Returns the categories of kernels and the kinds of copies of a GPU."""
    activity = device["activity"]
    return [(row["name"], row["bins_ns"]) for row in (*activity["kernels"], *activity["copies"])]


def draw_utilization(document: PlainSummary | SummaryDocument, canvas: Canvas) -> None:
    """Draws a lane for each GPU, filled by its busy share of each bin.

    Time begins at the first activity of each GPU.
    """
    plain = make_plain(document)
    devices = with_activity(plain)
    scale = Scale([row["span_ns"] for _, row in devices])
    for place, (_, row) in enumerate(devices):
        activity = row["activity"]
        _draw_lane(canvas, place, canvas.color(0), activity["busy_ns"], activity["bin_ns"], scale)
        canvas.axes.axhline(place + _FILLED / 2, color=canvas.theme.rule, linewidth=0.8, zorder=0)
    names = [f"{label}: {share(row['busy_ns'], row['span_ns'])}" for label, row in devices]
    _finish(canvas, names, scale, [row for _, row in devices])
    lengths = ", ".join(dict.fromkeys(time(row["activity"]["bin_ns"]) for _, row in devices))
    height_note = f"Full height: busy for a whole bin of {lengths}."
    canvas.note = " ".join(filter(None, (height_note, _unknown(devices), selection_note(plain, "GPUs", "devices"))))


def draw_timeline(document: PlainSummary | SummaryDocument, canvas: Canvas, row: str) -> None:
    """Draws a lane for each category of kernels and kind of copies of a GPU."""
    plain = make_plain(document)
    device = _device(plain, row)
    activity = device["activity"]
    scale = Scale([device["span_ns"]])
    shown = lanes(device)[:_MOST_LANES]
    for place, (name, times) in enumerate(shown):
        # A hatch would cut the short activities.
        _draw_lane(canvas, place, looks.category(name, canvas.theme).color, times, activity["bin_ns"], scale)
        canvas.axes.axhline(place + _FILLED / 2, color=canvas.theme.rule, linewidth=0.8, zorder=0)
    _finish(canvas, [name for name, _ in shown], scale, [device])
    left = len(lanes(device)) - len(shown)
    more = f" {left} more in the table." if left else ""
    canvas.note = (
        f"Full height: active for a whole bin of {time(activity['bin_ns'])}.{more}{_overlaps(shown, activity)}"
        f" {_unknown([(row, device)])}"
    ).rstrip()


def _unknown(devices: Sequence[tuple[str, Row]]) -> str:
    """Returns a sentence about time that no file of a process contains, if any."""
    gaps = {label: row["end_ns"] - row["start_ns"] - row["span_ns"] for label, row in devices}
    found = {label: gap for label, gap in gaps.items() if gap > 0}
    if not found:
        return ""
    longest = time(max(found.values()))
    if len({*gaps.values()}) == 1:
        return f"No file contains {longest} of this time."
    # Other GPUs are covered, or less of their time is missing.
    limit = "up to " if len({*found.values()}) > 1 else ""
    return f"No file contains {limit}{longest} of the time of {', '.join(found)}."


def _overlaps(shown: Sequence[Lane], activity: Row) -> str:
    """Returns a sentence about lanes whose activities overlap, and are scaled to fit."""
    longest = [(name, max(times, default=0)) for name, times in shown]
    texts = [f"{visible(name)} {time(length)}" for name, length in longest if length > activity["bin_ns"]]
    return f" Activities on several streams overlap, so that full height is more: {', '.join(texts)}." if texts else ""


def _draw_lane(canvas: Canvas, place: int, color: str, times: Sequence[int], bin_ns: int, scale: Scale) -> None:
    # Activities of several streams may take more than the whole bin.
    full = max(bin_ns, *times, 0)
    edges = [bin_ns * at / scale.ns for at in range(len(times) + 1)]
    base = place + _FILLED / 2
    canvas.axes.stairs(
        [base - _FILLED * one / full for one in times],
        edges,
        baseline=base,
        fill=True,
        color=color,
        linewidth=0.0,
    )


def _finish(canvas: Canvas, names: Sequence[str], scale: Scale, devices: Sequence[Row]) -> None:
    axes = canvas.axes
    axes.set_yticks(range(len(names)), short_names(names))
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlim(0, max(max(row["end_ns"] - row["start_ns"] for row in devices) / scale.ns, 1e-9))
    axes.set_xlabel(f"time after the first GPU activity, {scale.unit}")
