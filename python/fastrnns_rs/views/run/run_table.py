"""Table of `bench`: times, intervals, processes and memory of each runner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastrnns_rs.documents.run_file import Result
from fastrnns_rs.escaping import visible
from fastrnns_rs.views import kernel_names
from fastrnns_rs.views.figures import aligned, estimate, half_width_percent, mebibytes
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
_NAME, _TIME, _NEXT_TIME, _INTERVAL, _MARK, _PROCESSES, _PEAK = 22, 10, 9, 9, 2, 6, 10
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
    warned = {row for warning in run.warnings for row in warning.rows}
    # The precision rule does not fix the number of processes.
    planned = None if run.plan.stop.rule == "precision" else run.plan.processes
    return [row(one, None if run.status == "complete" else planned, warned) for one in run.results]


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
        if min(max(wanted, _LEAST_NAME), longest) + _width(columns) > limit:
            columns = [column for column in columns if column.kind != kind]
    room = max(_LEAST_NAME, min(max(_NAME, wanted), limit - _width(columns)))
    names = kernel_names.shortened([(one.name, one.name) for one in shown], room) if shown else []
    found = [
        Line(_joined("", room, [(column.above, column) for column in columns]), "bold"),
        Line(_joined("runner", room, [(column.heading, column) for column in columns]), "bold"),
    ]
    for index, (text, one) in enumerate(zip(names, shown, strict=True)):
        if one.result is not None and one.result.status != "ok":
            found += _failure(text, one.result, room, limit)
        else:
            found.append(Line(_joined(text, room, [(column.cells[index], column) for column in columns])))
    return found


@dataclass(frozen=True, slots=True)
class Column:
    """Column of numbers.

    Attributes:
        heading: Heading.
        kind: Kind of column, for the choice of columns on a narrow terminal.
        width: Width, with the gap before the column.
        cells: Text of each row.
        above: Heading of the line above.
    """

    heading: str
    kind: str
    width: int
    cells: list[str]
    above: str = ""


def make_columns(shown: Sequence[Row]) -> list[Column]:
    """Returns all columns but the names."""
    phases = [_Phase(phase, shown) for phase in _PHASES if _is_shown(phase, shown)]
    columns = [column for number, phase in enumerate(phases) for column in phase.columns(first=number == 0)]
    # The column of marks is the gap before the numbers of processes.
    counts = [one.processes for one in shown]
    peaks = [_NONE if one.result is None else _peak(one.result) for one in shown]
    columns += [
        Column("procs", "processes", _fitting(_PROCESSES, counts, gap=0), counts),
        Column("peak MiB", "peak", _fitting(_PEAK, peaks), peaks),
    ]
    return columns


def _fitting(least: int, cells: Iterable[str], gap: int = 2) -> int:
    """Returns the width of a column, with a gap before its cells."""
    return max(least, gap + max(map(width, cells), default=0))


def _width(columns: Iterable[Column]) -> int:
    return sum(column.width for column in columns)


def _joined(text: str, room: int, cells: Iterable[tuple[str, Column]]) -> str:
    return (pad(text, room) + "".join(pad(cell, column.width, right=True) for cell, column in cells)).rstrip()


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

    def columns(self, *, first: bool) -> list[Column]:
        """Returns the times, the intervals, and the marks of warnings."""
        times = aligned([_NONE if one is None else self._time(one) for one in self._found])
        room = _fitting(_TIME if first else _NEXT_TIME, times)
        marks = [" !" if self._phase in one.marked else "" for one in self._shown]
        return [
            Column(self._scale.unit, "time", room, times, self._phase),
            Column("95 % CI", "interval", _INTERVAL, [*map(self._interval, self._found)]),
            Column("", "mark", _MARK, marks),
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
