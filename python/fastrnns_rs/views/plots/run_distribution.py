"""Distribution of a row: the share of timed samples up to each time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.documents.replicates import counted
from fastrnns_rs.views.plots.limits import TimeAxis
from fastrnns_rs.views.plots.run_samples import add_legend, find, process_name
from fastrnns_rs.views.plots.thinning import quantile_points

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.views.plots.drawing import Canvas

#: Points of a process. Least and largest sample are always among them.
_MOST_PER_PROCESS, _LEAST_PER_PROCESS = 60, 15


def draw(run: Run, canvas: Canvas, row: str) -> None:
    """Draws the empirical distribution of each process."""
    result, phase = find(run, row)
    timed = [(one, sorted(one.samples_ns(phase, timed=True))) for ranks in counted(result.processes) for one in ranks]
    timed = [(one, times) for one, times in timed if times]
    axis = TimeAxis([time for _, times in timed for time in (times[0], times[-1])])
    axis.set(canvas, "x")
    scale = axis.scale
    each = min(_MOST_PER_PROCESS, max(_LEAST_PER_PROCESS, canvas.points // max(len(timed), 1)))
    if (most := max((len(times) for _, times in timed), default=0)) > each:
        canvas.note = f"At most {each:,} of {most:,} samples of each process are drawn, with the extremes."
    for number, (process, times) in enumerate(timed):
        values, shares = quantile_points(times, each)
        [line] = canvas.axes.step(
            [one / scale.ns for one in values],
            [100.0 * one for one in shares],
            where="post",
            color=canvas.color(number),
            linestyle=canvas.line(number),
            linewidth=0.9,
            label=process_name(process),
        )
        canvas.describe(line, [process_name(process)])
    add_legend(canvas, run, result, row)
    canvas.axes.set_xlabel(f"{phase}, {scale.unit}")
    canvas.axes.set_ylabel("timed samples up to it, %")
    canvas.axes.set_ylim(0, 100)
    canvas.axes.grid(visible=True)
