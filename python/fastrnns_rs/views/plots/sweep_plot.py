"""Plot of a sweep: a quantity against the size, on logarithmic axes."""

from __future__ import annotations

from math import ceil, log
from typing import TYPE_CHECKING

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.figures import estimate_with_interval, figure
from fastrnns_rs.views.plots.drawing import CHARACTER, series_label, short_names
from fastrnns_rs.views.plots.limits import TimeAxis, draw_interval
from fastrnns_rs.views.plots.sweep_panels import RATES, TIMES, panels
from fastrnns_rs.views.run import run_table, sweep_tables
from fastrnns_rs.views.table import fit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.documents.sweep import Sweep
    from fastrnns_rs.views.plots.drawing import Canvas
    from fastrnns_rs.views.plots.sweep_panels import Panel, Spot, SweepLine
    from fastrnns_rs.views.scale import Scale

#: Inches of the axes with their labels, and of a line of the legend.
_AXES, _LEGEND_LINE = 3.4, 0.18
#: Labels up to this length are in two columns of the legend.
_SHORT_LABEL = 40
#: Widest distance between the runners at a name, of the distance between two names.
_APART = 0.6
#: Labelled names of an axis, characters of one, and characters that fit below the axis.
_MOST_NAMES, _LONGEST_VALUE, _CHARACTERS = 20, 24, 70
#: Part of the width of a figure that the axes fill at least, and points between two labels of values.
_AXES_SHARE, _BETWEEN = 0.8, 5.0
#: Quantities have a logarithmic axis if they differ at all: a straight line is a power of the size.
_WIDE_RANGE = 1.0
#: Values of the other axes are cut to this many characters.
_LONGEST_POINT = 60


def time_rows(document: Run | Sweep) -> list[str]:
    """Returns the panels of times, as `hidden-size/forward`."""
    return [one.name for one in panels(document, TIMES)]


def rate_rows(document: Run | Sweep) -> list[str]:
    """Returns the panels of rates, as `hidden-size/samples per second`."""
    return [one.name for one in panels(document, RATES)]


def height(document: Run | Sweep, row: str) -> float:
    """Returns the height of the figure in inches."""
    found = [one for one in panels(document, (*TIMES, *RATES)) if one.name == row]
    return _AXES + _LEGEND_LINE * len(found[0].lines)


def draw_times(document: Run | Sweep, canvas: Canvas, row: str) -> None:
    """Draws times along an axis: a line for each runner, with its exponent."""
    panel = next(one for one in panels(document, TIMES) if one.name == row)
    spots = [spot for line in panel.lines for spot in line.spots]
    axis = TimeAxis(
        [spot.cell.time_ns for spot in spots], [end for spot in spots for end in _ends(spot)], wide=_WIDE_RANGE
    )
    if spots:
        axis.set(canvas, "y")
    scale = axis.scale
    _draw(canvas, panel, f"{panel.quantity}, {scale.unit}", scale.ns, lambda spot: _time_text(spot, scale))


def draw_rates(document: Run | Sweep, canvas: Canvas, row: str) -> None:
    """Draws rates along an axis: a line for each runner."""
    panel = next(one for one in panels(document, RATES) if one.name == row)
    rates = [getattr(spot.cell, panel.key) for line in panel.lines for spot in line.spots]
    if rates and (axis := TimeAxis(rates, wide=_WIDE_RANGE)).is_log:
        canvas.axes.set_yscale("log")
        canvas.axes.set_ylim(axis.low_ns, axis.high_ns)
    _draw(
        canvas,
        panel,
        panel.quantity,
        1.0,
        lambda spot: f"{figure(getattr(spot.cell, panel.key))} {panel.quantity}",
    )


def _time_text(spot: Spot, scale: Scale) -> str:
    return f"{estimate_with_interval(spot.cell.time_ns, *_ends(spot), scale.ns)} {scale.unit}"


def _ends(spot: Spot) -> tuple[float | None, float | None]:
    return (None, None) if spot.summary is None else run_table.interval_ends(spot.summary)


def _draw(canvas: Canvas, panel: Panel, label: str, unit: float, text: Callable[[Spot], str]) -> None:
    axes = canvas.axes
    if not any(line.spots for line in panel.lines):
        canvas.message("nothing was measured at these sizes")
        return
    places = [*panel.values] if panel.is_numeric else [*range(len(panel.values))]
    where = dict(zip(panel.values, places, strict=True))
    labels = _labels(panel)
    for number, line in enumerate(panel.lines):
        offset = 0.0 if panel.is_numeric else _APART * ((number + 0.5) / len(panel.lines) - 0.5)
        xs = [float(where[spot.value]) + offset for spot in line.spots]
        ys = [getattr(spot.cell, panel.key) / unit for spot in line.spots]
        color = canvas.color(number)
        for x, spot in zip(xs, line.spots, strict=True):
            draw_interval(canvas, "y", x, _ends(spot), color, unit=unit, width=2.4)
        [marks] = axes.plot(
            xs,
            ys,
            color=color,
            marker=canvas.marker(number),
            linestyle=canvas.line(number) if panel.is_numeric else "none",
            label=labels[number],
        )
        canvas.describe(marks, [f"{line.name}, {panel.axis} {spot.value}: {text(spot)}" for spot in line.spots])
    _mark_values(canvas, panel, places)
    others = f", at {fit(visible(panel.others), _LONGEST_POINT)}" if panel.others else ""
    axes.set_xlabel(f"{visible(panel.axis)}{others}")
    axes.set_ylabel(visible(label))
    axes.grid(visible=True)
    _legend(canvas, panel)


def _labels(panel: Panel) -> list[str]:
    """Returns the entry of each line in the legend."""
    names = short_names([one.name for one in panel.lines])
    return [_label(series_label(name), line) for name, line in zip(names, panel.lines, strict=True)]


def _label(name: str, line: SweepLine) -> str:
    if line.growth is None or line.growth.exponent is None:
        return name
    bent = " (not straight)" if line.growth.straight is False else ""
    return f"{name}: b = {sweep_tables.exponent(line.growth)}{bent}"


def _mark_values(canvas: Canvas, panel: Panel, places: Sequence[int | str]) -> None:
    """Labels the values of the axis; of values that are near each other, the first."""
    axes = canvas.axes
    if not panel.is_numeric:
        # The names of neighbours must not lie on each other; the table has all names.
        labelled = range(0, len(places), ceil(len(places) / _MOST_NAMES))
        names = [fit(visible(str(panel.values[place])), _LONGEST_VALUE) for place in labelled]
        is_long = sum(map(len, names)) > _CHARACTERS
        axes.set_xticks(labelled, names, rotation=30 if is_long else 0, ha="right" if is_long else "center")
        axes.set_xlim(-0.5, len(places) - 0.5)
        return
    axes.set_xscale("log")
    numbers = [int(one) for one in places]
    length = log(numbers[-1] / numbers[0]) or 1.0
    # Values that are too near for their labels have one label.
    points = _AXES_SHARE * canvas.room() / length
    shown = numbers[:1]
    for one in numbers[1:]:
        wanted = (len(f"{shown[-1]:,}") + len(f"{one:,}")) / 2 * CHARACTER + _BETWEEN
        if points * log(one / shown[-1]) >= wanted:
            shown.append(one)
    axes.set_xticks(shown, [f"{one:,}" for one in shown])
    axes.set_xticks([], minor=True)


def _legend(canvas: Canvas, panel: Panel) -> None:
    labels = _labels(panel)
    if len(labels) == 1 and panel.lines[0].growth is None:
        return
    has_exponent = any(one.growth is not None and one.growth.exponent is not None for one in panel.lines)
    canvas.legend(
        f"time ~ {panel.axis}^b, with the 95 % CI of b" if has_exponent else "",
        columns=2 if max(map(len, labels)) <= _SHORT_LABEL else 1,
    )
