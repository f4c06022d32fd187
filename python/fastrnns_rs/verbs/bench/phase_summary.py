"""Summary of a phase.

The point estimate and the interval are computed from process medians, the other statistics from all timed samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.documents.replicates import level, levels
from fastrnns_rs.documents.run_file import PhaseSummary
from fastrnns_rs.documents.run_results import RANGE_LEVEL
from fastrnns_rs.stats import effective_sample_size, median_ci, process_ci, summarize

if TYPE_CHECKING:
    from fastrnns_rs.stats import ProcessInterval

_LEAST_FOR_INTERVAL = 3
#: Statistics of all samples of a phase, in nanoseconds.
_DESCRIBED = ("mean", "stddev", "min", "max", "median", "q1", "q3", "p95", "p99", "mad")


def summary(
    replicates: Sequence[Sequence[Sequence[int]]],
    sessions: Sequence[str | None] = (),
    times: Sequence[float] | None = None,
) -> PhaseSummary:
    """Summarises a phase.

    From three sessions on, sessions are the replicates: processes of one session share conditions that differ between
    sessions.

    Args:
        replicates: Timed samples of each process of each replicate, in nanoseconds and in order, never empty. A
            replicate has one process, or one process of each rank.
        sessions: Session of each replicate; empty if unknown.
        times: Time of each replicate, in nanoseconds; None for that of `levels`.
    """
    times = levels(replicates) if times is None else times
    processes = [one for ranks in replicates for one in ranks]
    found = summarize([sample for one in processes for sample in one])
    low: float | None
    high: float | None
    method: str | None
    if len(processes) == 1:
        within = median_ci(processes[0])
        estimate, n_effective, sure = times[0], within.n_effective, within.confidence_level
        low, high, method = within.ci_low, within.ci_high, within.ci_method
        if estimate != within.estimate:
            # The interval is that of the median, and turns of a live process have another time.
            low = high = method = None
    else:
        interval = between(times)
        n_effective = sum(effective_sample_size(one, of="median").n_effective for one in processes)
        if interval is None:
            estimate, low, high, method, sure = found.median, None, None, None, found.confidence_level
        elif len(replicates) == 1:
            # The range of concurrent ranks does not predict the next process.
            estimate, low, high, method, sure = interval.estimate, None, None, None, found.confidence_level
        elif len(replicates) < _LEAST_FOR_INTERVAL:
            estimate, low, high, method, sure = interval.estimate, interval.min, interval.max, "range", RANGE_LEVEL
        elif (between_sessions := _between_sessions(times, sessions)) is not None:
            estimate, sure = between_sessions.estimate, between_sessions.confidence_level
            low, high, method = between_sessions.ci_low, between_sessions.ci_high, "t_log_sessions"
        else:
            estimate, sure = interval.estimate, interval.confidence_level
            low, high, method = interval.ci_low, interval.ci_high, interval.ci_method
    return PhaseSummary(
        n_processes=len(replicates),
        n_samples=found.count,
        n_effective=n_effective,
        estimate_ns=estimate,
        ci_low_ns=low,
        ci_high_ns=high,
        confidence_level=sure,
        ci_method=method,
        **{f"{name}_ns": getattr(found, name) for name in _DESCRIBED},
    )


def between(times: Sequence[float]) -> ProcessInterval | None:
    """Returns the estimate from the times of replicates.

    Returns:
        None if a time is 0, which has no logarithm.
    """
    return process_ci(times) if min(times) > 0 else None


def half_width(times: Sequence[float], sessions: Sequence[str | None]) -> float | None:
    """Returns the relative half width of the interval of a summary.

    Args:
        times: Time of each replicate, in nanoseconds.
        sessions: Session of each replicate; empty if unknown.

    Returns:
        None with fewer than three replicates, or if a time is 0.
    """
    interval = between(times)
    return interval and (_between_sessions(times, sessions) or interval).half_width


def _between_sessions(levels: Sequence[float], sessions: Sequence[str | None]) -> ProcessInterval | None:
    """Returns the estimate from session means; None with fewer than three sessions."""
    found: dict[str, list[float]] = {}
    for session, level_ns in zip(sessions, levels, strict=False):
        if session is not None:
            found.setdefault(session, []).append(level_ns)
    if len(found) < _LEAST_FOR_INTERVAL or sum(map(len, found.values())) < len(levels):
        return None
    return process_ci([level(each) for each in found.values()])
