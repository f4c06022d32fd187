"""Warnings about GPU times that are easily misread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fastrnns_rs.documents.replicates import counted
from fastrnns_rs.machine.warnings.findings import Finding, format_duration, report_findings, row_names
from fastrnns_rs.machine.warnings.timed_samples import display_name

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.documents.run_file import PhaseSummary, Result

#: The host's time to ask whether a device is idle has been subtracted, but varies by half of this with an H100.
_LEAST_UNJOINED_NS = 100_000
_LEAST_UNJOINED_SHARE = 0.01


def find_warnings(results: list[Result]) -> list[RunWarning]:
    """Returns warnings about launch-bound phases and about unjoined work.

    The time of a launch-bound phase is that of its kernel launches. Unjoined work continues after the last phase.
    """
    bound, unjoined = [], []
    for result in results:
        rows = dict(zip(("forward", "backward"), row_names(display_name(result), ("forward", "backward")), strict=True))
        for phase, summary in _phases(result):
            if summary.launch_bound and summary.host_ns is not None:
                host, device = format_duration(summary.host_ns), format_duration(summary.median_ns)
                bound.append(Finding(f"{rows[phase]}: {host} of launches, {device} on the GPU", [rows[phase]]))
        whole = sum(summary.median_ns for _, summary in _phases(result))
        longest = max((one.unjoined_ns or 0 for ranks in counted(result.processes) for one in ranks), default=0)
        if longest > max(_LEAST_UNJOINED_NS, _LEAST_UNJOINED_SHARE * whole):
            text = f"{display_name(result)}: {format_duration(longest)} after an iteration"
            unjoined.append(Finding(text, [rows[phase] for phase, _ in _phases(result)]))
    return [*report_findings("launch_bound", bound), *report_findings("unjoined_work", unjoined)]


def _phases(result: Result) -> Iterator[tuple[str, PhaseSummary]]:
    for phase, summary in (("forward", result.forward), ("backward", result.backward)):
        if summary is not None:
            yield phase, summary
