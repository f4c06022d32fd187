"""Samples of a row in order, with the warm-up of each process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.errors import UsageError
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.plots.drawing import LONGEST_NAME
from fastrnns_rs.views.plots.limits import TimeAxis
from fastrnns_rs.views.plots.thinning import thinned
from fastrnns_rs.views.run import run_head, run_table
from fastrnns_rs.views.table import fit

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Process, Result, Run
    from fastrnns_rs.views.plots.drawing import Canvas

#: Points of a process; more are thinned.
MOST_PER_PROCESS, _LEAST_PER_PROCESS = 400, 20
#: Inches of the figure, and of a line of the legend.
_HEIGHT, _LEGEND_LINE = 3.1, 0.18
#: Processes with an entry of the legend, and entries of a line.
_MOST_ENTRIES, _COLUMNS = 12, 5
#: The same where there are few points of the lines, and points for each entry.
_LEAST_ENTRIES, _POINTS_PER_ENTRY = 3, 150
#: A range of times beyond this factor has a logarithmic axis.
_WIDE_RANGE = 3.0


def rows(run: Run) -> list[str]:
    """Returns the rows with samples, as `cudnn/forward`."""
    return [
        f"{run_table.name(result)}/{phase}"
        for result in run.results
        for phase in ("forward", "backward")
        if result.status != "skipped" and any(one.samples_ns(phase) for one in result.processes)
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
    # The first iteration compiles and allocates, and would flatten all others.
    axis = TimeAxis(everything, wide=_WIDE_RANGE)
    axis.set(canvas, "y")
    scale = axis.scale
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
            label=process_name(process),
        )
        canvas.describe(line, [process_name(process)])
        cut = process.first_timed
        if cut is not None and 0 < cut < len(times):
            cuts.append((cut, times[cut] / scale.ns, f"{process_name(process)}: timed from iteration {cut}"))
        changes.extend(
            (place, times[place] / scale.ns, f"{process_name(process)}: another level from iteration {place}")
            for place in process.change_points(phase)
        )
    _mark(canvas, cuts, "v", "end of warm-up")
    _mark(canvas, changes, "x", "change of level")
    add_legend(canvas, run, result, row)
    canvas.axes.set_xlabel("iteration of a process")
    canvas.axes.set_ylabel(f"{phase}, {scale.unit}")
    canvas.axes.grid(visible=True, axis="y")


def process_name(process: Process) -> str:
    """Returns a name for a legend, such as `process 0` and `process 0, rank 1`."""
    return f"process {process.index}" + ("" if process.rank is None else f", rank {process.rank}")


def height(run: Run, row: str) -> float:
    """Returns the height of the figure in inches."""
    entries = min(len(find(run, row)[0].processes), _MOST_ENTRIES) + 2
    return _HEIGHT + _LEGEND_LINE * (entries // _COLUMNS + 1)


def add_legend(canvas: Canvas, run: Run, result: Result, row: str) -> None:
    """Adds a legend with the row, its problem, its processes and the marks."""
    lines = [one for one in canvas.axes.lines if not str(one.get_label()).startswith("_")]
    marks = [one for one in canvas.axes.collections if not str(one.get_label()).startswith("_")]
    name, problem = fit(visible(row), LONGEST_NAME), run_head.describe_problem(run, result.problem)
    title = f"{name}: {problem}" if len(name) + len(problem) < canvas.characters() else f"{name}\n{problem}"
    # A page of many rows has little room for each.
    most = min(_MOST_ENTRIES, max(_LEAST_ENTRIES, canvas.points // _POINTS_PER_ENTRY))
    if len(lines) > most:
        more = len(lines) - most + 1
        canvas.add_note(f"{more:,} more processes have no entry in the legend.")
        lines = lines[: most - 1]
    canvas.legend(title, columns=_COLUMNS, handles=[*lines, *marks])


def _mark(canvas: Canvas, points: Sequence[tuple[float, float, str]], marker: str, label: str) -> None:
    if points:
        places, times, texts = zip(*points, strict=True)
        dots = canvas.axes.scatter(places, times, marker=marker, s=26, color=canvas.theme.ink, label=label, zorder=3)
        canvas.describe(dots, texts)
