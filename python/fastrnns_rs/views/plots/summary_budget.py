"""Time budget of each GPU as a bar: kernels, copies, and idle time by cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.plots import bars, looks
from fastrnns_rs.views.plots.drawing import LONGEST_TEXT, series_label, short_names
from fastrnns_rs.views.plots.summary_devices import selection_note, with_budget
from fastrnns_rs.views.scale import Scale, time
from fastrnns_rs.views.summary.budget import CAUSES, share
from fastrnns_rs.views.summary.plain import make_plain
from fastrnns_rs.views.table import fit

if TYPE_CHECKING:
    from fastrnns_rs.documents.summary import SummaryDocument
    from fastrnns_rs.views.plots.drawing import Canvas
    from fastrnns_rs.views.summary.plain import PlainSummary

    Row = dict[str, Any]
    Devices = Sequence[tuple[str, Row]]

#: Lists of a budget, each with the number of names that have their own series, and the title of all others.
_LISTS = {"kernels": (5, "other kernels"), "copies": (0, "copies and sets"), "idle": (5, "idle: other")}
_BAR = 0.66
_LEGEND_COLUMNS, _LEGEND_LINE = 3, 0.17


class _Segment(NamedTuple):
    """Part of a bar, in nanoseconds."""

    title: str
    place: int
    start: int
    length: int
    text: str


def is_available(document: PlainSummary | SummaryDocument) -> bool:
    """Returns True if a GPU has a time budget."""
    return any(row["span_ns"] > 0 and row["budget"] is not None for row in make_plain(document)["devices"])


def height(document: PlainSummary | SummaryDocument) -> float:
    """Returns the height of the figure in inches."""
    devices = with_budget(make_plain(document))
    lines = -(-len({*_titles(devices).values()}) // _LEGEND_COLUMNS)
    return bars.height(len(devices)) + _LEGEND_LINE * lines


def draw(document: PlainSummary | SummaryDocument, canvas: Canvas) -> None:
    """Draws a bar for each GPU: busy time first, then idle time."""
    plain = make_plain(document)
    devices = with_budget(plain)
    scale = Scale([row["span_ns"] for _, row in devices])
    titles = _titles(devices)
    segments = _segments(devices, titles)
    # The first list and name of a series; those of all others have a look of their own.
    names = {title: key for key, title in reversed(titles.items())}
    shown = [*dict.fromkeys(titles.values())]
    for title, label in zip(shown, short_names(shown), strict=True):
        is_idle = names[title][0] == "idle"
        others = {title for _, title in _LISTS.values()}
        name = title.removeprefix("idle: ") if title in others else names[title][1]
        look = (looks.idle_cause if is_idle else looks.category)(name, canvas.theme)
        edge = canvas.theme.muted if is_idle else canvas.theme.paper
        _draw_series(canvas, look, edge, label, [one for one in segments if one.title == title], scale)
    axes = canvas.axes
    axes.set_yticks(range(len(devices)), short_names([label for label, _ in devices]))
    axes.set_ylim(len(devices) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(f"time, {scale.unit}")
    axes.set_xlim(0, max(one.start + one.length for one in segments) / scale.ns)
    axes.grid(visible=True, axis="x")
    axes.set_axisbelow(True)
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=_LEGEND_COLUMNS)
    canvas.note = " ".join(filter(None, (selection_note(plain, "GPUs", "devices"), _overlap(devices))))


def _titles(devices: Devices) -> dict[tuple[str, str], str]:
    """Returns the series of each list and name of the budgets, in the order of a bar."""
    found = {}
    for kind, (count, others) in _LISTS.items():
        times: dict[str, int] = {}
        for _, device in devices:
            for row in device["budget"][kind]:
                times[row["name"]] = max(row["total_ns"], times.get(row["name"], 0))
        for place, name in enumerate(sorted(times, key=lambda name: (-times[name], name))):
            found[kind, name] = _word(kind, name) if place < count else others
    return found


def _word(kind: str, name: str) -> str:
    return f"idle: {CAUSES.get(name, name)}" if kind == "idle" else name


def _segments(devices: Devices, titles: dict[tuple[str, str], str]) -> list[_Segment]:
    """Returns the parts of all bars; each bar has the order of the series."""
    order = {one: place for place, one in enumerate(titles)}
    found = []
    for place, (label, device) in enumerate(devices):
        rows = [(kind, row["name"], row["total_ns"]) for kind in _LISTS for row in device["budget"][kind]]
        start = 0
        for kind, name, length in sorted(rows, key=lambda row: order[row[0], row[1]]):
            of_span = share(length, device["span_ns"])
            part = fit(visible(_word(kind, name)), LONGEST_TEXT)
            text = f"{label}, {part}: {time(length)}, {of_span} of the span"
            found.append(_Segment(titles[kind, name], place, start, length, text))
            start += length
    return found


def _draw_series(
    canvas: Canvas, look: looks.Look, edge: str, label: str, segments: list[_Segment], scale: Scale
) -> None:
    import matplotlib as mpl

    with mpl.rc_context({"hatch.color": edge}):
        patches = canvas.axes.barh(
            [one.place for one in segments],
            [one.length / scale.ns for one in segments],
            left=[one.start / scale.ns for one in segments],
            height=_BAR,
            color=look.color,
            hatch=look.hatch,
            edgecolor=edge,
            linewidth=0.6,
            label=series_label(label),
        )
    for patch, one in zip(patches, segments, strict=True):
        canvas.describe(patch, [one.text])


def _overlap(devices: Devices) -> str:
    """Returns a sentence about activities that overlap; empty without any."""
    twice = [(label, row["budget"]["counted_twice_ns"]) for label, row in devices]
    texts = ", ".join(f"{visible(label)} {time(part)}" for label, part in twice if part)
    return f"Activities that overlap count twice, and make a bar longer than the span: {texts}." if texts else ""
