"""Screen of a run: context, table, sweep, details, and the lines after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.documents.replicates import count_planned
from fastrnns_rs.views.figures import span
from fastrnns_rs.views.prose import WIDTH
from fastrnns_rs.views.run import run_details, run_head, run_table, sweep_tables
from fastrnns_rs.views.screen import Line, plain, wrapped_lines

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Run

_BLANK = Line("")
_LEAST_FOR_INTERVAL = 3


def lines(run: Run, limit: int = WIDTH, *, wide: bool = False, bars: bool = False) -> list[Line]:
    """Returns the context and the table of a run, then its sweep and notes.

    Args:
        run: Run.
        limit: Width of the terminal.
        wide: True adds details: standard deviations, samples, warm-up, interval bounds.
        bars: True adds intervals as bars to the details, if the terminal has room and UTF-8.
    """
    found = [*run_head.lines(run, run_head.map_families(run), limit), _BLANK]
    found += run_table.lines(run_table.rows(run), limit)
    if run.sweep is not None:
        found += [_BLANK, *map(Line, sweep_tables.lines(run.sweep, limit))]
    if wide:
        found += [_BLANK, *run_details.lines(run, limit, bars=bars)]
    elif notes := [*run_details.compile_times(run), *run_details.same_code(run)]:
        found += [_BLANK, *wrapped_lines(notes, limit)]
    return found


def text(run: Run) -> str:
    """Returns the screen as text of 80 columns."""
    return plain(lines(run))


def lacks_intervals(run: Run) -> bool:
    """Returns True if all measured runners have too few processes for an interval."""
    measured = [one.forward.n_processes for one in run.results if one.forward is not None]
    return bool(measured) and max(measured) < _LEAST_FOR_INTERVAL


def end(run: Run, seconds: float, place: str, limit: int) -> list[Line]:
    """Returns the lines after the table: amount, duration, and where the run is.

    Args:
        run: Run.
        seconds: Duration of the command.
        place: Sentence about the run's place, as `Saved as @last.`; empty if the run is not kept.
        limit: Width of the terminal.
    """
    processes = [process for one in run.results for process in one.processes]
    count = sum(one.status != "interrupted" for one in processes)
    failed = sum(one.status in {"failed", "timed_out"} for one in processes)
    if run.status == "interrupted":
        of = "" if run.plan.stop.rule in {"precision", "decided"} else f" of {count_planned(run):,}"
        done = sum(one.status == "ok" for one in processes)
        first = f"Interrupted after {done:,}{of} process{'' if of == '' and done == 1 else 'es'}."
    else:
        first = f"{counted(count, 'process', 'processes')} in {span(seconds)}"
        first += f", {failed:,} failed." if failed else "."
    texts = [f"{first} {place}".rstrip()]
    if (run.plan.stop.rule, run.plan.stopped_by) == ("precision", "time"):
        given = run.plan.stop.parameters
        share, limit_s = f"{100 * given.get('half_width', 0.0):g}%", 2 * given.get("limit_seconds", 0.0)
        texts.append(f"hint: ±{share} was not confirmed in time. Use --stop precision:{share}:{limit_s:g}s.")
    if run.status != "interrupted" and lacks_intervals(run) and not run.sides:
        texts.append("hint: Add --processes 5, because a 95 % CI needs 3 processes or more.")
    return wrapped_lines(texts, limit)
