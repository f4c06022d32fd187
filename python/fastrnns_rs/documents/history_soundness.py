"""Consistency checks of the times over runs in a history."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fastrnns_rs.documents.codec import shown
from fastrnns_rs.documents.tolerances import COMPUTED, check_inside, check_number
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.documents.history import History, KeptRun
    from fastrnns_rs.documents.history_trends import Trend, TrendPoint

_LEAST_POINTS = 2
#: A trend of fewer points has no change, and a segment beside another one has at least three.
_LEAST_WITH_CHANGE, _LEAST_SEGMENT = 8, 3
#: Number of sessions from which their standard deviation is known.
_LEAST_SESSIONS = 8


def check_history(found: History) -> None:
    """Rejects points of other runs, and other segments than those of points.

    Raises:
        UsageError: If there is such a point or segment; the message names its path.
    """
    timed = _find_timed(found)
    places = {one.run_id: place for place, one in enumerate(found.runs)}
    for number, trend in enumerate(found.trends):
        path = f"trends[{number}]"
        if len(trend.points) < _LEAST_POINTS:
            raise UsageError(f"{path}.points has {len(trend.points)} points, and a trend needs {_LEAST_POINTS}")
        name = f"{trend.runner}/{trend.phase}"
        # Values that distinguish it from other trends follow.
        if trend.name != name and not trend.name.startswith(f"{name}, "):
            raise UsageError(f"{path}.name is {shown(trend.name)}, and its points are of {shown(name)}")
        processes = sum(one.n_processes for one in trend.points)
        if trend.n_sessions > processes:
            raise UsageError(f"{path}.n_sessions is {trend.n_sessions}, and the points have {processes} processes")
        left = set(timed)
        for place, point in enumerate(trend.points):
            _check_point(f"{path}.points[{place}]", point)
            if point.run_id not in left:
                why = "has a point already" if point.run_id in timed else "is not among the runs with times"
                raise UsageError(f"{path}.points[{place}].run_id is {shown(point.run_id)}, which {why}")
            left.remove(point.run_id)
            _check_run(f"{path}.points[{place}]", point, found.runs[places[point.run_id]])
        order = [places[one.run_id] for one in trend.points]
        if order != sorted(order):
            raise UsageError(f"{path}.points are not in the order of runs")
        _check_segments(path, trend)
        if trend.session_stddev is not None and trend.n_sessions < _LEAST_SESSIONS:
            needed = f"a standard deviation needs {_LEAST_SESSIONS}"
            raise UsageError(f"{path}.n_sessions is {trend.n_sessions}, and {needed}")


def _find_timed(found: History) -> set[str]:
    """Returns the runs that trends were made from: the newest, without those of `ab`."""
    count = found.n_trend_runs
    if count is None:
        # Lists of older builds may have a run twice.
        return set()
    bench = [one.run_id for one in found.runs if one.verb == "bench"]
    if count > len(bench):
        raise UsageError(f"n_trend_runs is {count}, and there are {len(bench)} runs of bench")
    if len({one.run_id for one in found.runs}) < len(found.runs):
        raise UsageError("runs has a run twice")
    return {*bench[len(bench) - count :]}


def _check_run(path: str, point: TrendPoint, run: KeptRun) -> None:
    """Checks that a point has the start, commit, tags and torch of its run."""
    pairs = {"started_utc": run.last_started_utc} | {
        key: getattr(run, key) for key in ("commit", "dirty", "tags", "torch_version")
    }
    for key, known in pairs.items():
        value = getattr(point, key)
        if value != known:
            raise UsageError(f"{path}.{key} is {shown(value)}, and that of its run is {shown(known)}")


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
    if begin < len(trend.points):
        raise UsageError(f"{path}.segments end at {begin}, and there are {len(trend.points)} points")
    if len(trend.segments) == 1:
        return
    if len(trend.points) < _LEAST_WITH_CHANGE:
        raise UsageError(f"{path}.segments has a change, and {len(trend.points)} points, not {_LEAST_WITH_CHANGE}")
    for number, segment in enumerate(trend.segments):
        if segment.end - segment.begin < _LEAST_SEGMENT:
            raise UsageError(f"{path}.segments[{number}] has fewer than {_LEAST_SEGMENT} points")
