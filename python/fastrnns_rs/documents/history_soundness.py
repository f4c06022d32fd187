"""Consistency checks of the times over runs in a history."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fastrnns_rs.documents.tolerances import COMPUTED, is_between, is_near
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.documents.history import History
    from fastrnns_rs.documents.history_trends import Trend, TrendPoint

_LEAST_POINTS = 2


def check_history(found: History) -> None:
    """Rejects points outside of their intervals, and segments of other points.

    Raises:
        UsageError: If there is such a point or segment; the message names its path.
    """
    for number, trend in enumerate(found.trends):
        path = f"trends[{number}]"
        if len(trend.points) < _LEAST_POINTS:
            raise UsageError(f"{path}.points has {len(trend.points)} points, and a trend needs {_LEAST_POINTS}")
        for place, point in enumerate(trend.points):
            _check_point(f"{path}.points[{place}]", point)
        _check_segments(path, trend)


def _check_point(path: str, point: TrendPoint) -> None:
    low, value, high = point.ci_low_ns, point.estimate_ns, point.ci_high_ns
    if value <= 0:
        raise UsageError(f"{path}.estimate_ns is {value:.9g}, not above 0")
    if low is not None and high is not None and not is_between(value, low, high, COMPUTED):
        raise UsageError(f"{path}.estimate_ns is {value:.9g}, outside of its interval from {low:.9g} to {high:.9g}")


def _check_segments(path: str, trend: Trend) -> None:
    """Checks that segments follow each other, with the levels of their points."""
    begin = 0
    for number, segment in enumerate(trend.segments):
        place = f"{path}.segments[{number}]"
        if segment.begin != begin or not begin < segment.end <= len(trend.points):
            ends = f"{segment.begin} to {segment.end}"
            raise UsageError(f"{place} is from {ends}, not from {begin} to {len(trend.points)} or less")
        logs = [math.log(one.estimate_ns) for one in trend.points[begin : segment.end]]
        level = math.exp(math.fsum(logs) / len(logs))
        if not is_near(segment.level_ns, level):
            raise UsageError(f"{place}.level_ns is {segment.level_ns:.9g}, and that of its points is {level:.9g}")
        begin = segment.end
    if trend.segments and begin < len(trend.points):
        raise UsageError(f"{path}.segments end at {begin}, and there are {len(trend.points)} points")
