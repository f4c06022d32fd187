"""Times over runs that contradict themselves: a history with them is refused."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from page_documents import history

from fastrnns_rs.documents.history import History
from fastrnns_rs.errors import UsageError

#: Name of the first trend.
TREND = "cudnn/backward"
#: Changes of a trend, and the messages.
CHANGES: dict[str, tuple[Callable[[Any], object], str]] = {
    "no points": (lambda trend: trend.update(points=[]), "points has 0 points, and a trend needs 2"),
    "a segment of other points": (
        lambda trend: trend["segments"][-1].update(end=10**15),
        "segments[1] is from 9 to 1000000000000000, not from 9 to 14 or less",
    ),
    "a segment before the points": (
        lambda trend: trend["segments"][0].update(begin=-5),
        "segments[0] is from -5 to 9, not from 0 to 14 or less",
    ),
    "points without a segment": (
        lambda trend: trend["segments"].pop(),
        "segments end at 9, and there are 14 points",
    ),
    "another level": (
        lambda trend: trend["segments"][0].update(level_ns=5.0),
        "segments[0].level_ns is 5, and that of its points is ",
    ),
    "no time": (lambda trend: trend["points"][3].update(estimate_ns=0.0), "points[3].estimate_ns is 0, not above 0"),
    "a time outside of its interval": (
        lambda trend: trend["points"][3].update(ci_low_ns=5e9, ci_high_ns=6e9),
        "outside of its interval from 5e+09 to 6e+09",
    ),
    "an interval with one end": (
        lambda trend: trend["points"][3].update(ci_low_ns=None),
        "points[3].ci_low_ns is null, and ci_high_ns is not",
    ),
    "a spread below 0": (
        lambda trend: trend.update(session_stddev=-0.5),
        "session_stddev is -0.5, not a number from 0 to 1e200",
    ),
    "no segments": (lambda trend: trend.update(segments=[]), "segments end at 0, and there are 14 points"),
    "a short segment": (
        lambda trend: cut(trend, 2, 9, 14),
        "segments[0] has fewer than 3 points",
    ),
    "a change among few points": (
        lambda trend: (trend.update(points=trend["points"][:7]), cut(trend, 3, 7)),
        "segments has a change, and 7 points, not 8",
    ),
    "a run twice": (
        lambda trend: trend["points"][1].update(run_id=f"{0:032x}"),
        f"points[1].run_id is '{0:032x}', which has a point already",
    ),
    "another run": (
        lambda trend: trend["points"][1].update(run_id="x"),
        "points[1].run_id is 'x', which is not among the runs with times",
    ),
    "points in another order": (
        lambda trend: trend["points"].reverse() or trend.update(segments=[]),
        "points are not in the order of runs",
    ),
    "the commit of another run": (
        lambda trend: trend["points"][1].update(commit="0123456"),
        "points[1].commit is '0123456', and that of its run is 'c0ffee'",
    ),
    "tags of another run": (
        lambda trend: trend["points"][1].update(tags=["v2"]),
        "points[1].tags is ",
    ),
    "the name of another runner": (
        lambda trend: trend.update(name="jit/forward"),
        f"name is 'jit/forward', and its points are of '{TREND}'",
    ),
    "the name of a longer phase": (
        lambda trend: trend.update(name=f"{TREND}s"),
        f"name is '{TREND}s', and its points are of '{TREND}'",
    ),
    "more sessions than processes": (
        lambda trend: trend.update(n_sessions=10_000),
        "n_sessions is 10000, and the points have ",
    ),
    "a standard deviation of few sessions": (
        lambda trend: trend.update(n_sessions=7),
        "n_sessions is 7, and a standard deviation needs 8",
    ),
}

#: Changes of a history, and the messages.
CHANGED_HISTORIES: dict[str, tuple[Callable[[Any], object], str]] = {
    "times of more runs": (
        lambda found: found.update(n_trend_runs=15),
        "n_trend_runs is 15, and there are 14 runs of bench",
    ),
    "times of a run of ab": (
        lambda found: found["runs"][0].update(verb="ab"),
        "n_trend_runs is 14, and there are 13 runs of bench",
    ),
    "times of older runs": (
        lambda found: found.update(n_trend_runs=13),
        f"trends[0].points[0].run_id is '{0:032x}', which is not among the runs with times",
    ),
    "times of no runs": (
        lambda found: found.update(n_trend_runs=None),
        f"trends[0].points[0].run_id is '{0:032x}', which is not among the runs with times",
    ),
    "a run twice": (
        lambda found: found["runs"].append(found["runs"][-1]),
        "runs has a run twice",
    ),
}


def cut(trend: Any, *ends: int) -> None:
    """Replaces the segments of a trend by others of its points."""
    segments = []
    for begin, end in pairwise((0, *ends)):
        times = [one["estimate_ns"] for one in trend["points"][begin:end]]
        segments.append({"begin": begin, "end": end, "level_ns": statistics.geometric_mean(times)})
    trend.update(segments=segments)


@pytest.fixture(scope="module")
def plain() -> dict[str, Any]:
    return history().to_dict()


@pytest.mark.parametrize("name", CHANGES)
def test_a_trend_that_contradicts_its_points_is_refused(plain: dict[str, Any], name: str) -> None:
    """Pages listed a level for each point of a segment, and took all memory."""
    change, message = CHANGES[name]
    copy = History.from_dict(plain).to_dict()
    change(copy["trends"][0])
    with pytest.raises(UsageError) as raised:
        History.from_dict(copy)
    assert raised.value.message.startswith("trends[0].")
    assert message in raised.value.message


@pytest.mark.parametrize("name", CHANGED_HISTORIES)
def test_a_history_that_contradicts_its_runs_is_refused(plain: dict[str, Any], name: str) -> None:
    """Pages and plots showed times of runs that the history does not have."""
    change, message = CHANGED_HISTORIES[name]
    copy = History.from_dict(plain).to_dict()
    change(copy)
    with pytest.raises(UsageError) as raised:
        History.from_dict(copy)
    assert raised.value.message == message


def test_a_list_of_an_older_build_may_have_a_run_twice(plain: dict[str, Any]) -> None:
    listed = History.from_dict(plain | {"trends": [], "n_trend_runs": None, "runs": plain["runs"] * 2})
    assert len(listed.runs) == 28


def test_a_history_with_other_runs_has_no_times(plain: dict[str, Any]) -> None:
    found = History.from_dict(plain)
    for runs in ([], found.runs[:3]):
        again = History.from_dict(found.with_runs(runs).to_dict())
        assert (len(again.runs), again.trends, again.n_trend_runs) == (len(runs), [], None)
