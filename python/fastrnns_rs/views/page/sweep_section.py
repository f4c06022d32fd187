"""Section of a run's page with its sweep: plots, exponents and all cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.comparison import words
from fastrnns_rs.views.figures import figure
from fastrnns_rs.views.page.number_cells import time_cell
from fastrnns_rs.views.page.parts import Cell, Fold, Table, Text, text_cell
from fastrnns_rs.views.plots import sweep_panels
from fastrnns_rs.views.run import run_table
from fastrnns_rs.views.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.documents.sweep import Sweep, SweepCell, SweepGrowth
    from fastrnns_rs.views.page.charts import Charts

_NONE = words.UNKNOWN
#: Plots that are shown at once, and plots of a page: a page of a large sweep stays small.
_OPEN, _MOST = 4, 12
#: A longer table is folded.
_SHORT = 60
_FITS = {True: "one exponent", False: "no single exponent", None: "unknown: too few processes"}
_LOGARITHMIC, _INTERVALS = "Both axes are logarithmic.", "Line at a mark: 95 % confidence interval."


def parts(run: Run, charts: Charts) -> Iterator[Any]:
    """Yields the plots and the tables of a sweep; nothing for a run without a sweep."""
    if run.sweep is None or not run.sweep.cells:
        return
    times = [("sweep", one) for one in sweep_panels.panels(run, sweep_panels.TIMES)]
    rates = [("throughput", one) for one in sweep_panels.panels(run, sweep_panels.RATES)]
    axes = [one.name for one in run.sweep.axes]
    # The rates along an axis are next to its times.
    every = sorted([*times, *rates], key=lambda one: axes.index(one[1].axis))
    shown = [
        charts.draw(run, kind, f"{visible(one.name)} of each runner", _caption(kind, one), row=one.name)
        for kind, one in every[:_MOST]
    ]
    yield from shown[:_OPEN]
    if shown[_OPEN:]:
        yield Fold(f"{len(shown) - _OPEN:,} more plots", shown[_OPEN:])
    if len(every) > _MOST:
        yield Text(f"{len(every) - _MOST:,} more plots are left out. The tables have all points.", "note")
    if run.sweep.growth:
        yield _growth(run.sweep)
    cells = _cells(run, run.sweep)
    yield cells if len(cells.rows) <= _SHORT else Fold(f"{cells.caption}: {len(cells.rows):,} rows", [cells])


def _caption(kind: str, panel: sweep_panels.Panel) -> str:
    return " ".join([_LOGARITHMIC] * panel.is_numeric + [_INTERVALS] * (kind == "sweep"))


def _cells(run: Run, sweep: Sweep) -> Table:
    """Returns the table of all cells: the mark of a line is one cell."""
    axes = [*dict.fromkeys(name for cell in sweep.cells for name in cell.point)]
    scale = Scale([cell.time_ns for cell in sweep.cells])
    known = sweep_panels.summaries(run)
    headings = (
        *("runner", *map(visible, axes), "phase", f"time, {scale.unit}", "95 % CI low", "95 % CI high"),
        *("processes", "sequence steps per s", "samples per s"),
    )
    rows = [_cell_row(cell, axes, sweep_panels.find_summary(known, cell), scale) for cell in sweep.cells]
    return Table("Times and rates of all points", headings, rows, frozenset({0, len(axes) + 1}))


def _cell_row(cell: SweepCell, axes: Sequence[str], summary: Any, scale: Scale) -> list[Cell]:
    def number(value: float | None, text: str) -> Cell:
        return Cell(_NONE) if value is None else Cell(text, value)

    low, high = (None, None) if summary is None else run_table.interval_ends(summary)
    count = None if summary is None else summary.n_processes
    return [
        text_cell(cell.runner),
        *(_value(cell.point.get(axis)) for axis in axes),
        Cell(cell.phase),
        *(time_cell(one, scale) for one in (cell.time_ns, low, high)),
        number(count, f"{count}"),
        *(number(one, figure(one or 0.0)) for one in (cell.steps_per_second, cell.samples_per_second)),
    ]


def _value(value: float | str | None) -> Cell:
    """Returns the cell of a value of an axis, which sorts as a number if it is one."""
    if value is None:
        return Cell(_NONE)
    return Cell(f"{value:,}", value) if isinstance(value, int) else text_cell(value)


def _growth(sweep: Sweep) -> Table:
    headings = (
        *("runner", "phase", "axis", "other axes", "points", "exponent b", "95 % CI low", "95 % CI high"),
        *("b from value to value", "largest deviation, %", "fit"),
    )
    rows = [_growth_row(one) for one in sweep.growth]
    note = "Exponent b of time ~ axis^b."
    return Table("Growth of times", headings, rows, frozenset({0, 1, 2, 3, 10}), note)


def _growth_row(one: SweepGrowth) -> list[Cell]:
    def number(value: float | None, factor: float = 1.0) -> Cell:
        return Cell(_NONE) if value is None else Cell(f"{factor * value:.2f}", value)

    return [
        text_cell(one.runner),
        text_cell(one.phase),
        text_cell(one.axis),
        text_cell(",".join(f"{name}={value}" for name, value in one.at.items()) or _NONE),
        Cell(f"{one.n_points:,}", one.n_points),
        *(number(value) for value in (one.exponent, one.ci_low, one.ci_high)),
        text_cell(", ".join(f"{step:.2f}" for step in one.local_exponents) or _NONE),
        number(one.largest_deviation, 100.0),
        text_cell(one.reason or _FITS[one.straight]),
    ]
