"""Limits of axes: chosen by point estimates and medians.

A wide interval does not press the marks together: it is cut, and an arrow marks its end.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from fastrnns_rs.views.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastrnns_rs.views.plots.drawing import Canvas

#: Times whose range exceeds this factor have a logarithmic axis, unless the plot names another factor.
WIDE_RANGE = 20.0
#: A wider range has a linear axis: a logarithmic one would show errors of the file only.
_LARGEST_RANGE = 1e15
#: Factors by which intervals widen a logarithmic axis to each side, at least and at most.
_LEAST_FACTOR, _LARGEST_FACTOR = 2.0, 10.0
#: Share of the longest time by which intervals may widen a linear axis, even if the times are nearer to each other.
_LEAST_ROOM = 0.3
#: Distance of marks from both ends, as a share of the axis.
_PAD = 0.04


def widen(first: float, last: float, ends: Iterable[float], room: float) -> tuple[float, float]:
    """Widens a range by ends of intervals, at most by `room` to each side."""
    known = [*ends]
    return max(min([first, *known]), first - room), min(max([last, *known]), last + room)


class TimeAxis:
    """Axis of times that has all point estimates and medians.

    Intervals widen the axis at most by the range of the times.

    Args:
        times: Point estimates, medians or samples, in ns.
        ends: Ends of intervals, in ns; None for an end that is unknown.
        from_zero: True begins a linear axis at 0.
        wide: Factor between two times from which on the axis is logarithmic.

    Attributes:
        low_ns: Start of the axis.
        high_ns: End of the axis.
        is_log: True for a logarithmic axis.
        scale: Unit of the axis, in which the labels are short.
    """

    __slots__ = ("high_ns", "is_log", "low_ns", "scale")

    def __init__(
        self,
        times: Iterable[float],
        ends: Iterable[float | None] = (),
        *,
        from_zero: bool = False,
        wide: float = WIDE_RANGE,
    ) -> None:
        known = [*times]
        first, last = min(known, default=0.0), max(known, default=0.0)
        far = [one for one in ends if one is not None]
        self.is_log = 0 < wide * first < last <= _LARGEST_RANGE * first
        if self.is_log:
            begin, end = math.log(first), math.log(last)
            room = min(max((end - begin) / 2, math.log(_LEAST_FACTOR)), math.log(_LARGEST_FACTOR))
            begin, end = widen(begin, end, [math.log(one) if one > 0 else -math.inf for one in far], room)
            pad = _PAD * (end - begin)
            self.low_ns, self.high_ns = math.exp(begin - pad), math.exp(end + pad)
            self.scale = Scale([math.exp((begin + end) / 2)])
            return
        start = min(first, 0.0) if from_zero else first
        begin, end = widen(start, last, far, max(last - start, _LEAST_ROOM * abs(last)))
        pad = _PAD * ((end - begin) or abs(last) or 1.0)
        # No time is below 0; a mark at 0 is whole.
        is_free = from_zero and first > pad
        self.low_ns = begin if is_free else max(begin - pad, 0.0) if first > pad else begin - pad
        self.high_ns = end + pad
        self.scale = Scale([max(abs(self.low_ns), abs(self.high_ns)) / (1 + 2 * _PAD)])

    def set(self, canvas: Canvas, axis: Literal["x", "y"]) -> None:
        """Sets scale and limits of the horizontal or the vertical axis.

        Intervals are drawn after that.
        """
        axes = canvas.axes
        set_scale, set_limits = (axes.set_xscale, axes.set_xlim) if axis == "x" else (axes.set_yscale, axes.set_ylim)
        if self.is_log:
            set_scale("log")
        set_limits(self.low_ns / self.scale.ns, self.high_ns / self.scale.ns)


def draw_interval(
    canvas: Canvas,
    axis: Literal["x", "y"],
    place: float,
    ends: tuple[float | None, float | None],
    color: str,
    *,
    unit: float = 1.0,
    width: float = 2.0,
    caps: str = "",
) -> None:
    """Draws an interval along an axis with limits.

    An arrow points to an end beyond the axis.

    Args:
        canvas: Axes.
        axis: Axis of the times.
        place: Place on the other axis.
        ends: Ends of the interval; nothing is drawn without one of the ends.
        color: Colour.
        unit: Size of the unit of the axis.
        width: Width of the line in points.
        caps: Marker of the ends that are on the axis.
    """
    first, last = ends
    if first is None or last is None:
        return
    start, end = first / unit, last / unit
    low, high = sorted(canvas.axes.get_xlim() if axis == "x" else canvas.axes.get_ylim())
    shown = (min(max(start, low), high), max(min(end, high), low))
    line, at = (shown, (place, place)), (place,)
    xs, ys = line if axis == "x" else line[::-1]
    canvas.axes.plot(xs, ys, color=color, linewidth=width, solid_capstyle="butt", marker=caps, markersize=6)
    arrows = "<>" if axis == "x" else "v^"
    for is_beyond, edge, marker in ((start < low, low, arrows[0]), (end > high, high, arrows[1])):
        if is_beyond:
            spot = ((edge,), at) if axis == "x" else (at, (edge,))
            canvas.add_note("An arrow points to the end of an interval beyond the axis.")
            canvas.axes.plot(*spot, marker=marker, color=color, clip_on=False, linestyle="")
