"""Page of a run: answer, warnings, times, samples, machine and plan."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fastrnns_rs.counting import counted
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.page import run_answer, run_tables, sweep_section
from fastrnns_rs.views.page.charts import MOST_MARKS, MOST_ROWS
from fastrnns_rs.views.page.facts import facts
from fastrnns_rs.views.page.parts import Article, Command, Facts, Fold, Remarks, Section, Text
from fastrnns_rs.views.plots import run_samples
from fastrnns_rs.views.plots.run_times import measured, phases
from fastrnns_rs.views.prose import start_time
from fastrnns_rs.views.run import run_details, run_head, run_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.views.page.charts import Charts

#: Lines of the context are not wrapped.
_UNLIMITED = 10_000
_READING = (
    "Dot: point estimate. Line: 95 % confidence interval, from three processes on. Ticks: median of each process. "
    "Left is faster."
)


def article(run: Run, charts: Charts) -> Article:
    """Returns the page of a run."""
    name = run.loaded_as or run.run_id[:12]
    status = "" if run.status == "complete" else f" · {run.status}"
    context = [f"{visible(name)} · {start_time(run.created_utc)}{status}"]
    context += [line.text for line in run_head.lines(run, run_head.map_families(run), _UNLIMITED)]
    return Article(
        _title(run),
        context,
        [
            Section("Answer", [*run_answer.sentences(run)]),
            Section("Warnings", [*_warnings(run)]),
            Section("Sweep", [*sweep_section.parts(run, charts)]),
            Section("Times", [*_times(run, charts)]),
            Section("Samples", [*_rows(run, charts)]),
            Section("Start and memory", [*_costs(run, charts)]),
            Section("Machine", [Facts([*facts(run.environment)])]),
            # The context has the runners with their sizes.
            Section("Plan", [Facts([*facts(replace(run.plan, runners=[]))]), *_repeat(run)]),
        ],
    )


def _title(run: Run) -> str:
    runners = counted(len({one.runner for one in run.results}), "runner")
    if run.sweep is None or not run.sweep.axes:
        return f"Times of {runners}"
    axes = ", ".join(f"{visible(one.name)} ({counted(len(one.values), 'value')})" for one in run.sweep.axes)
    return f"Sweep of {runners} over {axes}"


def _times(run: Run, charts: Charts) -> Iterator[Any]:
    if measured(run):
        drawn, note = _drawn(run)
        yield charts.draw(drawn, "times", "Times of forward and backward of each runner", _READING + note)
        yield run_tables.times_table(run)
    for one in run.results:
        if one.status != "ok":
            yield Text(visible(f"{run_table.name(one)}: {run_table.outcome(one)}"), "note")
    yield from (Text(visible(note), "note") for note in run_details.same_code(run))


def _drawn(run: Run) -> tuple[Run, str]:
    """Returns the run that a plot of all runners shows, and its caption."""
    results = measured(run)
    if len(results) <= MOST_MARKS:
        return run, ""
    note = f" The first {MOST_MARKS} of {len(results):,} runners are drawn; the table has all runners."
    return replace(run, results=results[:MOST_MARKS]), note


def _rows(run: Run, charts: Charts) -> Iterator[Any]:
    # A plot finds its row by its name, which rows of several results may have.
    known = [(alone, _sampled(alone)) for alone in (replace(run, results=[one]) for one in measured(run))]
    count = sum(len(rows) for _, rows in known)
    if count > MOST_ROWS:
        yield Text(
            f"Plots of the first {MOST_ROWS} of {count:,} rows; tables of all rows. To draw another row, add "
            "--plot OUT.svg --plot-kind samples --plot-row ROW. For a page of a few rows, add --filter CONDITION.",
            "note",
        )
    left = MOST_ROWS
    for alone, rows in known:
        [result] = alone.results
        inner: list[Any] = []
        for row in rows[:left]:
            inner.append(charts.draw(alone, "samples", visible(f"Samples of {row} in order"), row=row))
            inner.append(charts.draw(alone, "distribution", visible(f"Distribution of {row}"), row=row))
        left = max(left - len(rows), 0)
        inner.append(run_tables.processes_table(result))
        times = ", ".join(f"{phase} {run_answer.brief(one)}" for phase, one in phases(result))
        yield Fold(f"{run_answer.short_name(result)}: {times}", inner)


def _sampled(alone: Run) -> list[str]:
    """Returns the measured rows with samples of a run of one result."""
    [result] = alone.results
    sampled = run_samples.rows(alone)
    return [row for phase, _ in phases(result) if (row := f"{run_table.name(result)}/{phase}") in sampled]


def _costs(run: Run, charts: Charts) -> Iterator[Any]:
    results = measured(run)
    drawn, note = _drawn(run)
    if any(one.first_call_ns() is not None for one in results):
        yield charts.draw(drawn, "start", "First iteration and compile times of each runner", note.strip())
        yield run_tables.start_table(run)
    if any(one.peak_memory_bytes is not None for one in results):
        yield charts.draw(drawn, "memory", "Peak memory of each runner", note.strip())
        yield run_tables.memory_table(run)


def _warnings(run: Run) -> Iterator[Any]:
    if run.warnings:
        yield Remarks(
            [(one.code, visible(one.message), _shown(one.evidence), _shown(one.hint)) for one in run.warnings]
        )


def _shown(text: str | None) -> str | None:
    return None if text is None else visible(text)


def _repeat(run: Run) -> Iterator[Any]:
    if run.command:
        yield Text("Command that started the run:")
        yield Command(visible(shlex.join(run.command)))
