"""Intervals of several rows as bars on one axis, for wide terminals with UTF-8."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite

#: Narrowest and widest bars.
LEAST_ROOM, MOST_ROOM = 24, 48
_ESTIMATE, _INTERVAL, _CENTRE, _BOUND, _CUT_LOW, _CUT_HIGH = "●", "─", "│", "┊", "◂", "▸"
#: An interval may make the axis this many times as long as point estimates and bounds need; the rest is cut.
_MOST_STRETCH = 3.0

#: Lower end, point estimate and upper end; the ends are None without an interval.
Interval = tuple[float | None, float, float | None]


class IntervalBars:
    """Bars of intervals on one axis around 0.

    Args:
        intervals: Interval of each row; None for a row without numbers.
        bounds: Ends of the band around 0, such as a margin; None for no band.
        room: Width of a bar in characters.
    """

    def __init__(self, intervals: Sequence[Interval | None], bounds: tuple[float, float] | None, room: int) -> None:
        self._intervals = intervals
        self._bounds = bounds or ()
        self._room = room
        known = [one for one in intervals if one is not None]
        needed = [0.0, *self._bounds, *(middle for _, middle, _ in known)]
        # A band alone has a length above 0; without one, the widest interval gives the length.
        ends = [end for low, _, high in known for end in (low, high) if end is not None and isfinite(end)]
        least, most = min(needed), max(needed)
        stretch = _MOST_STRETCH * (most - least) or inf
        self.low = max(min(needed + ends), least - stretch)
        self.high = min(max(needed + ends), most + stretch)

    def axis(self) -> str:
        """Returns the line with the marks of 0 and of the band."""
        return self._drawn(None)

    def texts(self) -> list[str]:
        """Returns the bar of each row; empty for a row without numbers."""
        return ["" if one is None else self._drawn(one) for one in self._intervals]

    def _drawn(self, interval: Interval | None) -> str:
        cells = [" "] * self._room
        for bound in self._bounds:
            cells[self._place(bound)] = _BOUND
        cells[self._place(0.0)] = _CENTRE
        if interval is not None:
            low, middle, high = interval
            if low is not None and high is not None:
                first, last = self._place(low), self._place(high)
                cells[first : last + 1] = [_INTERVAL] * (last + 1 - first)
                if low < self.low:
                    cells[first] = _CUT_LOW
                if high > self.high:
                    cells[last] = _CUT_HIGH
            cells[self._place(middle)] = _ESTIMATE
        return "".join(cells).rstrip()

    def _place(self, value: float) -> int:
        length = self.high - self.low
        share = (value - self.low) / length if length > 0 else 0.5
        return round(min(max(share, 0.0), 1.0) * (self._room - 1))
