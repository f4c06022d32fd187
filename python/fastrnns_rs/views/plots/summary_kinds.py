"""Kinds of plots of a summary; the first available kind is the default."""

from __future__ import annotations

from collections.abc import Mapping

from fastrnns_rs.views.plots import (
    summary_activity,
    summary_budget,
    summary_iterations,
    summary_kernels,
    summary_launches,
    summary_ranges,
    summary_ranks,
)
from fastrnns_rs.views.plots.figure import Plot

SUMMARY: Mapping[str, Plot] = {
    "budget": Plot(summary_budget.draw, summary_budget.height, available=summary_budget.is_available),
    "utilization": Plot(
        summary_activity.draw_utilization, summary_activity.utilization_height, available=summary_activity.is_available
    ),
    "timeline": Plot(
        summary_activity.draw_timeline,
        summary_activity.timeline_height,
        summary_activity.rows,
        available=summary_activity.is_available,
    ),
    "ranges": Plot(summary_ranges.draw, summary_ranges.height, available=summary_ranges.is_available),
    "kernels": Plot(
        summary_kernels.draw_kernels, summary_kernels.kernels_height, available=summary_kernels.has_kernels
    ),
    "operators": Plot(
        summary_kernels.draw_operators, summary_kernels.operators_height, available=summary_kernels.has_operators
    ),
    "iterations": Plot(
        summary_iterations.draw, rows=summary_iterations.rows, available=summary_iterations.is_available
    ),
    "launches": Plot(summary_launches.draw, available=summary_launches.is_available),
    "ranks": Plot(summary_ranks.draw, summary_ranks.height, available=summary_ranks.is_available),
}
