"""The report of modules that were measured, with what makes their numbers doubtful."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.cautions import replicates
from fastrnns_rs.inductor.document import SCHEMA_VERSION, InductorReport, label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrnns_rs.documents import Notice
    from fastrnns_rs.inductor.document import ModuleRow
    from fastrnns_rs.results import Environment


def report(
    environment: Environment, rows: list[ModuleRow], warnings: Sequence[Notice] = (), hint: str = replicates.HINT
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
        schema="fastrnns-rs/inductor",
        schema_version=SCHEMA_VERSION,
        warnings=[*warnings, *replicates.of_counts(counts, "every module", hint)],
        environment=environment,
        modules=rows,
    )
