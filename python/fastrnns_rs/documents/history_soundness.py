"""Consistency checks of the times over runs in a history."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fastrnns_rs.documents.tolerances import COMPUTED, check_inside, check_number
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
    if point.estimate_ns <= 0:
        raise UsageError(f"{path}.estimate_ns is {point.estimate_ns:.9g}, not above 0")
    check_inside(f"{path}.estimate_ns", point.ci_low_ns, point.estimate_ns, point.ci_high_ns, COMPUTED)


def _check_segments(path: str, trend: Trend) -> None:
    """Checks that segments follow each other, with the levels of their points."""
    begin = 0
    for number, segment in enumerate(trend.segments):
        place = f"{path}.segments[{number}]"
        if segment.begin != begin or not begin < segment.end <= len(trend.points):
            ends = f"{segment.begin} to {segment.end}"
            raise UsageError(f"{place} is from {ends}, not from {begin} to {len(trend.points)} or less")
        logs = [math.log(one.estimate_ns) for one in trend.points[begin : segment.end]]
        check_number(f"{place}.level_ns", segment.level_ns, math.exp(math.fsum(logs) / len(logs)), "its points")
        begin = segment.end
    if trend.segments and begin < len(trend.points):
        raise UsageError(f"{path}.segments end at {begin}, and there are {len(trend.points)} points")
