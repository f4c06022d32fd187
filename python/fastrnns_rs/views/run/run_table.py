"""Table of `bench`: times, intervals, processes and memory of each runner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastrnns_rs.documents.run_file import Result
from fastrnns_rs.escaping import visible
from fastrnns_rs.views import kernel_names
from fastrnns_rs.views.figures import aligned, estimate, half_width_percent, mebibytes
from fastrnns_rs.views.headed_table import HeadedColumn, row_line, table_lines, total_width
from fastrnns_rs.views.prose import wrapped
from fastrnns_rs.views.scale import Scale
from fastrnns_rs.views.screen import Line, wrapped_lines
from fastrnns_rs.views.text import pad, width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fastrnns_rs.documents.run_file import PhaseSummary, Run

#: Fewer processes have no interval.
_LEAST_FOR_INTERVAL = 3
_NONE = "-"
_PHASES = ("forward", "backward")
#: Widths of the columns, each with the gap before it.
_NAME, _TIME, _NEXT_TIME, _MARK, _PROCESSES = 22, 10, 9, 2, 6
#: Memory and processes give way to names of this width, as those of a sweep; intervals to a shorter name only.
_LONG_NAME, _SHORT_NAME, _LEAST_NAME = 39, 14, 8
#: A reason in less room is on the next line.
_LEAST_REASON = 24


@dataclass(frozen=True, slots=True)
class Row:
    """Row of the table.

    Attributes:
        name: Title of the row, with its side if the run has two.
        result: Results so far; None before the first process.
        processes: Number of processes, or `3 of 5`.
        marked: Phases that a warning concerns.
    """

    name: str
    result: Result | None
    processes: str
    marked: frozenset[str] = frozenset()


def name(result: Result) -> str:
    """Returns the name of a row: its title and, if the run has two, its side.

    An example is `cudnn (a)`.
    """
    return result.title if result.side is None else f"{result.title} ({result.side})"


def outcome(result: Result) -> str:
    """Returns `failed: the reason`, or the status alone."""
    status = result.status.replace("_", " ")
    return status if result.reason is None else f"{status}: {result.reason}"


def rows(run: Run) -> list[Row]:
    """Returns the rows of a run in the order of its results."""
    warned = {phase for warning in run.warnings for phase in warning.rows}
    # These rules do not fix the number of processes.
    planned = None if run.plan.stop.rule in {"precision", "decided"} else run.plan.processes
    return [row(one, None if run.status == "complete" else planned, warned) for one in run.results]


def _is_unfinished(result: Result) -> bool:
    """Returns True if all processes were interrupted, so that none failed."""
    return bool(result.processes) and all(one.status == "interrupted" for one in result.processes)


def row(result: Result, planned: int | None, warned: Iterable[str] = ()) -> Row:
    """Returns the row of a result.

    Args:
        result: Results so far.
        planned: Number of processes that the plan has; None if it is not fixed, or does not matter any more.
        warned: Rows that warnings concern, as `cudnn/backward`.
    """
    done = 0 if result.forward is None else result.forward.n_processes
    text = f"{done:,}" if planned is None or done >= planned else f"{done:,} of {planned:,}"
    marked = frozenset(phase for phase in _PHASES if f"{name(result)}/{phase}" in {*warned})
    return Row(name(result), result, text, marked)


def lines(shown: Sequence[Row], limit: int) -> list[Line]:
    """Returns the table: two lines of headings, then the rows.

    On a narrow terminal, the memory, the processes and the intervals are left out, in this order. Names that are too
    long are shortened.
    """
    columns = make_columns(shown)
    wanted = max((width(visible(one.name)) for one in shown), default=0)
    for kind, longest in (("peak", _LONG_NAME), ("processes", _LONG_NAME), ("interval", _SHORT_NAME)):
        if min(max(wanted, _LEAST_NAME), longest) + total_width(columns) > limit:
            columns = [column for column in columns if column.kind != kind]
    room = max(_LEAST_NAME, min(max(_NAME, wanted), limit - total_width(columns)))
    names = kernel_names.shortened([(one.name, one.name) for one in shown], room) if shown else []
    found = table_lines(["", "runner"], room, columns)
    for number, (text, one) in enumerate(zip(names, shown, strict=True), len(found)):
        if one.result is not None and one.result.status != "ok" and not _is_unfinished(one.result):
            found += _failure(text, one.result, room, limit)
        else:
            found.append(row_line(text, room, columns, number))
    return found


def make_columns(shown: Sequence[Row]) -> list[HeadedColumn]:
    """Returns all columns but the names."""
    phases = [_Phase(phase, shown) for phase in _PHASES if _is_shown(phase, shown)]
    columns = [column for number, phase in enumerate(phases) for column in phase.columns(first=number == 0)]
    # The column of marks is the gap before the numbers of processes; a mark in it must not touch `3 of 5`.
    gap = int(any(one.marked for one in shown))
    counts = [one.processes for one in shown]
    peaks = [_NONE if one.result is None else _peak(one.result) for one in shown]
    columns += [
        HeadedColumn(("", "procs"), counts, kind="processes", least=_PROCESSES, gap=gap),
        HeadedColumn(("", "peak MiB"), peaks, kind="peak"),
    ]
    return columns


def _is_shown(phase: str, shown: Sequence[Row]) -> bool:
    """Returns False for a backward that no measured runner has."""
    measured = [one.result for one in shown if one.result is not None and one.result.status == "ok"]
    return phase == "forward" or not measured or any(one.backward is not None for one in measured)


class _Phase:
    """Columns of a phase: times in one unit, and intervals.

    Args:
        phase: `forward` or `backward`.
        shown: Rows of the table.
    """

    def __init__(self, phase: str, shown: Sequence[Row]) -> None:
        self._phase = phase
        self._shown = shown
        found = [None if one.result is None else getattr(one.result, phase) for one in shown]
        self._found: list[PhaseSummary | None] = found
        self._scale = Scale([one.estimate_ns for one in self._found if one is not None])

    def columns(self, *, first: bool) -> list[HeadedColumn]:
        """Returns the times, the intervals, and the marks of warnings."""
        times = aligned([_NONE if one is None else self._time(one) for one in self._found])
        least = _TIME if first else _NEXT_TIME
        marks = [" !" if self._phase in one.marked else "" for one in self._shown]
        return [
            HeadedColumn((self._phase, self._scale.unit), times, kind="time", least=least, gap=1),
            HeadedColumn(("", "95 % CI"), [*map(self._interval, self._found)], kind="interval"),
            HeadedColumn(("", ""), marks, kind="mark", least=_MARK, gap=0),
        ]

    def _time(self, one: PhaseSummary) -> str:
        return estimate(one.estimate_ns, *interval_ends(one), self._scale.ns)

    def _interval(self, one: PhaseSummary | None) -> str:
        return "" if one is None else half_width_percent(one.estimate_ns, *interval_ends(one))


def interval_ends(one: PhaseSummary) -> tuple[float | None, float | None]:
    """Returns the ends of the interval; None for too few processes."""
    return (one.ci_low_ns, one.ci_high_ns) if one.n_processes >= _LEAST_FOR_INTERVAL else (None, None)


def _peak(result: Result) -> str:
    return _NONE if result.peak_memory_bytes is None else mebibytes(result.peak_memory_bytes)


def _failure(text: str, result: Result, room: int, limit: int) -> list[Line]:
    """Returns the lines of a runner without results: its name and the reason."""
    start, reason = pad(text, room + _MARK), visible(outcome(result))
    if limit - len(start) < _LEAST_REASON:
        return [Line(text), *wrapped_lines([f"  {reason}"], limit, breaks=True)]
    first, *others = wrapped(reason, limit - width(start), breaks=True)
    return [Line(start + first), *(Line(" " * width(start) + part) for part in others)]
