"""Ratios of a comparison of runs: an interval for each row, on the margin."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastrnns_rs.documents.comparison import GeometricMean, Row
from fastrnns_rs.views.comparison import words
from fastrnns_rs.views.plots.comparison_waterfall import is_of_captures
from fastrnns_rs.views.plots.drawing import short_names
from fastrnns_rs.views.plots.limits import draw_interval, widen
from fastrnns_rs.views.units import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrnns_rs.documents.comparison import Comparison
    from fastrnns_rs.views.plots.drawing import Canvas

MEAN = "geometric mean"
#: Marker of each verdict, and its place in the colours. An arrow is the direction of the time.
_LOOKS = {
    "slower": ("^", 1),
    "faster": ("v", 0),
    "equivalent": ("s", 2),
    "inconclusive": ("o", 5),
    None: ("X", 5),
}
#: Inches of a row, and of what is above and below the rows.
_ROW, _AROUND = 0.3, 1.2
#: Ratios beyond these have a logarithmic axis.
_LINEAR = (0.5, 2.0)
#: An axis shows at least this change to both sides of 1. Intervals widen the axis by at most the range of the ratios,
#: or by this factor of the least change.
_LEAST_REACH, _WIDEST = 0.02, 4.0


@dataclass(frozen=True, slots=True)
class _Mark:
    """Ratio on the axis.

    Attributes:
        name: Name of the row.
        found: Row, or geometric mean of all rows.
        verdict: Verdict or conditional verdict.
        is_conditional: True for a conditional verdict.
        word: Verdict in words.
    """

    name: str
    found: Row | GeometricMean
    verdict: str | None = None
    is_conditional: bool = False
    word: str = ""


def sorted_rows(comparison: Comparison) -> list[words.NamedRow]:
    """Returns the rows with a ratio, the slowest first."""
    known = [one for one in words.named_rows(comparison) if one.row.ratio is not None]
    return sorted(known, key=lambda one: -(one.row.ratio or 0.0))


def is_available(comparison: Comparison) -> bool:
    """Returns True if a row, or the geometric mean, has a ratio."""
    return not is_of_captures(comparison) and bool(_marks(comparison))


def height(comparison: Comparison) -> float:
    """Returns the height of the figure in inches."""
    return _AROUND + _ROW * max(len(_marks(comparison)), 2)


def _marks(comparison: Comparison) -> list[_Mark]:
    found = [
        _Mark(
            one.name,
            one.row,
            words.choose_verdict(one.row),
            one.row.verdict is None and one.row.conditional_verdict is not None,
            words.verdict(one.row),
        )
        for one in sorted_rows(comparison)
    ]
    mean = comparison.geometric_mean
    return found if mean is None else [*found, _Mark(MEAN, mean)]


def draw(comparison: Comparison, canvas: Canvas) -> None:
    """Draws a comparison: the slowest row at the top, the margin around 1."""
    marks = _marks(comparison)
    axes, margin = canvas.axes, comparison.method.margin
    low, high = _limits([one.found for one in marks], margin)
    band = axes.axvspan(1 / (1 + margin), 1 + margin, color=canvas.theme.band, linewidth=0)
    band.set_label(f"margin, ±{percent(margin)}")
    axes.axvline(1.0, color=canvas.theme.ink, linewidth=0.8)
    if not _LINEAR[0] <= low < high <= _LINEAR[1]:
        axes.set_xscale("log")
    axes.set_xlim(low, high)
    for place, one in enumerate(marks):
        color = canvas.color(3 if _is_mean(one) else _LOOKS[one.verdict][1])
        draw_interval(canvas, "x", place, (one.found.ratio_ci_low, one.found.ratio_ci_high), color)
    looks = dict.fromkeys((one.verdict, one.is_conditional) for one in marks if not _is_mean(one))
    for verdict, is_conditional in looks:
        shown = [
            (place, one)
            for place, one in enumerate(marks)
            if (one.verdict, one.is_conditional) == (verdict, is_conditional) and not _is_mean(one)
        ]
        _draw_dots(canvas, shown, *_LOOKS[verdict], verdict or "no verdict", is_conditional=is_conditional)
    if means := [(place, one) for place, one in enumerate(marks) if _is_mean(one)]:
        _draw_dots(canvas, means, "D", 3, MEAN, is_conditional=False)
        axes.axhline(means[0][0] - 0.5, color=canvas.theme.rule, linewidth=0.8)
    axes.set_yticks(range(len(marks)), short_names([one.name for one in marks]))
    axes.set_ylim(len(marks) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    for place, one in enumerate(marks):
        axes.text(1.02, place, one.word, transform=axes.get_yaxis_transform(), va="center", color=canvas.theme.ink)
    axes.set_xlabel("ratio: time of candidate / time of baseline (below 1 is faster)")
    axes.grid(visible=True, axis="x")
    axes.set_axisbelow(True)
    canvas.legend(columns=3)
    # The caption of a page explains the arrows.
    canvas.note = ""


def _is_mean(mark: _Mark) -> bool:
    return isinstance(mark.found, GeometricMean)


def _limits(found: Sequence[Row | GeometricMean], margin: float) -> tuple[float, float]:
    """Returns the ends of the axis.

    All ratios and the margin are on it. Ends of very wide intervals may be beyond.
    """
    logs = [math.log(one.ratio) for one in found if one.ratio]
    reach = max(_LEAST_REACH, 2 * math.log1p(margin))
    first, last = min([*logs, -reach]), max([*logs, reach])
    room = max(last - first, _WIDEST * reach)
    ends = [
        math.log(end) for one in found for end in (one.ratio_ci_low, one.ratio_ci_high) if end is not None and end > 0
    ]
    # An end at 0 is as far away as any.
    ends += [-math.inf for one in found if one.ratio_ci_low is not None and one.ratio_ci_low <= 0]
    start, end = widen(first, last, ends, room)
    pad = 0.04 * (end - start)
    return math.exp(start - pad), math.exp(end + pad)


def _draw_dots(
    canvas: Canvas, shown: Sequence[tuple[int, _Mark]], marker: str, color: int, label: str, *, is_conditional: bool
) -> None:
    dots = canvas.axes.scatter(
        [one.found.ratio or math.nan for _, one in shown],
        [place for place, _ in shown],
        marker=marker,
        s=44,
        linewidths=1.4,
        edgecolors=canvas.color(color),
        facecolors=canvas.theme.paper if is_conditional else canvas.color(color),
        label=f"({label}): conditional" if is_conditional else label,
        zorder=3,
    )
    texts = (
        f"{one.name}: {words.ratio_with_interval(one.found)}{', ' if one.word else ''}{one.word}" for _, one in shown
    )
    canvas.describe(dots, [*texts])
