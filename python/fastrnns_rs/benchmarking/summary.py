"""A phase described: its estimate and interval from the medians of processes, the rest from all timed samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.results import PhaseSummary
from fastrnns_rs.stats import effective_sample_size, median_ci, process_ci, summarize

if TYPE_CHECKING:
    from collections.abc import Sequence

#: From two processes there is no interval, only their range: it holds the median of process medians with this chance.
_RANGE_LEVEL = 0.5
_LEAST_FOR_INTERVAL = 3


def summary(processes: Sequence[Sequence[int]]) -> PhaseSummary:
    """Describes a phase.

    Args:
        processes: For each process its timed samples, in nanoseconds and in order; none of them empty.
    """
    found = summarize([sample for one in processes for sample in one])
    low: float | None
    high: float | None
    method: str | None
    if len(processes) == 1:
        within = median_ci(processes[0])
        estimate, n_effective = within.estimate, within.n_effective
        low, high, method, level = within.ci_low, within.ci_high, within.ci_method, within.confidence_level
    else:
        between = process_ci([median(one) for one in processes])
        estimate, level = between.estimate, between.confidence_level
        low, high, method = between.ci_low, between.ci_high, between.ci_method
        n_effective = sum(effective_sample_size(one, of="median").n_effective for one in processes)
        if len(processes) < _LEAST_FOR_INTERVAL:
            low, high, method, level = between.min, between.max, "range", _RANGE_LEVEL
    return PhaseSummary(
        n_processes=len(processes),
        n_samples=found.count,
        n_effective=n_effective,
        estimate_ns=estimate,
        ci_low_ns=low,
        ci_high_ns=high,
        confidence_level=level,
        ci_method=method,
        mean_ns=found.mean,
        stddev_ns=found.stddev,
        min_ns=found.min,
        max_ns=found.max,
        median_ns=found.median,
        q1_ns=found.q1,
        q3_ns=found.q3,
        p95_ns=found.p95,
        p99_ns=found.p99,
        mad_ns=found.mad,
    )


def median(samples: Sequence[int]) -> float:
    """The median of a process's timed samples, in nanoseconds."""
    return summarize(samples).median
