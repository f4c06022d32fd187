"""The warning of a machine that got slower or faster while the run went on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from fastrnns_rs.machine.warnings.warning import caution, listed
from fastrnns_rs.stats import quantiles

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import Notice
    from fastrnns_rs.machine.warnings.timed_samples import TimedRunner

#: For all runners together, and once more for each on its own, divided by how many they are: a run that does not drift
#: is accused in less than one of a hundred, which a test tries out.
_SIGNIFICANCE = 0.0025
#: The default margin of a verdict: less makes no difference that matters, however sure it is.
_LEAST_CHANGE = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trend:
    """How the processes of some runners changed with their place in the run.

    Attributes:
        processes: How many there are.
        score: Pairs of processes of one runner of which the later is slower, less those of which it is faster.
        variance: That of the score, where order does not matter.
        slopes: For each of the pairs the change of the logarithm, divided by how many places lie between.
    """

    processes: int
    score: int
    variance: float
    slopes: list[float]

    @property
    def tau(self) -> float:
        """Kendall's rank correlation: 1 where every later process is slower."""
        return self.score / len(self.slopes) if self.slopes else 0.0

    @property
    def p_value(self) -> float:
        """Of the normal law with a correction for continuity, which is too careful for a handful of processes."""
        return math.erfc(max(0, abs(self.score) - 1) / math.sqrt(2 * self.variance)) if self.variance else 1.0

    def change(self, places: int) -> float:
        """The relative change over so many places, by the median slope."""
        return math.expm1(quantiles(self.slopes, [0.5])[0] * places) if self.slopes else 0.0


def cautions(runners: list[TimedRunner]) -> list[Notice]:
    """Whether medians of processes follow their place in the run.

    Runners are compared with themselves only. Pairs of all of them make one test (Hirsch, Slack and Smith, *Techniques
    of Trend Analysis for Monthly Water Quality Data*, Water Resources Research 18, 1982, with runners for months); then
    each runner makes one of its own, for what the others do not share.
    """
    trends = [_trend(runner) for runner in runners]
    orders = [one.order for runner in runners for one in runner.replicates()]
    if not orders:
        return []
    places = max(orders) - min(orders)
    whole = _together(trends)
    if _is_drift(whole, places, _SIGNIFICANCE):
        count = len(runners)
        evidence = f"{_told(whole, places)}, {whole.processes} processes of {count} runner{'s' if count > 1 else ''}"
    else:
        named = zip((runner.name for runner in runners), trends, strict=True)
        share = _SIGNIFICANCE / len(trends)
        evidence = listed([f"{name}: {_told(one, places)}" for name, one in named if _is_drift(one, places, share)])
    if not evidence:
        return []
    return [
        caution(
            "drift",
            "the later a process ran, the slower or faster it was",
            evidence=evidence,
            hint="look for heat, clocks and what else runs; compare two sides with ab, which takes turns",
        )
    ]


def _trend(runner: TimedRunner) -> _Trend:
    places = [(one.order, math.log(sum(one.medians_ns.values()))) for one in runner.replicates()]
    score, slopes = 0, []
    for (order, level), (later, other) in combinations(sorted(places), 2):
        score += (other > level) - (other < level)
        slopes.append((other - level) / max(1, later - order))
    count = len(places)
    return _Trend(processes=count, score=score, variance=count * (count - 1) * (2 * count + 5) / 18, slopes=slopes)


def _together(trends: list[_Trend]) -> _Trend:
    return _Trend(
        processes=sum(one.processes for one in trends),
        score=sum(one.score for one in trends),
        variance=sum(one.variance for one in trends),
        slopes=[slope for one in trends for slope in one.slopes],
    )


def _is_drift(trend: _Trend, places: int, significance: float) -> bool:
    return trend.p_value <= significance and abs(trend.change(places)) > _LEAST_CHANGE


def _told(trend: _Trend, places: int) -> str:
    change = trend.change(places)
    return f"{change:+.1%} from first to last, Kendall's tau {trend.tau:.2f}, p = {trend.p_value:.1g}"
