"""Kinds of plots of each document; the first is the default."""

from __future__ import annotations

from collections.abc import Mapping

from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.documents.history import History
from fastrnns_rs.documents.inductor_report import InductorReport
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.documents.sweep import Sweep
from fastrnns_rs.views.plots import (
    history_trend,
    inductor_times,
    run_distribution,
    run_memory,
    run_samples,
    run_start,
    run_times,
    sweep_plot,
)
from fastrnns_rs.views.plots.comparison_kinds import COMPARISON
from fastrnns_rs.views.plots.figure import Plot
from fastrnns_rs.views.plots.summary_kinds import SUMMARY
from fastrnns_rs.views.summary.plain import PlainSummary

_SWEEP = {
    "sweep": Plot(sweep_plot.draw_times, sweep_plot.height, sweep_plot.time_rows),
    "throughput": Plot(sweep_plot.draw_rates, sweep_plot.height, sweep_plot.rate_rows),
}
KINDS: Mapping[type, Mapping[str, Plot]] = {
    Run: {
        "times": Plot(run_times.draw, run_times.height, available=run_times.is_available),
        "samples": Plot(run_samples.draw, run_samples.height, run_samples.rows),
        "distribution": Plot(run_distribution.draw, run_samples.height, run_samples.rows),
        "start": Plot(run_start.draw, run_start.height, available=run_start.is_available),
        "memory": Plot(run_memory.draw, run_memory.height, available=run_memory.is_available),
        **_SWEEP,
    },
    Sweep: _SWEEP,
    Comparison: COMPARISON,
    SummaryDocument: SUMMARY,
    PlainSummary: SUMMARY,
    InductorReport: {
        "modules": Plot(inductor_times.draw_modules, inductor_times.modules_height, available=inductor_times.has_times),
        "kernels": Plot(inductor_times.draw_kernels, inductor_times.kernels_height, inductor_times.kernel_rows),
        "memory": Plot(inductor_times.draw_memory, inductor_times.memory_height, available=inductor_times.has_memory),
    },
    History: {"trend": Plot(history_trend.draw, history_trend.height, history_trend.rows)},
}
