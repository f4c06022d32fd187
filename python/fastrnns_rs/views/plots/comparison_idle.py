"""Idle time of the GPUs by cause, of both sides of a comparison of captures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.views.figures import share_percent
from fastrnns_rs.views.plots import bars
from fastrnns_rs.views.summary.budget import CAUSES

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Compared, Comparison, IdleTime
    from fastrnns_rs.views.plots.drawing import Canvas


def has_idle_times(comparison: Comparison) -> bool:
    """Returns True if a side has idle times."""
    return bool(comparison.baseline.idle_times or comparison.candidate.idle_times)


def causes(comparison: Comparison) -> list[str]:
    """Returns the causes of both sides, the largest share first."""
    shares: dict[str, float] = {}
    for side in (comparison.baseline, comparison.candidate):
        for one in side.idle_times:
            shares[one.cause] = max(one.span_fraction, shares.get(one.cause, 0.0))
    return sorted(shares, key=lambda cause: (-shares[cause], cause))


def by_cause(side: Compared) -> dict[str, IdleTime]:
    """Returns the idle times of a side by cause."""
    return {one.cause: one for one in side.idle_times}


def title(cause: str) -> str:
    """Returns the words for a cause."""
    return CAUSES.get(cause, cause)


def height(comparison: Comparison) -> float:
    """Returns the height of the figure in inches."""
    return bars.height(len(causes(comparison))) + 0.2


def draw(comparison: Comparison, canvas: Canvas) -> None:
    """Draws two bars for each cause: shares of the span of the GPUs."""
    named = causes(comparison)
    series = []
    for name, side in (("baseline", comparison.baseline), ("candidate", comparison.candidate)):
        known = by_cause(side)
        shares = [100 * known[cause].span_fraction if cause in known else None for cause in named]
        texts = [
            f"{name}, {title(cause)}: {share_percent(known[cause].span_fraction) if cause in known else '-'}"
            for cause in named
        ]
        series.append((name, shares, texts))
    bars.draw(canvas, [title(one) for one in named], series, "idle time, % of the span of the GPUs")
