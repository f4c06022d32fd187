"""Details of a run for `--wide`: spread, samples, warm-up and compiling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.escaping import visible
from fastrnns_rs.stats import quantiles
from fastrnns_rs.views import kernel_names
from fastrnns_rs.views.figures import change_with_unit
from fastrnns_rs.views.interval_bars import LEAST_ROOM, Interval, IntervalBars
from fastrnns_rs.views.run.run_table import interval_ends, name
from fastrnns_rs.views.scale import Scale
from fastrnns_rs.views.screen import Line, wrapped_lines
from fastrnns_rs.views.text import pad, width
from fastrnns_rs.views.units import significant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fastrnns_rs.documents.run_file import PhaseSummary, Result, Run

_NONE = "-"
#: Part of the note of runners that execute the same code.
_SAME_CODE = "the same code path"
_STOPPED = {
    "count": "every process ran its number of iterations",
    "time": "every process was timed as long as planned, or for its maximum number of iterations",
    "precision": "every interval is narrow enough",
    "decided": "every row that did not fail has a verdict",
    "interrupt": "the run was interrupted",
}
_GAP = 2
_LEAST_NAME = 8


def lines(run: Run, limit: int, *, bars: bool = False) -> list[Line]:
    """Returns a row for each phase, then compile times, notes and the stopping rule.

    Args:
        run: Run.
        limit: Width of the terminal.
        bars: True adds intervals as bars, which are no ASCII, if they fit.
    """
    phases = [phase for result in run.results for phase in (result.forward, result.backward) if phase is not None]
    times = Scale(phase.mean_ns for phase in phases)
    first = Scale(filter(None, (result.first_call_ns() for result in run.results)))
    headings = ["runner/phase", *(f"{one} {times.unit}" for one in ("mean", "sd", "95 % CI"))]
    headings += ["samples", f"first {first.unit}", "warm-up"]
    rows = [cells for result in run.results for cells in _rows(result, times, first)]
    if bars and rows:
        heading, drawn = _bars(phases)
        headings.append(heading)
        rows = [[*cells, bar] for cells, bar in zip(rows, drawn, strict=True)]
    found = _table(headings, rows, limit) if rows else []
    texts = [*compile_times(run), *_notes(run), *_order(run)]
    return [*found, *wrapped_lines(texts, limit)]


def compile_times(run: Run) -> Iterator[str]:
    """Yields a line with compile times, as medians of processes."""
    each = []
    for one in run.results:
        done = [process.compile for process in one.processes if process.status == "ok"]
        known = [cost for cost in done if cost.graph_breaks is not None]
        cold = [cost.cold_ns for cost in known if cost.cold_ns is not None]
        warm = [cost.warm_ns for cost in known if cost.warm_ns is not None]
        if not cold and not warm:
            continue
        texts = [f"{_seconds(durations)} s {kind}" for kind, durations in (("cold", cold), ("warm", warm)) if durations]
        breaks = max(cost.graph_breaks or 0 for cost in known)
        again = max(cost.recompilations or 0 for cost in known)
        texts += [counted(breaks, "graph break")] if breaks else []
        texts += [f"{counted(again, 'recompilation')} in the loop"] if again else []
        each.append(f"{visible(name(one))} {', '.join(texts)}")
    if each:
        yield f"compile time: {'; '.join(each)}"


def same_code(run: Run) -> Iterator[str]:
    """Yields the notes of runners whose code another runner of the run shares.

    The runners have the same note, which is shown once. The rows of a sweep may have different notes. Other notes are
    part of the details.
    """
    runners, seen = {one.runner for one in run.results}, set[str]()
    for one in run.results:
        if one.note is None or one.note in seen:
            continue
        if any(word in runners and word != one.runner for word in one.note.replace(",", " ").split()):
            seen.add(one.note)
            yield f"note: {visible(one.runner)}: {visible(one.note)}"


def _rows(result: Result, times: Scale, firsts: Scale) -> Iterator[list[str]]:
    for phase in ("forward", "backward"):
        found: PhaseSummary | None = getattr(result, phase)
        if found is None:
            continue
        first = result.first_call_ns() if phase == "forward" else None
        yield [
            f"{name(result)}/{phase}",
            significant(found.mean_ns / times.ns),
            _NONE if found.stddev_ns is None else significant(found.stddev_ns / times.ns),
            _interval(found, times),
            f"{found.n_samples:,}",
            "" if first is None else significant(first / firsts.ns),
            visible(result.warmup_class or _NONE) if phase == "forward" else "",
        ]


def _bars(phases: Sequence[PhaseSummary]) -> tuple[str, list[str]]:
    """Returns the heading and the bars of intervals relative to their estimates."""
    intervals = [_relative(one) for one in phases]
    drawn = IntervalBars(intervals, None, LEAST_ROOM)
    low, high = (change_with_unit(1 + end) for end in (drawn.low, drawn.high))
    return f"CI: {low} to {high}", drawn.texts()


def _relative(one: PhaseSummary) -> Interval | None:
    low, high = interval_ends(one)
    if low is None or high is None or one.estimate_ns <= 0:
        return None
    return low / one.estimate_ns - 1, 0.0, high / one.estimate_ns - 1


def _interval(found: PhaseSummary, times: Scale) -> str:
    low, high = interval_ends(found)
    if low is None or high is None:
        return _NONE
    return f"[{significant(low / times.ns)}, {significant(high / times.ns)}]"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], limit: int) -> list[Line]:
    """Returns the rows below their headings.

    Columns that do not fit are left out, from the right.
    """
    count = len(headings)
    widths = [max(width(visible(row[column])) for row in (headings, *rows)) for column in range(count)]
    while count > 1 and min(widths[0], 4 * _LEAST_NAME) + sum(one + _GAP for one in widths[1:count]) > limit:
        count -= 1
    room = max(_LEAST_NAME, min(widths[0], limit - sum(one + _GAP for one in widths[1:count])))
    names = kernel_names.shortened([(row[0], row[0]) for row in rows], room)
    found = [Line(_joined(headings[0], headings, room, widths[:count]), "bold")]
    return [*found, *(Line(_joined(text, row, room, widths[:count])) for text, row in zip(names, rows, strict=True))]


def _joined(text: str, row: Sequence[str], room: int, widths: Sequence[int]) -> str:
    last = len(row) - 1
    cells = [pad(row[column], one, right=column != last) for column, one in enumerate(widths) if column]
    return (" " * _GAP).join([pad(text, room), *cells]).rstrip()


def _notes(run: Run) -> Iterator[str]:
    """Yields each runner's note once, because the rows of a sweep repeat it."""
    shared = {*same_code(run)}
    notes = dict.fromkeys((one.runner, one.note) for one in run.results if one.note is not None)
    for runner, note in notes:
        # A note on equal code says nothing about a run of one of the runners.
        if _SAME_CODE in note and not shared:
            continue
        yield f"note: {visible(runner)}: {visible(note)}"


def _order(run: Run) -> Iterator[str]:
    if run.plan.order_seed is not None:
        yield f"order of processes: random, --order-seed {run.plan.order_seed}"
    if run.plan.stopped_by is not None:
        rule = visible(run.plan.stopped_by)
        share = _widest(run)
        widest = "" if share is None else f"; widest 95 % CI ±{_percent(share)}"
        reason = _STOPPED.get(run.plan.stopped_by, "unknown rule")
        if (run.plan.stop.rule, run.plan.stopped_by) == ("precision", "time"):
            reason = "the time limit came before every interval was confirmed to be narrow enough"
        elif (run.plan.stop.rule, run.plan.stopped_by) == ("decided", "count"):
            reason = "the largest number of pairs came before every row had a verdict"
        yield f"stopped by {rule}: {reason}{widest}"


def _widest(run: Run) -> float | None:
    """Returns the widest relative half width of an interval; None if one is missing."""
    if run.plan.precision is None:
        return None
    phases = [phase for one in run.results for phase in (one.forward, one.backward) if phase is not None]
    widths = [
        one.ci_high_ns / one.estimate_ns - 1 for one in phases if one.ci_high_ns is not None and one.estimate_ns > 0
    ]
    return max(widths) if widths and len(widths) == len(phases) else None


def _seconds(durations_ns: list[int]) -> str:
    return f"{quantiles(durations_ns, [0.5])[0] / 1e9:.3g}"


def _percent(share: float) -> str:
    percent = 100 * share
    return f"{percent:.1f} %" if round(percent, 1) < 10 else f"{percent:.0f} %"  # noqa: PLR2004  # two digits suffice
