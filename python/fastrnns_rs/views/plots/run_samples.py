"""Samples of a row in order, with the warm-up of each process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.errors import UsageError
from fastrnns_rs.views.plots.thinning import thinned
from fastrnns_rs.views.run import run_table
from fastrnns_rs.views.scale import Scale

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Result, Run
    from fastrnns_rs.views.plots.drawing import Canvas

#: Points of a process; more are thinned. All processes together have `_MOST_POINTS`.
MOST_PER_PROCESS, _LEAST_PER_PROCESS, _MOST_POINTS = 400, 40, 2_000


def rows(run: Run) -> list[str]:
    """Returns the rows with samples, as `cudnn/forward`."""
    return [
        f"{run_table.name(result)}/{phase}"
        for result in run.results
        for phase in ("forward", "backward")
        if any(one.samples_ns(phase) for one in result.processes)
    ]


def find(run: Run, row: str) -> tuple[Result, str]:
    """Returns the result and the phase of a row."""
    name, _, phase = row.rpartition("/")
    for result in run.results:
        if run_table.name(result) == name:
            return result, phase
    raise UsageError(f"unknown row: {row!r}", "Use a row of the run.", where="row", value=row)


def draw(run: Run, canvas: Canvas, row: str) -> None:
    """Draws all samples of a row: a line for each process, and ends of warm-ups."""
    result, phase = find(run, row)
    known = [(one, one.samples_ns(phase)) for one in result.processes if one.samples_ns(phase)]
    scale = Scale([time for _, times in known for time in times])
    each = min(MOST_PER_PROCESS, max(_LEAST_PER_PROCESS, _MOST_POINTS // max(len(known), 1)))
    cuts: list[tuple[float, float, str]] = []
    for number, (process, times) in enumerate(known):
        places, shown = thinned(times, each)
        canvas.axes.plot(
            places,
            [one / scale.ns for one in shown],
            color=canvas.color(number),
            linestyle=canvas.line(number),
            linewidth=0.7,
            label=f"process {process.index}",
        )
        cut = process.steady_from
        if cut is not None and 0 < cut < len(times):
            cuts.append((cut, times[cut] / scale.ns, f"process {process.index}: timed from iteration {cut}"))
    if cuts:
        dots = canvas.axes.scatter(
            [one[0] for one in cuts],
            [one[1] for one in cuts],
            marker="v",
            s=26,
            color=canvas.theme.ink,
            label="end of warm-up",
            zorder=3,
        )
        canvas.describe(dots, [text for *_, text in cuts])
        canvas.axes.legend(handles=[dots], loc="upper right")
    canvas.axes.set_xlabel("iteration of a process")
    canvas.axes.set_ylabel(f"{phase}, {scale.unit}")
    canvas.axes.grid(visible=True, axis="y")
