"""Page of a run: times, then samples of each row, warnings, machine and plan."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fastrnns_rs.counting import counted
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.figures import estimate_with_interval
from fastrnns_rs.views.page import run_tables, sweep_section
from fastrnns_rs.views.page.facts import facts
from fastrnns_rs.views.page.parts import Article, Command, Facts, Fold, Remarks, Section, Text
from fastrnns_rs.views.plots import run_samples
from fastrnns_rs.views.plots.run_times import measured, phases
from fastrnns_rs.views.prose import start_time
from fastrnns_rs.views.run import run_details, run_head, run_table
from fastrnns_rs.views.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastrnns_rs.documents.run_file import PhaseSummary, Run
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
        f"Times of {counted(len({one.runner for one in run.results}), 'runner')}",
        context,
        [
            Section("Sweep", [*sweep_section.parts(run, charts)]),
            Section("Times", [*_times(run, charts)]),
            Section("Samples", [*_rows(run, charts)]),
            Section("Start and memory", [*_costs(run, charts)]),
            Section("Warnings", [*_warnings(run)]),
            Section("Machine", [Facts([*facts(run.environment)])]),
            # The context has the runners with their sizes.
            Section("Plan", [Facts([*facts(replace(run.plan, runners=[]))]), *_repeat(run)]),
        ],
    )


def _times(run: Run, charts: Charts) -> Iterator[Any]:
    if measured(run):
        yield charts.draw(run, "times", "Times of forward and backward of each runner", _READING)
        yield run_tables.times_table(run)
    for one in run.results:
        if one.status != "ok":
            yield Text(visible(f"{run_table.name(one)}: {run_table.outcome(one)}"), "note")
    yield from (Text(visible(note), "note") for note in run_details.same_code(run))


def _rows(run: Run, charts: Charts) -> Iterator[Any]:
    known = {*run_samples.rows(run)}
    for result in measured(run):
        name = run_table.name(result)
        inner: list[Any] = []
        for phase, _ in phases(result):
            row = f"{name}/{phase}"
            if row in known:
                inner.append(charts.draw(run, "samples", visible(f"Samples of {row} in order"), row=row))
                inner.append(charts.draw(run, "distribution", visible(f"Distribution of {row}"), row=row))
        inner.append(run_tables.processes_table(result))
        times = ", ".join(f"{phase} {_brief(one)}" for phase, one in phases(result))
        yield Fold(visible(f"{name}: {times}"), inner)


def _brief(one: PhaseSummary) -> str:
    scale = Scale([one.estimate_ns])
    return f"{estimate_with_interval(one.estimate_ns, *run_table.interval_ends(one), scale.ns)} {scale.unit}"


def _costs(run: Run, charts: Charts) -> Iterator[Any]:
    results = measured(run)
    if any(one.first_call_ns() is not None for one in results):
        yield charts.draw(run, "start", "First iteration and compile times of each runner")
        yield run_tables.start_table(run)
    if any(one.peak_memory_bytes is not None for one in results):
        yield charts.draw(run, "memory", "Peak memory of each runner")
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
