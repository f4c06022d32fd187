"""CSV of a run in ns, one line for each runner and phase.

The format is for spreadsheets and programs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents.layout import flat
from fastrnns_rs.views import table
from fastrnns_rs.views.text import spreadsheet
from fastrnns_rs.views.units import plain

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Result, Run

_PHASE = (
    *("n_processes", "n_samples", "estimate_ns", "ci_low_ns", "ci_high_ns", "mean_ns", "stddev_ns", "min_ns", "max_ns"),
    *("median_ns", "q1_ns", "q3_ns", "p95_ns", "p99_ns", "mad_ns"),
)
#: Keys that later run files added are last, so that existing columns keep their place.
_LAST = ("warmup_class", "side", "peak_memory_bytes", "peak_reserved_bytes")


def csv(run: Run) -> str:
    """Formats a run; a failed runner has one line with its reason and no numbers."""
    problem = [field.name for result in run.results[:1] for field in fields(result.problem)]
    heads = ["runner", "group", "phase", "status", "reason", *problem, *_PHASE, "ci_method", *_LAST]
    return table.csv([heads, *(row for result in run.results for row in _rows(result, problem))])


def _rows(result: Result, problem: list[str]) -> Iterator[list[str]]:
    phases = {"forward": result.forward, "backward": result.backward}
    measured = {name: phase for name, phase in phases.items() if phase is not None}
    for name, phase in measured.items() or [("", None)]:
        values = (
            *(result.runner, result.group, name, result.status, result.reason),
            *(getattr(result.problem, key) for key in problem),
            *(getattr(phase, key, None) for key in (*_PHASE, "ci_method")),
            *(getattr(result, key) for key in _LAST),
        )
        yield [_cell(value) for value in values]


def _cell(value: Any) -> str:
    """Formats a value for CSV: all digits of a number, an empty text for None.

    A negative number is not escaped, because it is not a formula.
    """
    if value is None:
        return ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return plain(value)
    return spreadsheet(value if isinstance(value, str) else flat(value))
