"""The machine in figures: how far processes of the pool are apart, and how they drift."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from real_noise.designs import PER_SIDE

from fastrnns_rs import stats

if TYPE_CHECKING:
    from real_noise.pool import Pool, Process


@dataclass(frozen=True)
class Phase:
    """One phase of the pool.

    Attributes:
        estimate_ns: Of the processes without extra work: the geometric mean of their medians.
        spread, spread_more: The standard deviation of log medians between processes, without and with the extra work.
        ratio, ratio_low, ratio_high: What the extra work takes, over the whole pool, with its 95 % interval.
        drift: What a straight line through the log medians gains from the first process to the last.
        next_process: The autocorrelation of medians of processes that follow one another.
        within: Autocorrelation time within a process, in samples; the median over processes.
        samples: Timed samples of a process: the fewest and the most.
        alarms, power: What `detection_power` makes of these spreads for ten processes a side: the share of comparisons
            called faster or slower where nothing differs, and of those called slower where it is the pool's ratio. It
            is for processes without number, of which the pool is a sample.
        required: Processes a side that find the pool's ratio with 90 % power, by `required_processes`.
    """

    estimate_ns: float
    spread: float
    spread_more: float
    ratio: float
    ratio_low: float
    ratio_high: float
    drift: float
    next_process: float
    within: float
    samples: tuple[int, int]
    alarms: float
    power: float
    required: int | None


def of_phase(pool: Pool, phase: str) -> Phase:
    """The figures of one phase."""
    same, more = ([process.median(phase) for process in side] for side in (pool.same, pool.more))
    found = stats.compare_samples(same, more)
    spread, spread_more = found.log_stddev_baseline, found.log_stddev_candidate
    difference = found.ratio - 1
    in_order = sorted(pool.same, key=lambda process: process.order)
    counts = [len(process.samples[phase]) for process in [*pool.same, *pool.more]]
    none = stats.detection_power(spread, PER_SIDE, difference=0.0)
    some = stats.detection_power(spread, PER_SIDE, difference=difference, candidate_spread=spread_more)
    times = [stats.effective_sample_size(process.samples[phase]).autocorrelation_time for process in pool.same]
    return Phase(
        estimate_ns=found.baseline,
        spread=spread,
        spread_more=spread_more,
        ratio=found.ratio,
        ratio_low=found.ratio_ci_low,
        ratio_high=found.ratio_ci_high,
        drift=_drift(in_order, phase),
        next_process=stats.autocorrelation([math.log(one.median(phase)) for one in in_order], max_lag=1)[1],
        within=statistics.median(times),
        samples=(min(counts), max(counts)),
        alarms=none.faster + none.slower,
        power=some.slower if difference > 0 else some.faster,
        required=stats.required_processes(spread, difference=difference, power=0.9).processes,
    )


def _drift(in_order: list[Process], phase: str) -> float:
    orders = [process.order for process in in_order]
    line = statistics.linear_regression(orders, [math.log(process.median(phase)) for process in in_order])
    return math.expm1(line.slope * (orders[-1] - orders[0]))
