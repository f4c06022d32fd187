"""Kinds of plots of each document; the first is the default."""

from __future__ import annotations

from collections.abc import Mapping

from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.views.plots import run_distribution, run_samples, run_times
from fastrnns_rs.views.plots.figure import Plot

KINDS: Mapping[type, Mapping[str, Plot]] = {
    Run: {
        "times": Plot(run_times.draw, run_times.height),
        "samples": Plot(run_samples.draw, rows=run_samples.rows),
        "distribution": Plot(run_distribution.draw, rows=run_samples.rows),
    },
}
