"""Who says "faster" or "slower": ours, and the test that others run on pooled samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fastrnns_rs import stats

if TYPE_CHECKING:
    from real_noise.designs import Comparison

#: None for no difference found.
Word = Literal["faster", "slower"] | None


def ours(one: Comparison) -> Word:
    """`compare_samples` on the medians of processes."""
    sides = ([process.median(one.phase) for process in side] for side in (one.baseline, one.candidate))
    verdict = stats.compare_samples(*sides).verdict
    return verdict if verdict in {"faster", "slower"} else None


def mann_whitney(one: Comparison) -> Word:
    """The test of Mann and Whitney at 5 % on all timed samples of a side, as if they were independent."""
    sides = ([x for process in side for x in process.samples[one.phase]] for side in (one.baseline, one.candidate))
    found = stats.mann_whitney(*sides)
    if found.p_value >= 0.05:
        return None
    return "slower" if found.probability > 0.5 else "faster"
