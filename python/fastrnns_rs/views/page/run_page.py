"""Page of a run: times, then samples of each row, warnings, machine and plan."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from fastrnns_rs.counting import counted
from fastrnns_rs.documents.layout import flat
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.figures import estimate_with_interval, mebibytes
from fastrnns_rs.views.page.parts import Article, Cell, Command, Facts, Fold, Remarks, Section, Table, Text, text_cell
from fastrnns_rs.views.plots import run_samples
from fastrnns_rs.views.plots.run_times import measured, phases
from fastrnns_rs.views.prose import start_time
from fastrnns_rs.views.run import run_head, run_table
from fastrnns_rs.views.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastrnns_rs.documents.run_file import PhaseSummary, Process, Result, Run
    from fastrnns_rs.views.page.charts import Charts

_NONE = "–"
_UNLIMITED = 1_000


def article(run: Run, charts: Charts) -> Article:
    """Returns the page of a run."""
    name = run.loaded_as or run.run_id[:12]
    status = "" if run.status == "complete" else f" · {run.status}"
    context = [f"{visible(name)} · {start_time(run.created_utc)}{status}"]
    context += [line.text for line in run_head.lines(run, run_head.map_families(run), _UNLIMITED)]
    title = f"Times of {counted(len(run.results), 'row')}" if len(run.results) != 1 else visible(run.results[0].title)
    return Article(
        title,
        context,
        [
            Section("Times", [*_times(run, charts)]),
            Section("Samples of each row", [*_rows(run, charts)]),
            Section("Warnings", [*_warnings(run)]),
            Section("Machine", [Facts([*_facts(run.environment)])]),
            Section("Plan", [Facts([*_facts(run.plan)]), *_repeat(run)]),
        ],
    )


def _times(run: Run, charts: Charts) -> Iterator[Any]:
    results = measured(run)
    if results:
        caption = "Dot: point estimate. Line: 95 % confidence interval. Ticks: medians of processes."
        yield charts.draw(run, "times", "Times of forward and backward of each runner", caption)
        scale = Scale([one.estimate_ns for result in results for _, one in phases(result)])
        rows = [_time_row(result, phase, one, scale) for result in results for phase, one in phases(result)]
        headings = ("runner", "phase", f"time, {scale.unit}", "95 % CI low", "95 % CI high", "mean", "std", "p95")
        yield Table(
            "Times",
            (*headings, "processes", "samples", "peak, MiB"),
            rows,
            frozenset({0, 1}),
        )
    for one in run.results:
        if one.status != "ok":
            yield Text(f"{visible(run_table.name(one))}: {visible(run_table.outcome(one))}", "note")


def _time_row(result: Result, phase: str, one: PhaseSummary, scale: Scale) -> list[Cell]:
    low, high = run_table.interval_ends(one)

    def time(value: float | None) -> Cell:
        return Cell(_NONE) if value is None else Cell(scale.text(value), value)

    peak = result.peak_memory_bytes
    return [
        text_cell(run_table.name(result)),
        Cell(phase),
        *map(time, (one.estimate_ns, low, high, one.mean_ns, one.stddev_ns, one.p95_ns)),
        Cell(f"{one.n_processes:,}", one.n_processes),
        Cell(f"{one.n_samples:,}", one.n_samples),
        Cell(_NONE) if peak is None else Cell(mebibytes(peak), peak),
    ]


def _rows(run: Run, charts: Charts) -> Iterator[Any]:
    known = set(run_samples.rows(run))
    for result in measured(run):
        name = run_table.name(result)
        inner: list[Any] = []
        for phase, _ in phases(result):
            row = f"{name}/{phase}"
            if row in known:
                label = f"{visible(name)}, {phase}"
                inner.append(charts.draw(run, "samples", f"Samples of {label} in order", row=row))
                inner.append(charts.draw(run, "distribution", f"Distribution of the samples of {label}", row=row))
        inner.append(_processes(result))
        times = ", ".join(f"{phase} {_brief(one)}" for phase, one in phases(result))
        yield Fold(f"{visible(name)}: {times}", inner)


def _brief(one: PhaseSummary) -> str:
    scale = Scale([one.estimate_ns])
    return f"{estimate_with_interval(one.estimate_ns, *run_table.interval_ends(one), scale.ns)} {scale.unit}"


def _processes(result: Result) -> Table:
    names = [phase for phase, _ in phases(result)]
    medians = [median for one in result.processes for phase in names if (median := one.median_ns(phase)) is not None]
    scale = Scale(medians)
    headings = [
        "process",
        "status",
        *(f"{phase} median, {scale.unit}" for phase in names),
        "iterations",
        "timed from",
        "warm-up",
        *(f"first {phase}, {scale.unit}" for phase in names),
        f"cold compile, {scale.unit}",
        f"warm compile, {scale.unit}",
        "peak, MiB",
    ]
    rows = [_process_row(one, names, scale) for one in result.processes]
    return Table("Processes", headings, rows, frozenset({0, 1, 5}) if len(names) == 1 else frozenset({0, 1, 6}))


def _process_row(one: Process, names: list[str], scale: Scale) -> list[Cell]:
    def time(value: float | None) -> Cell:
        return Cell(_NONE) if value is None else Cell(scale.text(value), value)

    def count(value: int | None) -> Cell:
        return Cell(_NONE) if value is None else Cell(f"{value:,}", value)

    first = one.first_call
    firsts = {} if first is None else {"forward": first.forward_ns, "backward": first.backward_ns}
    place = f"{one.index}" if one.rank is None else f"{one.index}, rank {one.rank}"
    reason = one.status if one.reason is None else f"{one.status}: {one.reason}"
    peak = one.peak_memory_bytes
    return [
        Cell(place, one.index),
        text_cell(reason),
        *(time(one.median_ns(phase)) for phase in names),
        count(len(one.forward_ns)),
        count(one.steady_from),
        text_cell(one.warmup_class),
        *(time(firsts.get(phase)) for phase in names),
        time(one.compile.cold_ns),
        time(one.compile.warm_ns),
        Cell(_NONE) if peak is None else Cell(mebibytes(peak), peak),
    ]


def _warnings(run: Run) -> Iterator[Any]:
    if run.warnings:
        yield Remarks(
            [(one.code, visible(one.message), _shown(one.evidence), _shown(one.hint)) for one in run.warnings]
        )


def _shown(text: str | None) -> str | None:
    return None if text is None else visible(text)


def _facts(part: Any) -> Iterator[tuple[str, str]]:
    """Yields the known values of a part of the document, by key."""
    from dataclasses import fields, is_dataclass

    for one in fields(part):
        value = getattr(part, one.name)
        if is_dataclass(value):
            yield from ((f"{one.name}.{name}", text) for name, text in _facts(value))
        elif value not in (None, [], {}) and not (isinstance(value, list) and is_dataclass(value[0])):
            yield one.name, visible(value if isinstance(value, str) else flat(value))


def _repeat(run: Run) -> Iterator[Any]:
    if run.command:
        yield Text("Command that started the run:")
        yield Command(visible(shlex.join(run.command)))
