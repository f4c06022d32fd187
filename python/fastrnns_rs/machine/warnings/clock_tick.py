"""Warning about a clock that is too coarse for the timed phases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.machine.warnings.findings import Finding, format_duration, format_share, report_findings, row_names
from fastrnns_rs.machine.warnings.timed_samples import display_name

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.documents.run_file import PhaseSummary, Result

#: Default margin of a verdict: a single larger tick looks like a relevant difference.
_COARSEST = 0.01


def find_warnings(results: list[Result]) -> list[RunWarning]:
    """Returns a warning that lists the phases that are too short for the clock."""
    coarse = []
    for result in results:
        summaries = {"forward": result.forward, "backward": result.backward}
        for phase, summary in summaries.items():
            if summary is not None and (share := _share(result.timer_resolution_ns, summary)) > _COARSEST:
                tick, whole = format_duration(result.timer_resolution_ns or 0), format_duration(summary.estimate_ns)
                (row,) = row_names(display_name(result), [phase])
                coarse.append(Finding(f"{row}: tick {tick}, time {whole}, {format_share(share)}", [row]))
    return report_findings("coarse_clock", coarse)


def _share(resolution_ns: int | None, summary: PhaseSummary) -> float:
    """Returns the tick as a fraction of the point estimate; 1 for an estimate of 0."""
    if resolution_ns is None or resolution_ns <= 0:
        return 0.0
    return resolution_ns / max(summary.estimate_ns, resolution_ns)
