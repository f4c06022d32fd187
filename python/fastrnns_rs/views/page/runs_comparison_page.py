"""Sections of the page of a comparison of runs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fastrnns_rs.counting import counted
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.comparison import columns, conclusions, words
from fastrnns_rs.views.comparison.answer import answer
from fastrnns_rs.views.figures import change_with_unit, mebibytes
from fastrnns_rs.views.page.charts import MOST_MARKS, MOST_ROWS
from fastrnns_rs.views.page.number_cells import number_cell, ratio_cell, time_cell
from fastrnns_rs.views.page.parts import Cell, Facts, Fold, Section, Table, Text, text_cell
from fastrnns_rs.views.plots.comparison_ratios import MEAN
from fastrnns_rs.views.plots.comparison_rows import processes_scale, shift_scale, sides
from fastrnns_rs.views.scale import Scale
from fastrnns_rs.views.table import fit
from fastrnns_rs.views.units import significant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastrnns_rs.documents.comparison import Comparison, Figures, GeometricMean, Row
    from fastrnns_rs.views.page.charts import Charts

_UNLIMITED = 10_000
#: Longest name in the line of a fold. Tables have whole names.
_LONGEST_TITLE = 100
_RATIOS = (
    "Mark: ratio. Line: its confidence interval; an arrow points to an end beyond the axis. Left of the line at 1 is "
    "faster."
)
_HOLLOW = "Hollow mark: conditional verdict."
_PROCESSES = "Dot: {} of a process. Line: point estimate. Area: its 95 % interval, from three processes on."
_SHIFT = "Difference between the deciles of all timed samples. Above 0 the candidate is slower."
#: Headings of columns of texts.
_TEXTS = {"runner", "phase", "verdict"}


def sections(comparison: Comparison, charts: Charts) -> list[Section]:
    """Returns the answer, the ratios, each row and the calibration of the verdicts."""
    named = words.named_rows(comparison)
    first: list[Any] = [Text(answer(comparison), "answer")]
    mean = comparison.geometric_mean
    ends = (None, None) if mean is None else (mean.ratio_ci_low, mean.ratio_ci_high)
    unchanged = not any(words.choose_verdict(one.row) in {"faster", "slower"} for one in named)
    if mean is not None and unchanged and ends[0] is not None and ends[1] is not None and not ends[0] <= 1 <= ends[1]:
        change = change_with_unit(mean.ratio, *ends)
        first.append(
            Text(
                f"The geometric mean of {words.describe_mean(comparison)} changed all the same: {change}. Its interval "
                "is narrower than those of the rows, and it is not a verdict about any row."
            )
        )
    if named:
        first += [Text(line.text) for line in conclusions.lines(comparison, _UNLIMITED) if line.text]
    return [
        Section("Answer", first),
        Section("Ratios", [*_ratios(comparison, named, charts)]),
        Section("Rows", [*_rows(comparison, named, charts)]),
        Section("Calibration of the verdicts", [*_calibration(named)]),
    ]


def _ratios(comparison: Comparison, named: list[words.NamedRow], charts: Charts) -> Iterator[Any]:
    if not named:
        return
    known = [one for one in named if one.row.ratio is not None]
    if known:
        drawn = [one.row for one in _by_change(known)[:MOST_MARKS]]
        captions = [_RATIOS]
        if any(one.verdict is None and one.conditional_verdict is not None for one in drawn):
            captions.append(_HOLLOW)
        if len(known) > len(drawn):
            captions.append(f"The {MOST_MARKS} largest of {len(known):,} changes are drawn; the table has all rows.")
        label = "Ratio of each row with its interval, against the margin"
        yield charts.draw(replace(comparison, rows=drawn), "ratios", label, " ".join(captions))
    runner, phase, *figures, verdict = columns.make_row_columns(comparison, visible)
    # The verdict stands where a narrow window shows it too.
    shown = [runner, phase, verdict, *figures]
    interval = words.interval_heading(comparison.method)
    headings: list[str] = []
    for one in shown:
        headings += ["CI low", "CI high"] if one.heading == interval else [one.heading]
    rows = [_row_cells(one, [column.text(one) for column in shown]) for one in named]
    if comparison.geometric_mean is not None:
        rows.append(_mean_cells(comparison.geometric_mean))
    texts = frozenset(place for place, name in enumerate(headings) if name in _TEXTS)
    yield Table("Ratios", headings, rows, texts, f"CI: {interval} of the ratio.")


def _row_cells(one: words.NamedRow, texts: list[str | None]) -> list[Cell]:
    row = one.row
    runner, phase, verdict, baseline, candidate, ratio, _, change, delta, processes = (text or "" for text in texts)
    return [
        text_cell(runner),
        text_cell(phase),
        Cell(verdict),
        Cell(baseline, getattr(row.baseline, "estimate_ns", None)),
        Cell(candidate, getattr(row.candidate, "estimate_ns", None)),
        Cell(ratio, row.ratio),
        ratio_cell(row.ratio_ci_low),
        ratio_cell(row.ratio_ci_high),
        # Sorted by the ratio, from which the change is computed.
        Cell(change, row.ratio),
        Cell(delta, row.cliffs_delta),
        Cell(processes),
    ]


def _mean_cells(mean: GeometricMean) -> list[Cell]:
    ratios = (Cell(words.ratio(mean.ratio), mean.ratio), ratio_cell(mean.ratio_ci_low), ratio_cell(mean.ratio_ci_high))
    title = Cell(f"{MEAN} of {counted(mean.n, 'runner')}")
    blank = Cell("")
    return [title, blank, blank, blank, blank, *ratios, Cell(words.change(mean.ratio), mean.ratio), blank, blank]


def _rows(comparison: Comparison, named: list[words.NamedRow], charts: Charts) -> Iterator[Any]:
    # Rows may have equal names.
    plotted = {id(one) for one in _by_change(named)[:MOST_ROWS]}
    if len(named) > len(plotted):
        yield Text(
            f"Plots of the {len(plotted)} rows with the largest changes; tables of all rows. To draw another row, add "
            "--plot OUT.svg --plot-kind processes --plot-row ROW.",
            "note",
        )
    for one in named:
        row = one.row
        change = ""
        if row.ratio is not None:
            change = f", {change_with_unit(row.ratio, row.ratio_ci_low, row.ratio_ci_high)}"
        inner = [*_row_parts(comparison, one, charts if id(one) in plotted else None)]
        yield Fold(f"{fit(visible(one.name), _LONGEST_TITLE)}: {words.verdict(row)}{change}", inner)


def _by_change(named: list[words.NamedRow]) -> list[words.NamedRow]:
    """Returns the rows, the largest change first."""
    return sorted(named, key=lambda one: -abs(math.log(one.row.ratio or 1.0)))


def _row_parts(comparison: Comparison, one: words.NamedRow, charts: Charts | None) -> Iterator[Any]:
    row, title = one.row, visible(one.name)
    # A plot names all rows of its document, which takes long for thousands of rows.
    alone = replace(comparison, rows=[row])
    if row.reason:
        yield Text(f"Reason: {visible(row.reason)}.")
    yield from (Text(visible(note)) for note, _ in one.notes() if note != row.reason)
    singular, plural = words.STATISTICS[comparison.method.statistic]
    yield Facts([*_facts(row, plural)])
    if any(map(words.process_times, sides(row))):
        if charts is not None:
            label = f"{singular[0].upper()}{singular[1:]} of each process of {title}, baseline and candidate"
            yield charts.draw(alone, "processes", label, _PROCESSES.format(singular))
        yield _processes(row, plural)
    if row.deciles:
        if charts is not None:
            label = f"Shift of each decile of {title}, candidate minus baseline"
            yield charts.draw(alone, "shift", label, _SHIFT)
        yield _deciles(row)


def _facts(row: Row, plural: str) -> Iterator[tuple[str, str]]:
    numbers = (("p-value", row.p_value), ("adjusted p-value", row.p_value_adjusted))
    yield from ((name, f"{value:.3g}") for name, value in numbers if value is not None)
    if row.shift_ns is not None:
        scale = Scale([row.shift_ns])
        yield f"shift of the process {plural} (Hodges-Lehmann)", f"{scale.text(row.shift_ns)} {scale.unit}"
    for name, found in words.other_statistics(row):
        change = change_with_unit(found.ratio, found.ratio_ci_low, found.ratio_ci_high)
        yield f"change of the {words.STATISTICS[name][0]}", change
    for name, side in (("baseline", row.baseline), ("candidate", row.candidate)):
        if side is not None:
            yield f"samples, {name}", f"{side.n_samples:,}"
            if side.peak_memory_bytes is not None:
                yield f"peak memory, {name}", f"{mebibytes(side.peak_memory_bytes)} MiB"


def _processes(row: Row, plural: str) -> Table:
    scale = processes_scale(row)
    both = [row.baseline, row.candidate]
    count = max(len(words.process_times(one)) for one in both if one is not None)

    def cells(name: str, key: str) -> list[Cell]:
        return [Cell(name), *(time_cell(getattr(one, key, None), scale) for one in both)]

    rows = [
        [Cell(str(place + 1), place + 1), *(time_cell(_at(one, place), scale) for one in both)]
        for place in range(count)
    ]
    rows.append(cells("point estimate", "estimate_ns"))
    rows.append(cells("95 % CI low", "ci_low_ns"))
    rows.append(cells("95 % CI high", "ci_high_ns"))
    return Table(
        f"{plural[0].upper()}{plural[1:]} of processes",
        ("process", f"baseline, {scale.unit}", f"candidate, {scale.unit}"),
        rows,
    )


def _at(side: Figures | None, place: int) -> float | None:
    times = [] if side is None else words.process_times(side)
    return times[place] if place < len(times) else None


def _deciles(row: Row) -> Table:
    times, shifts = (
        Scale([time for one in row.deciles for time in (one.baseline_ns, one.candidate_ns)]),
        shift_scale(row),
    )
    rows = [
        [
            Cell(f"{100 * one.level:.0f}", one.level),
            time_cell(one.baseline_ns, times),
            time_cell(one.candidate_ns, times),
            time_cell(one.shift_ns, shifts),
        ]
        for one in row.deciles
    ]
    headings = ("decile, %", f"baseline, {times.unit}", f"candidate, {times.unit}", f"shift, {shifts.unit}")
    return Table("Deciles of all timed samples", headings, rows, frozenset())


def _calibration(named: list[words.NamedRow]) -> Iterator[Any]:
    """Yields the sentence of each basis, with its rows."""
    if not named:
        return
    bases = dict.fromkeys(one.row.basis for one in named)
    for basis in bases:
        names = [one.name for one in named if one.row.basis == basis]
        whose = "" if len(bases) == 1 else f"{conclusions.listed(names)}: "
        yield Text(f"{whose}{words.BASES[basis]}")
    history = [one for one in named if one.row.session_stddev is not None]
    if history:
        rows = [
            [
                text_cell(one.name),
                number_cell(one.row.session_stddev, lambda value: significant(100 * value)),
                number_cell(one.row.history_sessions, lambda value: f"{value:,}"),
                Cell("yes" if one.row.history_pooled else "no"),
            ]
            for one in history
        ]
        headings = ("row", "standard deviation between sessions, %", "sessions", "other rows included")
        yield Table("Variation between sessions", headings, rows, frozenset({0, 3}))
