"""Start of each runner: first iteration and compilation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.views.plots import bars
from fastrnns_rs.views.plots.run_times import measured
from fastrnns_rs.views.run import run_table
from fastrnns_rs.views.scale import Scale, time

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Result, Run
    from fastrnns_rs.views.plots.drawing import Canvas

KINDS = ("first iteration", "cold compile", "warm compile")


def is_available(run: Run) -> bool:
    """Returns True if a time of the start was recorded."""
    return any(one is not None for result in measured(run) for one in times(result))


def height(run: Run) -> float:
    """Returns the height of the figure in inches."""
    return bars.height(len(measured(run)))


def times(result: Result) -> tuple[float | None, float | None, float | None]:
    """Returns the times of a result in the order of `KINDS`, in nanoseconds.

    They are medians over the processes.
    """
    return result.first_call_ns(), result.compile_ns("cold_ns"), result.compile_ns("warm_ns")


def draw(run: Run, canvas: Canvas) -> None:
    """Draws the times of each runner that was measured."""
    results = measured(run)
    found = [times(one) for one in results]
    known = [one for row in found for one in row if one is not None]
    scale = Scale(known)
    names = [run_table.name(one) for one in results]
    series = []
    for number, kind in enumerate(KINDS):
        column = [row[number] for row in found]
        if any(one is not None for one in column):
            values = [None if one is None else one / scale.ns for one in column]
            texts = [f"{name} {kind}: {time(one or 0)}" for name, one in zip(names, column, strict=True)]
            series.append((kind, values, texts))
    [only, *others] = [title for title, *_ in series]
    what = "time" if others else only
    bars.draw(canvas, names, series, f"{what}, forward and backward together, {scale.unit}")
