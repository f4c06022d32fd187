"""Ticks of all axes with numbers.

Labels are few, never lie on each other, and have neither an exponent nor an offset.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from matplotlib.ticker import AutoLocator, FuncFormatter, Locator, LogLocator, MaxNLocator, NullLocator

from fastrnns_rs.views.plots.drawing import MOST_TICKS
from fastrnns_rs.views.plots.prompt_figure import PromptFigure
from fastrnns_rs.views.plots.style import FONT_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

#: A logarithmic axis up to this ratio has evenly spaced labels.
_NARROW = 4.0
#: Points of a character, of the gap between two labels, and of a line of text, of labels of one point.
_CHARACTER, _GAP, _LINE = 0.62, 0.8, 1.5
#: Part of a figure that its axes fill at least.
_FILLED = 0.55
_POINTS_PER_INCH = 72


def set_ticks(axes: Axes) -> None:
    """Sets the ticks of the axes that have automatic ticks.

    The plot places those of names itself.
    """
    for axis in (axes.xaxis, axes.yaxis):
        if type(axis.get_major_locator()) in {AutoLocator, LogLocator}:
            axis.set_major_locator(FittingLocator())
            axis.set_major_formatter(FuncFormatter(lambda value, _: plain_number(value)))
            axis.set_minor_locator(NullLocator())


def plain_number(value: float) -> str:
    """Formats the number of a tick.

    >>> plain_number(0.5), plain_number(100000.0), plain_number(0.1 + 0.2)
    ('0.5', '100,000', '0.3')
    """
    return f"{value:,.10g}" if 1e-9 <= abs(value) < 1e9 else f"{value:g}"  # noqa: PLR2004  # shorter than an exponent


class FittingLocator(Locator):
    """Places of at most 6 ticks, as many as have room for their labels."""

    def __call__(self) -> Sequence[float]:
        """Returns the places for the shown part of the axis."""
        low, high = sorted(self._axis().get_view_interval())
        return self.tick_values(low, high)

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        """Returns the places between two numbers."""
        axis = self._axis()
        is_log = axis.get_scale() == "log" and vmin > 0
        shortest: Sequence[float] = []
        for places in _candidates(vmin, vmax, is_log=is_log):
            inside = [one for one in places if vmin <= one <= vmax]
            if 2 <= len(inside) <= MOST_TICKS and self._fit(inside, vmin, vmax, is_log=is_log):  # noqa: PLR2004  # two labels have a scale
                return inside
            shortest = inside[:1] or shortest
        return shortest

    def _fit(self, places: Sequence[float], low: float, high: float, *, is_log: bool) -> bool:
        """Returns True if no label lies on its neighbour."""
        size = FONT_SIZE - 1
        transform = math.log if is_log else float
        begin, whole = transform(low), transform(high) - transform(low)
        at = [self._length() * (transform(one) - begin) / whole for one in places]
        if self._place():
            return all(after - before >= _LINE * size for before, after in pairwise(at))
        half = [_CHARACTER * size * len(plain_number(one)) / 2 for one in places]
        return all(at[one + 1] - at[one] >= half[one] + half[one + 1] + _GAP * size for one in range(len(places) - 1))

    def _length(self) -> float:
        """Returns the length of the axis in points.

        In a figure of its own, ticks do not depend on the layout, which measures them.
        """
        axes, place = self._axis().axes, self._place()
        if isinstance(axes.figure, PromptFigure):
            return float(_FILLED * axes.figure.get_size_inches()[place] * _POINTS_PER_INCH)
        return float((axes.bbox.width, axes.bbox.height)[place] * _POINTS_PER_INCH / axes.figure.dpi)

    def _axis(self) -> Axis:
        return cast("Axis", self.axis)

    def _place(self) -> int:
        """Returns 0 for a horizontal axis, and 1 for a vertical one."""
        return int(self._axis() is self._axis().axes.yaxis)


def _candidates(low: float, high: float, *, is_log: bool) -> Iterator[Sequence[float]]:
    """Yields places of ticks, the closest first."""
    if is_log and high > _NARROW * low:
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        decades = range(first, last + 1)
        for factors in ((1, 2, 5), (1, 3), (1,)):
            yield [factor * 10.0**one for one in decades for factor in factors]
        for step in (2, 3, 4, 6, 12, 24, 48, 96):
            yield [10.0**one for one in decades if one % step == 0]
    if math.isfinite(high - low):
        for count in range(MOST_TICKS, 0, -1):
            yield [float(one) for one in MaxNLocator(count, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)]
