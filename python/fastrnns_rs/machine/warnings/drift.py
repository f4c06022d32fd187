"""Warning about a machine that became slower or faster during the run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.machine.trend import Trend, fit_trend, pool_trends
from fastrnns_rs.machine.warnings.findings import Finding, format_share, report_findings, row_names

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.machine.warnings.timed_samples import TimedRunner

#: Significance level for all runners together, and again for each runner alone, divided by the number of runners. A run
#: without drift causes a warning with a probability below 1 %, which a test checks.
_SIGNIFICANCE = 0.0025
#: Default margin of a verdict: a smaller change is irrelevant, however significant.
_LEAST_CHANGE = 0.01


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
    whole = pool_trends(trends)
    if _is_drift(whole, places, _SIGNIFICANCE):
        amount = f"{counted(whole.count, 'process', 'processes')} of {counted(len(runners), 'runner')}"
        # All runners share the drift, so no row is marked.
        return report_findings("drift", [Finding(f"{_describe_trend(whole, places)}, {amount}", [])])
    share = _SIGNIFICANCE / len(trends)
    found = [
        Finding(f"{runner.name}: {_describe_trend(one, places)}", row_names(runner.name, runner.phases()))
        for runner, one in zip(runners, trends, strict=True)
        if _is_drift(one, places, share)
    ]
    return report_findings("drift", found)


def _trend(runner: TimedRunner) -> Trend:
    return fit_trend((one.order, math.log(sum(one.medians_ns.values()))) for one in runner.replicates())


def _is_drift(trend: Trend, places: int, significance: float) -> bool:
    return trend.p_value <= significance and abs(trend.change(places)) > _LEAST_CHANGE


def _describe_trend(trend: Trend, places: int) -> str:
    change = trend.change(places)
    sign = "-" if change < 0 else "+"
    return (
        f"{sign}{format_share(abs(change))} from first to last, Kendall's tau {trend.tau:.2f}, p = {trend.p_value:.1g}"
    )
