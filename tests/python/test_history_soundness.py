"""Times over runs that contradict themselves: a history with them is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from page_documents import history

from fastrnns_rs.documents.history import History
from fastrnns_rs.errors import UsageError

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
    "a spread below 0": (
        lambda trend: trend.update(session_stddev=-0.5),
        "session_stddev is -0.5, not a number from 0 to 1e200",
    ),
}


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
