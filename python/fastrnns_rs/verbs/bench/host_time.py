"""The host's time beside the device's: whether a phase waits for its launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fastrnns_rs.replicates import median

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import PhaseSummary, Process

#: From this share of the device's time on, the host's calls are what a phase takes.
LAUNCH_BOUND = 0.9


def with_host_time(summary: PhaseSummary, phase: str, processes: Sequence[Process]) -> PhaseSummary:
    """Returns a summary with the host's time, where the processes have it.

    Args:
        summary: Of a phase.
        phase: `forward` or `backward`.
        processes: Those that the summary describes.
    """
    samples = [getattr(one, f"{phase}_host_ns") for one in processes]
    if not samples or None in samples:
        return summary
    host = median([ns for each, one in zip(samples, processes, strict=True) for ns in each[one.steady_from :]])
    return replace(summary, host_ns=host, launch_bound=host >= LAUNCH_BOUND * summary.median_ns)
