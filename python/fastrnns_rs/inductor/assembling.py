"""The report of modules that were measured, with what makes their numbers doubtful."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.cautions import replicates
from fastrnns_rs.inductor.document import SCHEMA_VERSION, InductorReport

if TYPE_CHECKING:
    from fastrnns_rs.inductor.document import ModuleRow
    from fastrnns_rs.results import Environment

#: Inductor calls modules by hashes of 52 letters, of which the first tell them apart.
_NAME = 20


def report(environment: Environment, rows: list[ModuleRow], hint: str = replicates.HINT) -> InductorReport:
    """The rows as a document; `hint` says how to have them measured by more processes."""
    counts = {f"{one.name[:_NAME]} {one.graph}": one.wall.n_processes for one in rows if one.wall is not None}
    return InductorReport(
        schema="fastrnns-rs/inductor",
        schema_version=SCHEMA_VERSION,
        warnings=replicates.of_counts(counts, "every module", hint),
        environment=environment,
        modules=rows,
    )
