"""Warning about a machine that became slower or faster during the run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.machine.warnings.findings import Finding, format_share, report_findings, row_names
from fastrnns_rs.stats import quantiles

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.machine.warnings.timed_samples import TimedRunner

#: Significance level for all runners together, and again for each runner alone, divided by the number of runners. A run
#: without drift causes a warning with a probability below 1 %, which a test checks.
_SIGNIFICANCE = 0.0025
#: Default margin of a verdict: a smaller change is irrelevant, however significant.
_LEAST_CHANGE = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trend:
    """Trend of the processes of some runners over their position in the run.

    Attributes:
        processes: Number of processes.
        score: Pairs of processes of one runner of which the later is slower, minus the pairs of which the later is
            faster.
        variance: Variance of the score if order does not matter.
        slopes: Change of the logarithm per position, for each pair.
    """

    processes: int
    score: int
    variance: float
    slopes: list[float]

    @property
    def tau(self) -> float:
        """Kendall's rank correlation; 1 if every later process is slower."""
        return self.score / len(self.slopes) if self.slopes else 0.0

    @property
    def p_value(self) -> float:
        """Two-sided p-value, from the normal distribution with continuity correction.

        It is conservative for a handful of processes.
        """
        return math.erfc(max(0, abs(self.score) - 1) / math.sqrt(2 * self.variance)) if self.variance else 1.0

    def change(self, places: int) -> float:
        """Returns the relative change over `places` positions, from the median slope."""
        return math.expm1(quantiles(self.slopes, [0.5])[0] * places) if self.slopes else 0.0


def find_warnings(runners: list[TimedRunner]) -> list[RunWarning]:
    """Returns a warning if process medians follow their position in the run.

    Runners are compared only with themselves. The pairs of all runners form one test (Hirsch, Slack and Smith,
    *Techniques of Trend Analysis for Monthly Water Quality Data*, Water Resources Research 18, 1982, with runners for
    months). Then each runner forms a test, for drift that other runners do not share.
    """
    trends = [_trend(runner) for runner in runners]
    orders = [one.order for runner in runners for one in runner.replicates()]
    if not orders:
        return []
    places = max(orders) - min(orders)
    whole = _together(trends)
    if _is_drift(whole, places, _SIGNIFICANCE):
        amount = f"{counted(whole.processes, 'process', 'processes')} of {counted(len(runners), 'runner')}"
        # All runners share the drift, so no row is marked.
        return report_findings("drift", [Finding(f"{_describe_trend(whole, places)}, {amount}", [])])
    share = _SIGNIFICANCE / len(trends)
    found = [
        Finding(f"{runner.name}: {_describe_trend(one, places)}", row_names(runner.name, runner.phases()))
        for runner, one in zip(runners, trends, strict=True)
        if _is_drift(one, places, share)
    ]
    return report_findings("drift", found)


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


def _describe_trend(trend: _Trend, places: int) -> str:
    change = trend.change(places)
    sign = "-" if change < 0 else "+"
    return (
        f"{sign}{format_share(abs(change))} from first to last, Kendall's tau {trend.tau:.2f}, p = {trend.p_value:.1g}"
    )
