"""Samples of a row in order, with the warm-up of each process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.errors import UsageError
from fastrnns_rs.views.plots.thinning import thinned
from fastrnns_rs.views.run import run_table
from fastrnns_rs.views.scale import Scale

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Result, Run
    from fastrnns_rs.views.plots.drawing import Canvas

#: Points of a process; more are thinned.
MOST_PER_PROCESS, _LEAST_PER_PROCESS = 400, 20
#: A range of times beyond this factor has a logarithmic axis.
_WIDE_RANGE = 3.0


def rows(run: Run) -> list[str]:
    """Returns the rows with samples, as `cudnn/forward`."""
    return [
        f"{run_table.name(result)}/{phase}"
        for result in run.results
        for phase in ("forward", "backward")
        if any(one.samples_ns(phase) for one in result.processes)
    ]


def find(run: Run, row: str) -> tuple[Result, str]:
    """Returns the result and the phase of a row, whose name another result may have."""
    name, _, phase = row.rpartition("/")
    for result in run.results:
        if run_table.name(result) == name and any(one.samples_ns(phase) for one in result.processes):
            return result, phase
    raise UsageError(f"unknown row: {row!r}", "Use a row of the run.", where="row", value=row)


def draw(run: Run, canvas: Canvas, row: str) -> None:
    """Draws all samples of a row: a line for each process, and ends of warm-ups."""
    result, phase = find(run, row)
    known = [(one, one.samples_ns(phase)) for one in result.processes if one.samples_ns(phase)]
    everything = [time for _, times in known for time in times]
    scale = Scale(everything)
    each = min(MOST_PER_PROCESS, max(_LEAST_PER_PROCESS, canvas.points // len(known)))
    if (most := max(len(times) for _, times in known)) > each:
        canvas.note = f"At most {each:,} of {most:,} samples of each process are drawn; all extremes are kept."
    cuts: list[tuple[float, float, str]] = []
    changes: list[tuple[float, float, str]] = []
    for number, (process, times) in enumerate(known):
        places, shown = thinned(times, each)
        [line] = canvas.axes.plot(
            places,
            [one / scale.ns for one in shown],
            color=canvas.color(number),
            linestyle=canvas.line(number),
            linewidth=0.7,
            label=f"process {process.index}",
        )
        canvas.describe(line, [f"process {process.index}"])
        cut = process.first_timed
        if cut is not None and 0 < cut < len(times):
            cuts.append((cut, times[cut] / scale.ns, f"process {process.index}: timed from iteration {cut}"))
        changes.extend(
            (place, times[place] / scale.ns, f"process {process.index}: another level from iteration {place}")
            for place in process.change_points(phase)
        )
    _mark(canvas, cuts, "v", "end of warm-up")
    _mark(canvas, changes, "x", "change of level")
    if cuts or changes:
        marks = [one for one in canvas.axes.collections if not str(one.get_label()).startswith("_")]
        canvas.axes.legend(handles=marks, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    canvas.axes.set_xlabel("iteration of a process")
    canvas.axes.set_ylabel(f"{phase}, {scale.unit}")
    if max(everything) > _WIDE_RANGE * min(everything) > 0:
        # The first iteration compiles and allocates, and would flatten all others.
        canvas.logarithmic("y")
    canvas.axes.grid(visible=True, axis="y")


def _mark(canvas: Canvas, points: Sequence[tuple[float, float, str]], marker: str, label: str) -> None:
    if points:
        places, times, texts = zip(*points, strict=True)
        dots = canvas.axes.scatter(places, times, marker=marker, s=26, color=canvas.theme.ink, label=label, zorder=3)
        canvas.describe(dots, texts)
