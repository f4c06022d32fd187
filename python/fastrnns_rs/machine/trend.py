"""Trend over positions in a run: Kendall's test and the median slope."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from fastrnns_rs.stats import quantiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """Trend of logarithms over their position.

    Attributes:
        count: Number of levels.
        score: Pairs of levels of which the later is higher, minus the pairs of which the later is lower.
        variance: Variance of the score if order does not matter.
        slopes: Change of the logarithm per position, for each pair.
    """

    count: int
    score: int
    variance: float
    slopes: list[float]

    @property
    def tau(self) -> float:
        """Kendall's rank correlation; 1 if every later level is higher."""
        return self.score / len(self.slopes) if self.slopes else 0.0

    @property
    def p_value(self) -> float:
        """Two-sided p-value, from the normal distribution with continuity correction.

        It is conservative for a handful of levels.
        """
        return math.erfc(max(0, abs(self.score) - 1) / math.sqrt(2 * self.variance)) if self.variance else 1.0

    @property
    def slope(self) -> float:
        """Median change of the logarithm per position (Theil and Sen); 0 without pairs."""
        return quantiles(self.slopes, [0.5])[0] if self.slopes else 0.0

    def change(self, places: float) -> float:
        """Returns the relative change over `places` positions, from the median slope."""
        return math.expm1(self.slope * places)


#: Maximum number of levels: there is a slope for each pair.
_MOST_LEVELS = 500


def fit_trend(points: Iterable[tuple[int, float]]) -> Trend:
    """Returns the trend of points: a position, and the logarithm of a level.

    Of more than 500 points, every second, third and so on is used.
    """
    known = sorted(points)
    known = known[:: math.ceil(len(known) / _MOST_LEVELS) or 1]
    score, slopes = 0, []
    for (place, level), (later, other) in combinations(known, 2):
        score += (other > level) - (other < level)
        slopes.append((other - level) / max(1, later - place))
    count = len(known)
    return Trend(count=count, score=score, variance=count * (count - 1) * (2 * count + 5) / 18, slopes=slopes)


def pool_trends(trends: Sequence[Trend]) -> Trend:
    """Pools trends of separate series into one (Hirsch, Slack and Smith, 1982)."""
    return Trend(
        count=sum(one.count for one in trends),
        score=sum(one.score for one in trends),
        variance=sum(one.variance for one in trends),
        slopes=[slope for one in trends for slope in one.slopes],
    )
