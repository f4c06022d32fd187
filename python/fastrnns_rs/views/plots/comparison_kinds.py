"""Kinds of plots of a comparison: of runs, or of captures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fastrnns_rs.views.plots import comparison_idle, comparison_ratios, comparison_rows, comparison_waterfall
from fastrnns_rs.views.plots.comparison_waterfall import is_of_captures
from fastrnns_rs.views.plots.figure import Plot

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Comparison


def _is_of_runs(comparison: Comparison) -> bool:
    return not is_of_captures(comparison)


COMPARISON: Mapping[str, Plot] = {
    "ratios": Plot(comparison_ratios.draw, comparison_ratios.height, available=comparison_ratios.is_available),
    "processes": Plot(comparison_rows.draw_processes, rows=comparison_rows.rows_with_processes, available=_is_of_runs),
    "shift": Plot(comparison_rows.draw_shift, rows=comparison_rows.rows_with_deciles, available=_is_of_runs),
    "waterfall": Plot(comparison_waterfall.draw_kernels, comparison_waterfall.kernels_height, available=is_of_captures),
    "categories": Plot(
        comparison_waterfall.draw_categories, comparison_waterfall.categories_height, available=is_of_captures
    ),
    "idle": Plot(comparison_idle.draw, comparison_idle.height, available=comparison_idle.has_idle_times),
}
