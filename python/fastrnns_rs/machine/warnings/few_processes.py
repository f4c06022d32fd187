"""Warnings about too few processes, because the process is the replicate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fastrnns_rs.machine.warnings.timed_samples import name_of
from fastrnns_rs.machine.warnings.warning import caution, listed

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import Notice
    from fastrnns_rs.documents.run_file import Result

HINT = "give --processes 5 or more"


def cautions(results: list[Result]) -> list[Notice]:
    """Returns warnings about runners measured by only one or two processes."""
    return of_counts({name_of(one): one.forward.n_processes for one in results if one.forward is not None})


def of_counts(counts: Mapping[str, int], every: str = "every runner", hint: str = HINT) -> list[Notice]:
    """Returns warnings about numbers from only one or two processes.

    Args:
        counts: Number of processes, by name of the measured item.
        every: Name for all items together, if there are several.
        hint: Hint on running more processes.
    """
    found = []
    if alone := _with(1, counts, every):
        message = (
            "one process says nothing of the next, which may settle elsewhere by more than an interval within one shows"
        )
        found.append(caution("one_process", message, evidence=alone, hint=hint))
    if pairs := _with(2, counts, every):
        message = "two processes give a range; an interval takes three"
        found.append(caution("two_processes", message, evidence=pairs, hint=hint))
    return found


def _with(count: int, counts: Mapping[str, int], every: str) -> str:
    names = [name for name, processes in counts.items() if processes == count]
    return every if len(names) == len(counts) > 1 else listed(names)
