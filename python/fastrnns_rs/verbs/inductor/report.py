"""The report of modules that were measured, with what makes their numbers doubtful."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.documents.inductor_report import InductorReport, label
from fastrnns_rs.machine.warnings import few_processes

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import Notice
    from fastrnns_rs.documents.inductor_report import ModuleRow
    from fastrnns_rs.documents.run_file import Environment


def report(
    environment: Environment, rows: list[ModuleRow], warnings: Sequence[Notice] = (), hint: str = few_processes.HINT
) -> InductorReport:
    """The rows as a document.

    Args:
        environment: The machine and the software.
        rows: A row for each module.
        warnings: What is known already that a reader should know.
        hint: How to have modules measured by more processes.
    """
    counts = {f"{label(one)}": one.wall.n_processes for one in rows if one.wall is not None}
    return InductorReport(
        warnings=[*warnings, *few_processes.of_counts(counts, "every module", hint)],
        environment=environment,
        modules=rows,
    )
