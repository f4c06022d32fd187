"""Warnings about recompilation during timing, and about graph breaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.machine.warnings.findings import Finding, report_findings, row_names
from fastrnns_rs.machine.warnings.timed_samples import display_name

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.documents.run_file import Compile, Result


def find_warnings(results: list[Result]) -> list[RunWarning]:
    """Returns warnings about runners that recompiled or have graph breaks."""
    return [
        *report_findings("recompiled", _count(results, "recompilation", lambda fact: fact.recompilations)),
        *report_findings("graph_breaks", _count(results, "graph break", lambda fact: fact.graph_breaks)),
    ]


def _count(results: list[Result], event: str, count: Callable[[Compile], int | None]) -> list[Finding]:
    """Returns the runners with a count above 0, and their largest count.

    Only successful processes are counted.
    """
    found = []
    for result in results:
        most = max((count(one.compile) or 0 for one in result.processes if one.status == "ok"), default=0)
        if most:
            name = display_name(result)
            phases = ["forward", *([] if result.backward is None else ["backward"])]
            found.append(Finding(f"{name}: {counted(most, event)}", row_names(name, phases)))
    return found
