"""Tables of a run's page: times of rows, and processes of a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.views.figures import mebibytes
from fastrnns_rs.views.page.number_cells import NONE, count_cell, time_cell
from fastrnns_rs.views.page.parts import Cell, Table, text_cell
from fastrnns_rs.views.plots.run_start import KINDS, times
from fastrnns_rs.views.plots.run_times import measured, phases
from fastrnns_rs.views.run import run_table
from fastrnns_rs.views.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrnns_rs.documents.run_file import PhaseSummary, Process, Result, Run


def times_table(run: Run) -> Table:
    """Returns the times of each runner and phase."""
    results = measured(run)
    scale = Scale([one.estimate_ns for result in results for _, one in phases(result)])
    times = (f"time, {scale.unit}", "95 % CI low", "95 % CI high", "mean", "std", "p95")
    return Table(
        "Times",
        ("runner", "phase", *times, "processes", "samples"),
        [_time_row(result, phase, one, scale) for result in results for phase, one in phases(result)],
        frozenset({0, 1}),
    )


def _time_row(result: Result, phase: str, one: PhaseSummary, scale: Scale) -> list[Cell]:
    low, high = run_table.interval_ends(one)
    return [
        text_cell(run_table.name(result)),
        Cell(phase),
        *(time_cell(value, scale) for value in (one.estimate_ns, low, high, one.mean_ns, one.stddev_ns, one.p95_ns)),
        count_cell(one.n_processes),
        count_cell(one.n_samples),
    ]


def start_table(run: Run) -> Table:
    """Returns the first iteration and the compile times of each runner."""
    results = measured(run)
    found = [times(one) for one in results]
    scale = Scale([one for row in found for one in row if one is not None])
    rows = [
        [text_cell(run_table.name(one)), *(time_cell(value, scale) for value in row)]
        for one, row in zip(results, found, strict=True)
    ]
    return Table("Start: medians over processes", ("runner", *(f"{kind}, {scale.unit}" for kind in KINDS)), rows)


def memory_table(run: Run) -> Table:
    """Returns the peak memory of each runner."""
    rows = [
        [text_cell(run_table.name(one)), _memory(one.peak_memory_bytes), _memory(one.peak_reserved_bytes)]
        for one in measured(run)
    ]
    return Table("Memory", ("runner", "peak, MiB", "reserved, MiB"), rows)


def processes_table(result: Result) -> Table:
    """Returns the processes of a row."""
    names = [phase for phase, _ in phases(result)]
    medians = [median for one in result.processes for phase in names if (median := one.median_ns(phase)) is not None]
    scale = Scale(medians)
    headings = [
        "process",
        "status",
        "warm-up",
        *(f"{phase} median, {scale.unit}" for phase in names),
        "iterations",
        "timed from",
        *(f"first {phase}, {scale.unit}" for phase in names),
        f"cold compile, {scale.unit}",
        f"warm compile, {scale.unit}",
        "peak, MiB",
        *(f"change points of {phase}" for phase in names),
    ]
    texts = frozenset({0, 1, 2, *range(len(headings) - len(names), len(headings))})
    return Table("Processes", headings, [_process_row(one, names, scale) for one in result.processes], texts)


def _process_row(one: Process, names: Sequence[str], scale: Scale) -> list[Cell]:
    first = one.first_call
    firsts = {} if first is None else {"forward": first.forward_ns, "backward": first.backward_ns}
    place = f"{one.index}" if one.rank is None else f"{one.index}, rank {one.rank}"
    status = one.status.replace("_", " ")
    return [
        Cell(place, one.index),
        text_cell(status if one.reason is None else f"{status}: {one.reason}"),
        text_cell(one.warmup_class),
        *(time_cell(one.median_ns(phase), scale) for phase in names),
        count_cell(len(one.forward_ns)),
        count_cell(one.first_timed),
        *(time_cell(firsts.get(phase), scale) for phase in names),
        time_cell(one.compile.cold_ns, scale),
        time_cell(one.compile.warm_ns, scale),
        _memory(one.peak_memory_bytes),
        *(Cell(", ".join(map(str, one.change_points(phase)))) for phase in names),
    ]


def _memory(value: int | None) -> Cell:
    return NONE if value is None else Cell(mebibytes(value), value)
