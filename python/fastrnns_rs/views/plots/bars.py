"""Horizontal bars with a name each, and a hatch for each series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.views.plots.drawing import LONGEST_NAME, short_names
from fastrnns_rs.views.plots.style import SMALL

if TYPE_CHECKING:
    from fastrnns_rs.views.plots.drawing import Canvas

#: Inches of a bar, and of what is above and below the bars.
ROW, AROUND = 0.3, 0.8
#: Share of a row that its bars fill.
_FILLED = 0.72


def height(count: int) -> float:
    """Returns the height of a figure with a number of rows, in inches."""
    return AROUND + ROW * max(count, 1)


def draw(
    canvas: Canvas,
    names: Sequence[str],
    series: Sequence[tuple[str, Sequence[float | None], Sequence[str]]],
    label: str,
    *,
    longest: int = LONGEST_NAME,
) -> None:
    """Draws a bar for each row and series, the first row at the top.

    Args:
        canvas: Axes.
        names: Name of each row.
        series: Name of a series, its value in each row (None without a bar), and the text of each bar.
        label: Label of the axis, with the unit.
        longest: Characters of a name; more than usual have smaller letters.
    """
    thickness = _FILLED / max(len(series), 1)
    for number, (title, values, texts) in enumerate(series):
        known = [
            (place, value, text)
            for place, (value, text) in enumerate(zip(values, texts, strict=True))
            if value is not None
        ]
        if not known:
            continue
        offset = (number - (len(series) - 1) / 2) * thickness
        bars = canvas.axes.barh(
            [place + offset for place, *_ in known],
            [value for _, value, _ in known],
            height=thickness,
            color=canvas.color(number),
            hatch=canvas.hatch(number),
            edgecolor=canvas.theme.paper,
            label=title,
        )
        for bar, (*_, text) in zip(bars, known, strict=True):
            canvas.describe(bar, [text])
    canvas.axes.set_yticks(range(len(names)), short_names(names, longest))
    canvas.axes.set_ylim(len(names) - 0.5, -0.5)
    canvas.axes.tick_params(axis="y", length=0)
    if longest > LONGEST_NAME:
        canvas.axes.tick_params(axis="y", labelsize=SMALL)
    canvas.axes.set_xlabel(label)
    canvas.axes.set_xlim(left=0)
    canvas.axes.grid(visible=True, axis="x")
    canvas.axes.set_axisbelow(True)
    if len(series) > 1:
        canvas.legend(columns=len(series))
