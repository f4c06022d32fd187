"""Rows of a comparison of runs: medians of processes, and shift of deciles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.errors import UsageError
from fastrnns_rs.views.comparison import words
from fastrnns_rs.views.figures import figure
from fastrnns_rs.views.plots.drawing import MOST_TICKS
from fastrnns_rs.views.plots.limits import TimeAxis, draw_interval
from fastrnns_rs.views.scale import Scale

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Comparison, Figures, Row
    from fastrnns_rs.views.plots.drawing import Canvas

SIDES = ("baseline", "candidate")


def rows_with_processes(comparison: Comparison) -> list[str]:
    """Returns the rows with medians of processes, as `cudnn/forward`."""
    return [one.name for one in words.named_rows(comparison) if any(map(words.process_times, sides(one.row)))]


def rows_with_deciles(comparison: Comparison) -> list[str]:
    """Returns the rows with deciles of both sides, as `cudnn/forward`."""
    return [one.name for one in words.named_rows(comparison) if one.row.deciles]


def sides(row: Row) -> list[Figures]:
    """Returns the known sides of a row."""
    return [one for one in (row.baseline, row.candidate) if one is not None]


def find(comparison: Comparison, name: str) -> Row:
    """Returns the row with a name."""
    for one in words.named_rows(comparison):
        if one.name == name:
            return one.row
    raise UsageError(f"unknown row: {name!r}", "Use a row of the comparison.", where="row", value=name)


def processes_scale(row: Row) -> Scale:
    """Returns the scale of the times of processes and of the point estimates."""
    return Scale([time for one in sides(row) for time in (*words.process_times(one), one.estimate_ns)])


def _processes_axis(row: Row) -> TimeAxis:
    times = [time for one in sides(row) for time in (*words.process_times(one), one.estimate_ns)]
    return TimeAxis(times, [end for one in sides(row) for end in (one.ci_low_ns, one.ci_high_ns)])


def shift_scale(row: Row) -> Scale:
    """Returns the scale of the differences between deciles."""
    return Scale([max((abs(one.shift_ns) for one in row.deciles), default=0.0)])


def draw_processes(comparison: Comparison, canvas: Canvas, name: str) -> None:
    """Draws the judged statistic of each process, and point estimates with intervals."""
    from matplotlib.ticker import MaxNLocator

    row = find(comparison, name)
    axis = _processes_axis(row)
    axis.set(canvas, "y")
    scale, axes = axis.scale, canvas.axes
    for number, title in enumerate(SIDES):
        side: Figures | None = getattr(row, title)
        if side is None or not words.process_times(side):
            continue
        color = canvas.color(number)
        times = words.process_times(side)
        if side.ci_low_ns is not None and side.ci_high_ns is not None:
            low, high = max(side.ci_low_ns, axis.low_ns), min(side.ci_high_ns, axis.high_ns)
            axes.axhspan(low / scale.ns, high / scale.ns, color=color, alpha=0.15, linewidth=0)
            # The bar at the left has the arrows of an interval that is wider than the axis.
            place = 0.4 + 0.2 * number
            draw_interval(canvas, "y", place, (side.ci_low_ns, side.ci_high_ns), color, unit=scale.ns)
        axes.axhline(side.estimate_ns / scale.ns, color=color, linestyle=("-", "--")[number], linewidth=1.0)
        dots = axes.scatter(
            range(1, len(times) + 1),
            [one / scale.ns for one in times],
            marker=canvas.marker(number),
            s=28,
            color=color,
            label=title,
            zorder=3,
        )
        canvas.describe(
            dots,
            [f"{title}, process {place}: {figure(one / scale.ns)} {scale.unit}" for place, one in enumerate(times, 1)],
        )
    axes.xaxis.set_major_locator(MaxNLocator(MOST_TICKS, integer=True, min_n_ticks=1))
    axes.set_xlabel("process of a side, in order")
    statistic = words.STATISTICS[comparison.method.statistic][0]
    axes.set_ylabel(f"{statistic} of the process, {scale.unit}")
    axes.grid(visible=True, axis="y")
    axes.set_axisbelow(True)
    canvas.legend(name)


def draw_shift(comparison: Comparison, canvas: Canvas, name: str) -> None:
    """Draws the difference of each decile: candidate minus baseline."""
    row = find(comparison, name)
    scale = shift_scale(row)
    axes = canvas.axes
    axes.axhline(0.0, color=canvas.theme.ink, linewidth=0.8)
    axes.plot(
        [100 * one.level for one in row.deciles],
        [one.shift_ns / scale.ns for one in row.deciles],
        color=canvas.theme.muted,
        linewidth=1.0,
    )
    for title, marker, color, sign in (("slower", "^", 1, 1), ("faster", "v", 0, -1), ("equal", "s", 2, 0)):
        shown = [one for one in row.deciles if (one.shift_ns > 0) - (one.shift_ns < 0) == sign]
        if not shown:
            continue
        dots = axes.scatter(
            [100 * one.level for one in shown],
            [one.shift_ns / scale.ns for one in shown],
            marker=marker,
            s=36,
            color=canvas.color(color),
            label=title,
            zorder=3,
        )
        canvas.describe(
            dots,
            [f"{100 * one.level:.0f} %: {scale.text(one.shift_ns)} {scale.unit}, {title}" for one in shown],
        )
    axes.set_xticks([100 * one.level for one in row.deciles])
    axes.set_xlabel("decile of all timed samples, %")
    axes.set_ylabel(f"candidate - baseline, {scale.unit}")
    axes.grid(visible=True, axis="y")
    axes.set_axisbelow(True)
    canvas.legend(name)
