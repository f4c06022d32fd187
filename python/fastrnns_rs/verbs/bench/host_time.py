"""Host time next to device time, to find phases that wait for kernel launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fastrnns_rs.documents.replicates import host_median
from fastrnns_rs.documents.run_results import LAUNCH_BOUND

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import PhaseSummary, Process


def with_host_time(summary: PhaseSummary, phase: str, processes: Sequence[Process]) -> PhaseSummary:
    """Adds the host time to a summary, if the processes recorded it.

    Args:
        summary: Summary of a phase.
        phase: `forward` or `backward`.
        processes: Processes behind the summary.
    """
    host = host_median(processes, phase)
    if host is None:
        return summary
    return replace(summary, host_ns=host, launch_bound=host >= LAUNCH_BOUND * summary.median_ns)
