"""Waterfall of a comparison of captures: from baseline to candidate by kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastrnns_rs.documents.comparison import Change
from fastrnns_rs.escaping import visible
from fastrnns_rs.views import kernel_names
from fastrnns_rs.views.plots.drawing import LONGEST_KERNEL
from fastrnns_rs.views.plots.limits import draw_interval, widen
from fastrnns_rs.views.plots.style import SMALL
from fastrnns_rs.views.scale import Scale
from fastrnns_rs.views.table import fit, folded

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Comparison
    from fastrnns_rs.views.plots.drawing import Canvas

#: Kernels with a bar of their own, and categories.
_KERNELS, _CATEGORIES = 12, 20
#: Inches of a bar, and of what is above and below the bars.
_ROW, _AROUND = 0.34, 1.0
_PER = {"per_iteration": ", per iteration", "per_capture": ", per capture"}
#: Height of a bar, in rows.
_BAR = 0.72
#: An axis starts at 0 unless all changes are within this share of it.
_CUT_BELOW = 0.2
#: Hover texts have names of at most this many characters.
_LONGEST_HOVER = 160


@dataclass(frozen=True, slots=True)
class Step:
    """Bar of a waterfall.

    Attributes:
        name: Whole name.
        short: Short name.
        delta_ns: Candidate minus baseline.
        change: Row of the document; None for the sum of all others.
    """

    name: str
    short: str
    delta_ns: int
    change: Change | None


def is_of_captures(comparison: Comparison) -> bool:
    """Returns True for a comparison of captures."""
    return comparison.kind == "capture"


def kernel_steps(comparison: Comparison) -> list[Step]:
    """Returns the largest changes of kernels, and the sum of all others."""
    return _steps(comparison.kernels, _KERNELS)


def category_steps(comparison: Comparison) -> list[Step]:
    """Returns the largest changes of categories, and the sum of all others."""
    return _steps(comparison.categories, _CATEGORIES)


def _steps(changes: Sequence[Change], most: int) -> list[Step]:
    shown, rest = folded(sorted(changes, key=lambda one: (-abs(one.delta_ns), one.name)), most)
    named = zip(shown, short_names(shown), strict=True)
    found = [Step(one.name, short, one.delta_ns, one) for one, short in named]
    if rest:
        others = f"{len(rest):,} others"
        found.append(Step(others, others, sum(one.delta_ns for one in rest), None))
    return found


def short_names(changes: Sequence[Change]) -> list[str]:
    """Returns short names of rows, which differ."""
    return kernel_names.shortened(
        [(one.name, getattr(one, "short_name", None) or one.name) for one in changes], LONGEST_KERNEL
    )


def totals(comparison: Comparison) -> tuple[int, int]:
    """Returns the GPU time of both sides in ns; 0 for a side without GPU time."""
    whole = comparison.device_time
    if whole is None:
        return 0, 0
    before, after = (0 if side is None else side.total_ns for side in (whole.baseline, whole.candidate))
    return before, after


def scale(comparison: Comparison) -> Scale:
    """Returns the scale of the GPU times."""
    return Scale([max(totals(comparison))])


def change_scale(steps: Sequence[Step]) -> Scale:
    """Returns the scale of the changes."""
    return Scale([max((abs(one.delta_ns) for one in steps), default=0)])


def signed(ns: float, times: Scale) -> str:
    """Formats a change with its sign and unit; without a sign if it rounds to 0."""
    text = times.text(abs(ns))
    sign = "" if not text.strip("0.") else "-" if ns < 0 else "+"
    return f"{sign}{text} {times.unit}"


def kernels_height(comparison: Comparison) -> float:
    """Returns the height of the figure of kernels in inches."""
    return _heights(comparison.kernels, _KERNELS)


def categories_height(comparison: Comparison) -> float:
    """Returns the height of the figure of categories in inches."""
    return _heights(comparison.categories, _CATEGORIES)


def _height(count: int, most: int) -> float:
    # Both sides, and the sum of all others.
    return _AROUND + _ROW * (min(count, most + 1) + 2)


def _heights(changes: Sequence[Change], most: int) -> float:
    return _height(len(changes) if any(one.delta_ns for one in changes) else 0, most)


def draw_kernels(comparison: Comparison, canvas: Canvas) -> None:
    """Draws the changes of kernels."""
    _draw(comparison, canvas, kernel_steps(comparison))


def draw_categories(comparison: Comparison, canvas: Canvas) -> None:
    """Draws the changes of categories."""
    _draw(comparison, canvas, category_steps(comparison))


def _draw(comparison: Comparison, canvas: Canvas, steps: Sequence[Step]) -> None:
    before, after = totals(comparison)
    if not steps or max(before, after) == 0:
        canvas.message("no GPU time to compare")
        return
    is_equal = before == after and not any(one.delta_ns for one in steps)
    if is_equal:
        canvas.note = f"No change: each of the rows ({len(steps):,}) has equal GPU times."
        steps = []
    times, changes = scale(comparison), change_scale(steps)
    axes, last = canvas.axes, len(steps) + 1
    starts = [before]
    for one in steps:
        starts.append(starts[-1] + one.delta_ns)
    is_cut = _set_limits(canvas, [*starts, after], steps, times)
    _draw_totals(canvas, before, after, last, times, is_cut=is_cut)
    placed = [*enumerate(zip(starts, steps, strict=False), 1)]
    for title, number, is_slower in (("slower", 1, True), ("faster", 0, False)):
        shown = [(place, start, one) for place, (start, one) in placed if (one.delta_ns > 0) == is_slower]
        _draw_steps(canvas, shown, title, number, times, changes)
    for place, start in enumerate(starts):
        # From the end of a bar to the start of the next.
        at = start / times.ns
        axes.plot((at, at), (place - 0.36, place + 1.36), color=canvas.theme.muted, linewidth=0.6)
    texts = [f"{times.text(before)} {times.unit}"]
    texts += [signed(one.delta_ns, changes) for one in steps]
    texts.append(f"{times.text(after)} {times.unit}")
    for place, text in enumerate(texts):
        axes.text(1.02, place, text, transform=axes.get_yaxis_transform(), va="center", color=canvas.theme.ink)
    names = ["baseline", *(one.short for one in steps), "candidate"]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0, labelsize=SMALL)
    cut = " (axis does not start at 0)" if is_cut else ""
    axes.set_xlabel(f"GPU time{_PER.get(comparison.basis or '', '')}, {times.unit}{cut}")
    axes.grid(visible=True, axis="x")
    axes.set_axisbelow(True)
    canvas.legend("no change: all GPU times are equal" if is_equal else "", columns=3)
    if steps and steps[-1].change is None:
        canvas.add_note(f"{steps[-1].name}: {texts[-2]} together.")


def _set_limits(canvas: Canvas, starts: Sequence[int], steps: Sequence[Step], times: Scale) -> bool:
    """Sets the ends of the axis, and returns True if the axis does not start at 0.

    Changes that are small against the whole would not be visible on an axis from 0.
    """
    low, high = min(starts), max(starts)
    room = max(high - low, 1)
    ends = [
        start + end
        for start, one in zip(starts, steps, strict=False)
        if one.change is not None
        for end in (one.change.delta_ci_low_ns, one.change.delta_ci_high_ns)
        if end is not None
    ]
    # An interval that is much wider than all changes is cut.
    start, end = widen(low, high, ends, room)
    is_cut = start > 0 and 0 < end - start < _CUT_BELOW * end
    pad = 0.06 * (end - start if is_cut else end - min(start, 0))
    canvas.axes.set_xlim((start - pad if is_cut else min(start, 0)) / times.ns, (end + pad) / times.ns)
    return is_cut


def _draw_totals(canvas: Canvas, before: int, after: int, last: int, times: Scale, *, is_cut: bool) -> None:
    """Draws both sides: bars from 0, or diamonds where the axis does not start at 0."""
    texts = [f"{name}: {times.text(time)} {times.unit}" for name, time in (("baseline", before), ("candidate", after))]
    if is_cut:
        at = [time / times.ns for time in (before, after)]
        dots = canvas.axes.scatter(at, [0, last], marker="D", s=36, color=canvas.color(5), label="GPU time", zorder=3)
        canvas.describe(dots, texts)
        return
    for place, time, text in zip((0, last), (before, after), texts, strict=True):
        label = "GPU time" if place == 0 else ""
        bars = canvas.axes.barh([place], [time / times.ns], height=_BAR, color=canvas.color(5), label=label)
        canvas.describe(bars[0], [text])


def _draw_steps(
    canvas: Canvas,
    shown: Sequence[tuple[int, int, Step]],
    title: str,
    number: int,
    times: Scale,
    changes: Scale,
) -> None:
    first = next((place for place, _, one in shown if one.delta_ns), None)
    for place, start, one in shown:
        bars = canvas.axes.barh(
            [place],
            [one.delta_ns / times.ns],
            left=[start / times.ns],
            height=_BAR,
            color=canvas.color(number),
            hatch=canvas.hatch(number),
            edgecolor=canvas.theme.paper,
            label=title if place == first else "",
        )
        canvas.describe(bars[0], [_hover(one, changes)])
        low, high = (None, None) if one.change is None else (one.change.delta_ci_low_ns, one.change.delta_ci_high_ns)
        if low is not None and high is not None:
            ends = (start + low, start + high)
            draw_interval(canvas, "x", place, ends, canvas.theme.ink, unit=times.ns, width=1.2, caps="|")


def _hover(step: Step, changes: Scale) -> str:
    change = step.change
    interval = ""
    if change is not None and change.delta_ci_low_ns is not None and change.delta_ci_high_ns is not None:
        ends = (signed(end, changes) for end in (change.delta_ci_low_ns, change.delta_ci_high_ns))
        interval = f" [{', '.join(ends)}]"
    return f"{fit(visible(step.name), _LONGEST_HOVER)}: {signed(step.delta_ns, changes)}{interval}"
