"""Warnings about GPU times that are easily misread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fastrnns_rs.machine.warnings.timed_samples import name_of
from fastrnns_rs.machine.warnings.warning import duration, of_found
from fastrnns_rs.replicates import counted

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import Notice
    from fastrnns_rs.documents.run_file import PhaseSummary, Result

#: An idle device takes a few microseconds to report that it is idle.
_LEAST_UNJOINED_NS = 50_000
_LEAST_UNJOINED_SHARE = 0.01


def cautions(results: list[Result]) -> list[Notice]:
    """Returns warnings about launch-bound phases and about unjoined work.

    The time of a launch-bound phase is that of its kernel launches. Unjoined work continues after the last phase.
    """
    bound, unjoined = [], []
    for result in results:
        for phase, summary in _phases(result):
            if summary.launch_bound and summary.host_ns is not None:
                times = f"{duration(summary.host_ns)} of calls, {duration(summary.median_ns)} on the GPU"
                bound.append(f"{name_of(result)} {phase}: {times}")
        whole = sum(summary.median_ns for _, summary in _phases(result))
        longest = max((one.unjoined_ns or 0 for ranks in counted(result.processes) for one in ranks), default=0)
        if longest > max(_LEAST_UNJOINED_NS, _LEAST_UNJOINED_SHARE * whole):
            unjoined.append(f"{name_of(result)}: {duration(longest)} after an iteration")
    return [
        *of_found(
            "launch_bound",
            "the CPU takes as long to launch the work as the GPU to do it: these are times of the CPU",
            bound,
            "larger sizes, CUDA graphs or torch.compile; a quicker GPU changes nothing",
        ),
        *of_found(
            "unjoined_work",
            "the GPU works on after the last phase, on streams that nothing waits for; no time includes that",
            unjoined,
            "have the current stream wait for the others: torch.cuda.current_stream().wait_stream(other)",
        ),
    ]


def _phases(result: Result) -> Iterator[tuple[str, PhaseSummary]]:
    for phase, summary in (("forward", result.forward), ("backward", result.backward)):
        if summary is not None:
            yield phase, summary
