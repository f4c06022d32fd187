"""Checks of one run of `ab --same`: by side, by launch order, and over time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from fastrnns_rs import stats
from fastrnns_rs.documents.self_check import SIGNIFICANCE, CheckName, SelfCheck
from fastrnns_rs.machine.level_changes import find_level_changes
from fastrnns_rs.machine.noise.process_pairs import Phase, ProcessPair, add_phases
from fastrnns_rs.machine.trend import fit_trend
from fastrnns_rs.stats import quantiles

#: Significance level of a trend. Change points have the rest: normal noise has one in about 2 % of runs of 20 pairs.
_TREND_SIGNIFICANCE = 0.005
#: Standard deviations beyond which a level counts as this far, so that one slow pair is no jump.
_MOST_DEVIATIONS = 3.0
#: Standard deviation of a normal distribution in median absolute deviations.
_NORMAL_MAD = 1.4826


def check_run(pairs: Mapping[Phase, Sequence[ProcessPair]]) -> list[SelfCheck]:
    """Checks sides, launch order and time.

    Each check compares what was fixed before the measurement: side `b` with side `a`, as `ab` compares them; the second
    process of each pair with the first; and pairs with later pairs. A drift makes the second process of a pair slower
    too, and is removed from the check of the launch order.

    Args:
        pairs: Pairs of each phase, in the order of the run; at least three.
    """
    time = check_time(add_phases(pairs))
    drift = math.log(time.ratio) if time.finding == "drift" and time.ratio else 0.0
    sides, order = {}, {}
    for phase, each in pairs.items():
        sides[phase] = ([one.baseline_ns for one in each], [one.candidate_ns for one in each])
        first, second = zip(*(one.in_launch_order for one in each), strict=True)
        step = math.exp(-drift / (2 * len(each) - 1))
        order[phase] = ([*first], [time_ns * step for time_ns in second])
    return [check_pairs("sides", sides), check_pairs("launch_order", order), time]


def check_pairs(check: CheckName, phases: Mapping[Phase, tuple[Sequence[float], Sequence[float]]]) -> SelfCheck:
    """Compares the sides of pairs in each phase, by Student's t on differences.

    Args:
        check: Name of the check.
        phases: Times of the first and of the second side, in nanoseconds.
    """
    level = 1 - SIGNIFICANCE / len(phases)
    found = {
        phase: stats.compare_samples(*sides, confidence_level=level, paired=True) for phase, sides in phases.items()
    }
    return choose_phase(check, found)


def choose_phase(
    check: CheckName, found: Mapping[Phase, stats.SampleComparison], n_sessions: int | None = None
) -> SelfCheck:
    """Returns the check of the phase that differs most.

    Without a difference, it is the phase with the widest interval. The p-value is multiplied by the number of phases
    (Bonferroni).
    """
    p_values = {phase: min(1.0, len(found) * (one.p_value or 0.0)) for phase, one in found.items()}
    phase = min(p_values, key=lambda one: p_values[one])
    differs = p_values[phase] <= SIGNIFICANCE and found[phase].ratio != 1
    if not differs:
        phase = max(found, key=lambda one: (found[one].ratio_ci_high or 0) / (found[one].ratio_ci_low or 1))
    one = found[phase]
    return SelfCheck(
        check=check,
        finding="difference" if differs else "none",
        phase=phase,
        ratio=one.ratio,
        ratio_ci_low=one.ratio_ci_low,
        ratio_ci_high=one.ratio_ci_high,
        p_value=p_values[phase],
        n_sessions=n_sessions,
    )


def check_time(pairs: Sequence[ProcessPair]) -> SelfCheck:
    """Searches for a drift or a jump over the run.

    The mean of a pair depends neither on its sides nor on its order. A trend test (Kendall) and change points (PELT)
    search its logarithms. If both a line and levels are possible, the smaller Bayesian information criterion decides.
    """
    logs = [one.log_level for one in pairs]
    trend = fit_trend(enumerate(logs))
    clipped = _clip(logs)
    places = find_level_changes(clipped)
    has_trend = trend.p_value <= _TREND_SIGNIFICANCE
    if not places and not has_trend:
        return SelfCheck(check="time", finding="none", p_value=trend.p_value)
    middle = quantiles([log - trend.slope * place for place, log in enumerate(logs)], [0.5])[0]
    line = _criterion(clipped, [middle + trend.slope * place for place in range(len(logs))], 2)
    ends = [0, *places, len(logs)]
    steps = [
        level
        for level, (begin, end) in zip(_levels(clipped, ends), pairwise(ends), strict=True)
        for _ in range(begin, end)
    ]
    if not places or line <= _criterion(clipped, steps, 2 * len(places) + 1):
        # From the first process to the last, of two in each pair.
        ratio = math.exp(trend.slope * (len(pairs) - 0.5))
        return SelfCheck(check="time", finding="drift", ratio=ratio, p_value=trend.p_value)
    jumps = [after - before for before, after in pairwise(_levels(logs, ends))]
    largest = max(range(len(jumps)), key=lambda one: abs(jumps[one]))
    return SelfCheck(
        check="time",
        finding="jump",
        ratio=math.exp(jumps[largest]),
        p_value=trend.p_value,
        after_process=2 * places[largest],
        n_jumps=len(jumps),
    )


def _levels(logs: Sequence[float], ends: Sequence[int]) -> list[float]:
    """Returns the median of each segment between two neighbouring ends."""
    return [quantiles(logs[begin:end], [0.5])[0] for begin, end in pairwise(ends)]


def _clip(logs: Sequence[float]) -> list[float]:
    middle = quantiles(logs, [0.5])[0]
    limit = _MOST_DEVIATIONS * _NORMAL_MAD * quantiles([abs(one - middle) for one in logs], [0.5])[0]
    return [min(max(one, middle - limit), middle + limit) for one in logs] if limit else [*logs]


def _criterion(logs: Sequence[float], fitted: Sequence[float], parameters: int) -> float:
    """Returns the Bayesian information criterion of a fit with normal residuals."""
    squares = math.fsum((log - one) ** 2 for log, one in zip(logs, fitted, strict=True))
    count = len(logs)
    return count * math.log(squares / count) + parameters * math.log(count) if squares else -math.inf
