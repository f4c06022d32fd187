"""Statistics of rows that are not judged, and means that differ from medians."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fastrnns_rs.documents.comparison import StatisticChange
from fastrnns_rs.verbs.compare.replication import choose_replication, compare_pair
from fastrnns_rs.verbs.compare.verdicts import STATISTICS, WORDS, ranked

if TYPE_CHECKING:
    from fastrnns_rs import stats
    from fastrnns_rs.verbs.compare.session_spread import Past
    from fastrnns_rs.verbs.compare.side import Level
    from fastrnns_rs.verbs.compare.verdicts import Judged

    Found = stats.SampleComparison | None

#: Largest adjusted p-value of a mean that differs from its median. Its false alarms are rarer than those of verdicts,
#: because no option requests this test.
_MEAN_DIFFERS = 0.01


def add_statistics(judged: Sequence[Judged], margin: float, past: Past | None = None) -> list[Judged]:
    """Adds the statistics that are not judged, and means that differ from medians.

    P-values of all rows and statistics that are not judged are adjusted together, as those of the judged statistic are.
    The mean differs from the median where the ratio of both, a number of each process, changed by more than the
    margin: its adjusted p-value is at most 1 %, and its whole interval lies beyond the margin.

    Args:
        judged: Rows of the comparison.
        margin: Equivalence margin as a share.
        past: Earlier sessions, which show the variance between sessions.
    """
    keys = [(place, name) for place, one in enumerate(judged) for name in STATISTICS if name != _judged_statistic(one)]
    changes = _adjusted([_compare(judged[place], name, margin, past) for place, name in keys])
    named: list[dict[str, StatisticChange]] = [{} for _ in judged]
    for (place, name), (found, adjusted) in zip(keys, changes, strict=True):
        if found is not None:
            named[place][name] = _change(found, adjusted)
    quotients = _adjusted([_compare(one, "mean_to_median", margin, past) for one in judged])
    return [
        replace(
            one,
            row=replace(one.row, median=changed.get("median"), mean=changed.get("mean"), p95=changed.get("p95")),
            mean_to_median=found if found is not None and _is_beyond(found, adjusted, margin) else None,
        )
        for one, changed, (found, adjusted) in zip(judged, named, quotients, strict=True)
    ]


def _judged_statistic(one: Judged) -> Level:
    return one.pair.series.statistic


def _compare(one: Judged, statistic: Level, margin: float, past: Past | None) -> Found:
    pair = one.pair.with_statistic(statistic)
    return compare_pair(pair, choose_replication(pair, past), margin)


def _adjusted(found: Sequence[Found]) -> list[tuple[Found, float | None]]:
    """Returns each comparison with its adjusted p-value; None without a p-value."""
    tested = [one for one in found if one is not None and one.p_value is not None]
    values = iter(ranked([(WORDS[one.verdict], one.p_value or 0.0) for one in tested]))
    return [(one, next(values)[1] if one is not None and one.p_value is not None else None) for one in found]


def _change(found: stats.SampleComparison, adjusted: float | None) -> StatisticChange:
    return StatisticChange(
        baseline_ns=found.baseline,
        candidate_ns=found.candidate,
        ratio=found.ratio,
        ratio_ci_low=found.ratio_ci_low,
        ratio_ci_high=found.ratio_ci_high,
        p_value=found.p_value,
        p_value_adjusted=adjusted,
    )


def _is_beyond(found: stats.SampleComparison, adjusted: float | None, margin: float) -> bool:
    low, high = found.ratio_ci_low, found.ratio_ci_high
    if adjusted is None or adjusted > _MEAN_DIFFERS or low is None or high is None:
        return False
    return low > 1 + margin or high < 1 / (1 + margin)
