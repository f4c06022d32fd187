"""Times of a run: a dot and an interval for each runner and phase."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from fastrnns_rs.views.figures import estimate_with_interval
from fastrnns_rs.views.plots.drawing import short_names
from fastrnns_rs.views.plots.limits import TimeAxis, draw_interval
from fastrnns_rs.views.run import run_table

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import PhaseSummary, Result, Run
    from fastrnns_rs.views.plots.drawing import Canvas
    from fastrnns_rs.views.scale import Scale

PHASES = ("forward", "backward")
#: Inches of a row, and of what is above and below the rows.
_ROW, _AROUND = 0.34, 1.0
#: Distance between the phases of a runner, in rows.
_APART = 0.3


def measured(run: Run) -> list[Result]:
    """Returns the results with times: by family, and the fastest first."""
    found = [one for one in run.results if one.forward is not None]
    families = {group: place for place, group in enumerate(dict.fromkeys(one.group for one in found))}
    return sorted(found, key=lambda one: (families[one.group], one.forward.estimate_ns if one.forward else 0.0))


def is_available(run: Run) -> bool:
    """Returns True if a runner was measured."""
    return bool(measured(run))


def height(run: Run) -> float:
    """Returns the height of the figure in inches."""
    return _AROUND + _ROW * max(len(measured(run)), 2)


def draw(run: Run, canvas: Canvas) -> None:
    """Draws a run: runners from the top, times from the left."""
    results = measured(run)
    axes = canvas.axes
    axis = _axis(results)
    axis.set(canvas, "x")
    scale = axis.scale
    several = len({phase for result in results for phase, _ in phases(result)}) > 1
    for number, name in enumerate(PHASES):
        shown = [(place, result, getattr(result, name)) for place, result in enumerate(results)]
        _draw_phase(canvas, number, name, [one for one in shown if one[2] is not None], scale, apart=several)
    axes.set_yticks(range(len(results)), short_names([*map(run_table.name, results)]))
    axes.set_ylim(len(results) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(f"time of a phase, {scale.unit}")
    axes.grid(visible=True, axis="x")
    axes.set_axisbelow(True)
    _separate_families(canvas, results)
    if several:
        canvas.legend()


def _axis(results: list[Result]) -> TimeAxis:
    summaries = [(result, name, one) for result in results for name, one in phases(result)]
    medians = [process.median_ns(name) for result, name, _ in summaries for process in result.processes]
    estimates = [one.estimate_ns for *_, one in summaries]
    ends = [end for *_, one in summaries for end in run_table.interval_ends(one)]
    return TimeAxis([*estimates, *(one for one in medians if one is not None)], ends, from_zero=True)


def phases(result: Result) -> Iterator[tuple[str, PhaseSummary]]:
    """Yields the measured phases of a result."""
    for name in PHASES:
        found = getattr(result, name)
        if found is not None:
            yield name, found


def _draw_phase(
    canvas: Canvas,
    number: int,
    phase: str,
    rows: list[tuple[int, Result, PhaseSummary]],
    scale: Scale,
    *,
    apart: bool,
) -> None:
    offset = (number - 0.5) * _APART if apart else 0.0
    color = canvas.color(number)
    medians = [(place, process.median_ns(phase)) for place, one, _ in rows for process in one.processes]
    points = [(median / scale.ns, place + offset) for place, median in medians if median is not None]
    if points:
        times, places = zip(*points, strict=True)
        canvas.axes.scatter(times, places, marker="|", s=40, color=canvas.theme.muted, linewidths=0.8)
    for place, _, one in rows:
        draw_interval(canvas, "x", place + offset, run_table.interval_ends(one), color, unit=scale.ns)
    dots = canvas.axes.scatter(
        [one.estimate_ns / scale.ns for _, _, one in rows],
        [place + offset for place, _, _ in rows],
        marker=canvas.marker(number),
        s=28,
        color=color,
        label=phase,
        zorder=3,
    )
    texts = [
        f"{run_table.name(result)} {phase}: "
        f"{estimate_with_interval(one.estimate_ns, *run_table.interval_ends(one), scale.ns)} {scale.unit}"
        for _, result, one in rows
    ]
    canvas.describe(dots, texts)


def _separate_families(canvas: Canvas, results: list[Result]) -> None:
    for place, (before, after) in enumerate(pairwise(results)):
        if before.group != after.group:
            canvas.axes.axhline(place + 0.5, color=canvas.theme.rule, linewidth=0.8)
