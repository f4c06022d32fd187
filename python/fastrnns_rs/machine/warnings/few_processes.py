"""Warnings about too few processes, because the process is the replicate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fastrnns_rs.documents.measuring_command import with_options
from fastrnns_rs.machine.warnings.findings import Finding, report_findings
from fastrnns_rs.machine.warnings.timed_samples import display_name

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.documents.run_file import Run

#: Defaults of `bench` and `ab`.
_ENOUGH, _ENOUGH_FOR_SIDES = 5, 10


def find_warnings(run: Run) -> list[RunWarning]:
    """Returns warnings about runners measured by only one or two processes."""
    counts = {display_name(one): one.forward.n_processes for one in run.results if one.forward is not None}
    enough = _ENOUGH_FOR_SIDES if run.sides else _ENOUGH
    again = with_options(run.command, {"--processes": str(enough)})
    return check_counts(counts, "every runner", f"Run: {again}" if again else "")


def check_counts(counts: Mapping[str, int], every: str, hint: str = "") -> list[RunWarning]:
    """Returns warnings about numbers from only one or two processes.

    Args:
        counts: Number of processes, by name of the measured item.
        every: Name for all items together, if there are several.
        hint: Hint on running more processes; empty for the hint of `bench`.
    """
    return [
        *report_findings("one_process", _select(1, counts, every), "1 process of ", hint=hint),
        *report_findings("two_processes", _select(2, counts, every), "2 processes of ", hint=hint),
    ]


def _select(count: int, counts: Mapping[str, int], every: str) -> list[Finding]:
    """Returns the items with a number of processes.

    They are one finding if no item has another number of processes.
    """
    names = [name for name, processes in counts.items() if processes == count]
    # Tables show the number of processes of each row, so no row is marked.
    return [Finding(name, []) for name in ([every] if len(names) == len(counts) > 1 else names)]
