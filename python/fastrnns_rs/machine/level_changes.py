"""Changes of level in a short series of runs or processes."""

from __future__ import annotations

from collections.abc import Sequence

from fastrnns_rs.stats import changepoints

#: Fewer points have no change points, and a segment has at least three.
_LEAST_POINTS, _LEAST_SEGMENT = 8, 3
#: Penalty of a change relative to the default. Normal noise alone then has a change in at most about 5 % of cases.
_PENALTY = 2.5


def find_level_changes(logs: Sequence[float]) -> list[int]:
    """Returns the first position of each new level; empty without a change.

    Args:
        logs: Logarithms of levels, in order.
    """
    if len(logs) < _LEAST_POINTS:
        return []
    usual = changepoints(logs, cost="mean", min_size=_LEAST_SEGMENT)
    if usual.penalty == 0:
        return []
    penalty = _PENALTY * usual.penalty
    return changepoints(logs, cost="mean", min_size=_LEAST_SEGMENT, penalty=penalty, optimal=True).positions
