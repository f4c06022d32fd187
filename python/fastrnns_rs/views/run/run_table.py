"""Table of `bench`, for terminals and for Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.run import sweep_tables
from fastrnns_rs.views.table import Column, line
from fastrnns_rs.views.table import markdown as pipe_table
from fastrnns_rs.views.text import code_cell, code_span, width
from fastrnns_rs.views.units import mebibytes, milliseconds

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import PhaseSummary, Result, Run

#: Text for a missing number: too few samples, or a runner without a backward pass.
_NONE = "-"
_DASH = "–"


def name(result: Result) -> str:
    """Returns the name of a row: its title and, if the run has two, its side.

    An example is `cudnn (a)`.
    """
    return _on_side(result, result.title)


def _on_side(result: Result, runner: str) -> str:
    return runner if result.side is None else f"{runner} ({result.side})"


def _outcome(result: Result) -> str:
    """Returns `failed: the reason`, or the status alone."""
    return result.status if result.reason is None else f"{result.status}: {result.reason}"


def _number(heading: str, text: Callable[[Result], str]) -> Column:
    return Column(heading, text, right=True)


def _part(heading: str, key: str, show: Callable[[Any], str], none: str = _NONE) -> Column:
    """Returns a column of an optional value: the summary of a phase, or a size."""

    def text(result: Result) -> str:
        found = getattr(result, key)
        return none if found is None else show(found)

    return _number(heading, text)


def _interval(phase: PhaseSummary, mark: str, between: str) -> str | None:
    """Formats the ends of the interval; None if it is unknown.

    `mark` precedes a range of process medians.
    """
    if phase.ci_low_ns is None or phase.ci_high_ns is None:
        return None
    mark = mark if phase.ci_method == "range" else ""
    return f"{mark}{milliseconds(phase.ci_low_ns)}{between}{milliseconds(phase.ci_high_ns)}"


def _times(suffix: str, phase: str) -> list[Column]:
    return [
        _part(f"avg_{suffix}", phase, lambda found: milliseconds(found.mean_ns)),
        _part(f"std_{suffix}", phase, lambda one: _NONE if one.stddev_ns is None else milliseconds(one.stddev_ns)),
        _part(f"info_{suffix}", phase, lambda found: f"n={found.n_samples}"),
    ]


def _estimates(suffix: str, phase: str) -> list[Column]:
    return [
        _part(f"est_{suffix}", phase, lambda found: milliseconds(found.estimate_ns)),
        # Two dots and a colon, instead of a comma or a space, keep an interval one field under any usual separator.
        _part(f"ci95_{suffix}", phase, lambda found: _interval(found, "range:", "..") or _NONE),
    ]


#: Columns of PyTorch's fastrnns, then the unit, the point estimates with their intervals, and details.
_TERMINAL = (
    _number("name", lambda result: visible(name(result))),
    *_times("fwd", "forward"),
    *_times("bwd", "backward"),
    _number("unit", lambda _: "ms"),
    *_estimates("fwd", "forward"),
    *_estimates("bwd", "backward"),
    _part("procs", "forward", lambda found: str(found.n_processes)),
    _number("warmup", lambda result: _NONE if result.warmup_class is None else visible(result.warmup_class)),
    _part("peak_MiB", "peak_memory_bytes", mebibytes),
)
#: These are the widths of fastrnns' name columns, or enough for an interval of two numbers.
_WIDTHS = (16, 9, 9, 9, 9, 9, 9, 4, 9, 18, 9, 18, 5, 15, 8)


class RunTable:
    """Terminal table of a run, whose rows may arrive one by one.

    Args:
        names: Possible runners; the first column is as wide as the longest name.
        separator: Text between two fields.
    """

    def __init__(self, names: Iterable[str], separator: str = " ") -> None:
        self._separator = separator
        self._widths = (max(_WIDTHS[0], *(width(visible(one)) for one in names), 0), *_WIDTHS[1:])

    def header(self) -> str:
        """Returns the line of headings."""
        return self._line([column.heading for column in _TERMINAL])

    def row(self, result: Result) -> str:
        """Returns the line of a result: its numbers, or its status and reason."""
        if result.status != "ok":
            return self._line([visible(name(result)), visible(_outcome(result))])
        return self._line([column.text(result) for column in _TERMINAL])

    def _line(self, cells: list[str | None]) -> str:
        return line(_TERMINAL, cells, self._widths, self._separator)


def terminal(run: Run) -> str:
    """Formats the table, the notes of runners and the tables of a sweep."""
    table = RunTable(map(name, run.results))
    lines = [table.header(), *map(table.row, run.results)]
    lines += [f"note: {visible(runner)}: {visible(note)}" for runner, note in _notes(run)]
    if run.sweep is not None:
        lines += ["", *sweep_tables.lines(run.sweep)]
    return "\n".join(lines) + "\n"


def _time(phase: PhaseSummary) -> str:
    """Formats the point estimate, with its interval if known."""
    interval = _interval(phase, "range ", " – ")
    estimate = milliseconds(phase.estimate_ns)
    return estimate if interval is None else f"{estimate} ({interval})"


_MARKDOWN = (
    Column("runner", lambda result: code_cell(name(result))),
    _part("forward, ms (95 % interval)", "forward", _time, _DASH),
    _part("backward, ms (95 % interval)", "backward", _time, _DASH),
    _part("processes", "forward", lambda found: str(found.n_processes), "0"),
    _part("samples", "forward", lambda found: str(found.n_samples), "0"),
    _part("peak, MiB", "peak_memory_bytes", mebibytes, _DASH),
)
#: Only CUDA's allocator reserves memory.
_RESERVED = _part("reserved, MiB", "peak_reserved_bytes", mebibytes, _DASH)


def markdown(run: Run) -> str:
    """Formats the table for an issue or a README, with notes and a sweep.

    Names and reasons are in code spans.
    """
    reserves = any(result.peak_reserved_bytes is not None for result in run.results)
    columns = (*_MARKDOWN, _RESERVED) if reserves else _MARKDOWN
    rows = [
        [column.text(result) for column in columns]
        if result.status == "ok"
        else [code_cell(name(result)), code_cell(_outcome(result))]
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
    return dict.fromkeys((_on_side(one, one.runner), one.note) for one in run.results if one.note is not None)
