"""Sections of the page of a comparison of captures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastrnns_rs.counting import counted
from fastrnns_rs.documents.comparison import Change
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.comparison import captures_glance, columns, words
from fastrnns_rs.views.figures import share_percent
from fastrnns_rs.views.page.number_cells import NONE, millisecond_cell, percent_cell, ratio_cell, time_cell
from fastrnns_rs.views.page.parts import Cell, Fold, Section, Table, Text, text_cell, text_rows
from fastrnns_rs.views.plots import comparison_idle
from fastrnns_rs.views.plots.comparison_waterfall import short_names
from fastrnns_rs.views.scale import Scale, time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fastrnns_rs.documents.comparison import Compared, Comparison, KernelFigures
    from fastrnns_rs.views.page.charts import Charts
    from fastrnns_rs.views.table import Column

_UNLIMITED = 10_000
_WATERFALL = (
    "Each bar adds its change to the GPU time, from the baseline at the top to the candidate at the bottom. "
    "Line on a bar: 95 % interval of the change, from three captures per side on."
)
_IDLE = (
    "Share of the span from the first to the last GPU activity, as a mean of the captures of a side. Times are those "
    "of a capture, on average."
)
#: Unit of the GPU times, by the basis of the comparison.
_BASES = {"per_iteration": "a mean per iteration", "per_capture": "a mean per capture"}
_CHANGE, _CHANGE_LOW, _CHANGE_HIGH = "change, ms", "CI low, ms", "CI high, ms"
_SHARE = "share, %"
_LOW, _HIGH = "CI low", "CI high"
_EMPTY = (NONE, Cell(""), Cell(words.UNKNOWN))


def sections(comparison: Comparison, charts: Charts) -> list[Section]:
    """Returns the answer, then kernels, categories and idle causes."""
    first, *others = captures_glance.answer(comparison, _UNLIMITED)
    parts: list[Any] = [Text(f"{words.FORCED}.", "answer")] if comparison.method.forced else []
    parts += [Text(first.text, "answer"), *_largest(comparison), *(Text(one.text) for one in others)]
    per = _BASES.get(comparison.basis or "", "of the capture")
    parts.append(Text(f"GPU time is the sum of all kernels and copies of all GPUs, {per}.", "note"))
    parts += [Text(_medians(visible(one)), "note") for one in columns.iteration_medians(comparison)]
    return [
        Section("Answer", parts),
        Section("Kernels and copies", [*_kernels(comparison, charts)]),
        Section("Categories", [*_categories(comparison, charts)]),
        Section("Idle time of the GPUs", [*_idle(comparison, charts)]),
    ]


def _medians(line: str) -> str:
    """Returns sentences about medians that tell them from means."""
    return f"For comparison, {line}. Unlike a mean, a median hides rare long iterations."


def _largest(comparison: Comparison) -> Iterator[Text]:
    """Yields the sentence on the kernel or copy that changed most."""
    largest = max(comparison.kernels, key=lambda one: abs(one.delta_ns), default=None)
    if largest is None or not largest.delta_ns:
        return
    [name] = short_names([largest])
    sign = "+" if largest.delta_ns > 0 else "-"
    share = "" if largest.contribution is None else f", {share_percent(largest.contribution)} of the whole change"
    yield Text(f"Largest change: {name}, {sign}{time(abs(largest.delta_ns))}{share}", "answer")


def _kernels(comparison: Comparison, charts: Charts) -> Iterator[Any]:
    if not comparison.kernels:
        return
    yield charts.draw(comparison, "waterfall", "Change of the GPU time by kernel, the largest first", _WATERFALL)
    yield from _changes(comparison, "kernel or copy", comparison.kernels)
    renamed = [(one.name, former) for one in comparison.kernels if (former := columns.former_name(one)) is not None]
    yield from (Text(f"{visible(name)} was {visible(former)}, of the same shape", "note") for name, former in renamed)


def _categories(comparison: Comparison, charts: Charts) -> Iterator[Any]:
    if not comparison.categories:
        return
    yield charts.draw(comparison, "categories", "Change of the GPU time by category, the largest first", _WATERFALL)
    yield from _changes(comparison, "category", comparison.categories)


def _changes(comparison: Comparison, name: str, changes: Sequence[Change]) -> Iterator[Any]:
    """Yields the table of all rows and of the whole GPU time, then whole names."""
    rows = [*changes, *([] if comparison.device_time is None else [comparison.device_time])]
    shorts = short_names(rows)
    interval = words.interval_heading(comparison.method)
    shown: list[_Shown] = []
    # The name is the last column of other views.
    for column in columns.make_change_columns(comparison, name, visible)[:-1]:
        shown += _columns(column, interval)
    # A column without a number or a text only takes space.
    shown = [one for one in shown if any(one.cell(row) not in _EMPTY for row in rows)]
    yield Table(
        "Categories" if name == "category" else "Kernels and copies",
        [name, *(one.heading for one in shown)],
        [[Cell(short), *(one.cell(row) for one in shown)] for short, row in zip(shorts, rows, strict=True)],
        frozenset({0, *(place for place, one in enumerate(shown, 1) if one.is_text)}),
        f"CI: {interval} of the number before it." if any(one.heading in {_LOW, _CHANGE_LOW} for one in shown) else "",
    )
    long = [(short, row.name) for short, row in zip(shorts, rows, strict=True) if short != visible(row.name)]
    if long:
        table = Table("Whole names", ("short name", "whole name"), text_rows(long), frozenset({0, 1}))
        yield Fold(f"{counted(len(long), 'whole name')}", [table])


@dataclass(frozen=True, slots=True)
class _Shown:
    """Column of a page.

    Attributes:
        heading: Heading.
        cell: Function that returns the cell of a row.
        is_text: True for a column of texts.
    """

    heading: str
    cell: Callable[[Change], Cell]
    is_text: bool = False


def _columns(column: Column, interval: str) -> list[_Shown]:
    """Returns columns with numbers of the document for a column of other views."""
    if column.heading == interval:
        return [
            _Shown(_LOW, lambda one: ratio_cell(one.ratio_ci_low)),
            _Shown(_HIGH, lambda one: ratio_cell(one.ratio_ci_high)),
        ]
    number = _NUMBERS.get(column.heading)
    title = "of the whole change, %" if column.heading == _SHARE else column.heading
    if number is None:
        return [_Shown(column.heading, lambda one: Cell(column.text(one) or ""), is_text=not column.right)]
    found = [_Shown(title, lambda one: Cell(column.text(one) or "", number(one)))]
    if column.heading == _CHANGE:
        found.append(_Shown(_CHANGE_LOW, lambda one: millisecond_cell(one.delta_ci_low_ns)))
        found.append(_Shown(_CHANGE_HIGH, lambda one: millisecond_cell(one.delta_ci_high_ns)))
    return found


def _total(side: KernelFigures | None) -> int | None:
    return None if side is None else side.total_ns


#: Numbers of the document in the columns of other views.
_NUMBERS: dict[str, Callable[[Change], float | None]] = {
    _CHANGE: lambda one: one.delta_ns,
    _SHARE: lambda one: one.contribution,
    "baseline, ms": lambda one: _total(one.baseline),
    "candidate, ms": lambda one: _total(one.candidate),
    "ratio": lambda one: one.ratio,
}


def _idle(comparison: Comparison, charts: Charts) -> Iterator[Any]:
    both = (comparison.baseline, comparison.candidate)
    if not comparison_idle.has_idle_times(comparison):
        yield Text(
            "The captures contain no idle time by cause: they contain only totals, or an older version read them."
        )
        return
    yield charts.draw(comparison, "idle", "Idle time of the GPUs by cause, baseline and candidate", _IDLE)
    scale = Scale([one.total_ns for side in both for one in side.idle_times])
    known = [comparison_idle.by_cause(side) for side in both]
    rows = []
    for cause in comparison_idle.causes(comparison):
        cells = [text_cell(comparison_idle.title(cause))]
        for side in known:
            one = side.get(cause)
            cells += [NONE, NONE] if one is None else [time_cell(one.total_ns, scale), percent_cell(one.span_fraction)]
        rows.append(cells)
    rows += [_sums("all idle time", both, "idle_ns", scale), _sums("span", both, "span_ns", scale)]
    headings = ["cause"]
    for name in ("baseline", "candidate"):
        headings += [f"{name}, {scale.unit}", f"{name}, % of span"]
    yield Table("Idle time of a capture, on average", headings, rows)


def _sums(name: str, both: Sequence[Compared], key: str, scale: Scale) -> list[Cell]:
    cells = [Cell(name)]
    for side in both:
        cells += [time_cell(getattr(side, key), scale), Cell("")]
    return cells
