"""Table of `bench` in Markdown, for an issue or a README."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from fastrnns_rs.views.run import sweep_tables
from fastrnns_rs.views.run.run_table import name, outcome
from fastrnns_rs.views.table import Column
from fastrnns_rs.views.table import markdown as pipe_table
from fastrnns_rs.views.text import code_cell, code_span
from fastrnns_rs.views.units import mebibytes, milliseconds

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import PhaseSummary, Result, Run

_DASH = "–"


def markdown(run: Run) -> str:
    """Formats the table, then notes and the tables of a sweep.

    Names and reasons are in code spans.
    """
    reserves = any(result.peak_reserved_bytes is not None for result in run.results)
    columns = (*_COLUMNS, _RESERVED) if reserves else _COLUMNS
    rows = [
        [column.text(result) for column in columns]
        if result.status == "ok"
        else [code_cell(name(result)), code_cell(outcome(result))]
        for result in run.results
    ]
    lines = pipe_table(columns, rows)
    if notes := [f"- {code_span(runner)}: {code_span(note)}" for runner, note in _notes(run)]:
        lines += ["", *notes]
    if run.sweep is not None:
        lines += sweep_tables.markdown(run.sweep)
    return "\n".join(lines) + "\n"


def _notes(run: Run) -> Iterable[tuple[str, str]]:
    """Returns runners and their notes, without repetitions between rows of a runner."""
    return dict.fromkeys((_on_side(one), one.note) for one in run.results if one.note is not None)


def _on_side(result: Result) -> str:
    return result.runner if result.side is None else f"{result.runner} ({result.side})"


def _part(heading: str, key: str, show: Callable[[Any], str], none: str = _DASH) -> Column:
    """Returns a column of an optional value: the summary of a phase, or a size."""

    def text(result: Result) -> str:
        found = getattr(result, key)
        return none if found is None else show(found)

    return Column(heading, text, right=True)


def _time(phase: PhaseSummary) -> str:
    """Formats the point estimate, with its interval between processes if known."""
    estimate = milliseconds(phase.estimate_ns)
    if phase.ci_low_ns is None or phase.ci_high_ns is None or phase.n_processes == 1:
        return estimate
    mark = "range " if phase.ci_method == "range" else ""
    return f"{estimate} ({mark}{milliseconds(phase.ci_low_ns)} – {milliseconds(phase.ci_high_ns)})"


_COLUMNS = (
    Column("runner", lambda result: code_cell(name(result))),
    _part("forward, ms (95 % interval)", "forward", _time),
    _part("backward, ms (95 % interval)", "backward", _time),
    _part("processes", "forward", lambda found: str(found.n_processes), "0"),
    _part("samples", "forward", lambda found: str(found.n_samples), "0"),
    _part("peak, MiB", "peak_memory_bytes", mebibytes),
)
#: Only CUDA's allocator reserves memory.
_RESERVED = _part("reserved, MiB", "peak_reserved_bytes", mebibytes)
