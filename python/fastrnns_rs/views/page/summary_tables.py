"""Tables of the page of a summary: the columns of the report, with exact numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from fastrnns_rs.counting import counted
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.page.number_cells import count_cell, percent_cell, time_cell
from fastrnns_rs.views.page.parts import Cell, Table, text_cell
from fastrnns_rs.views.plots import summary_kernels, summary_launches, summary_ranges
from fastrnns_rs.views.plots.summary_activity import lanes
from fastrnns_rs.views.scale import Scale
from fastrnns_rs.views.summary.budget import CAUSES, share
from fastrnns_rs.views.summary.column_units import BAR, TEXT
from fastrnns_rs.views.summary.columns import MEANWHILE
from fastrnns_rs.views.summary.lists import List
from fastrnns_rs.views.summary.pages import devices_apart
from fastrnns_rs.views.table import fit

if TYPE_CHECKING:
    from fastrnns_rs.views.summary.activities import Sum
    from fastrnns_rs.views.summary.columns import Column
    from fastrnns_rs.views.summary.plain import Document

    Row = dict[str, Any]

#: Rows of a table; the JSON document has all.
MOST_ROWS = 2_000
#: Numbers that are names, and have no commas.
_IDENTIFIERS = {"device_id", "process_id", "stream_id", "rank", "index"}
_LONG_NUMBER = re.compile(r"-?\d{4,}(\.\d+)?")
#: Longest text of a cell, in characters.
_LONGEST = 600


#: Bases of the shares in columns of the report.
_BASES = {
    ("share", "kernel_time_fraction"): "of kernel time, %",
    ("busy", "utilization"): "busy, % of span",
    ("idle", ""): "idle, % of span",
}
#: Columns that are read first, although they are numbers, by their keys.
_FIRST = {"metrics": ("name", "min", "avg", "max", "unit", "invocations")}


def list_table(document: Document, title: str, columns: Sequence[Column], rows: Sequence[Row]) -> Table:
    """Returns a list of the report as a table of at most 2,000 rows.

    Columns without a value are left out. Metrics have their unit next to their values.
    """
    found = List(title, [column for column in columns if column.unit is not BAR], rows, MOST_ROWS)
    # A text is read first: long names would be beyond the right edge.
    shown = sorted(devices_apart(document, found), key=lambda column: column.unit is not TEXT)
    shown = [column for column in shown if any(_is_known(column.read(row)) for row in found.rows)]
    if any(column.name == "GPU, process" for column in shown):
        shown = [column for column in shown if column.key != "process_id"]
    first = _FIRST.get(title.lower(), ())
    shown.sort(key=lambda column: first.index(column.key) if column.key in first else len(first))
    cells = zip(*(_cells(column, found.rows) for column in shown), strict=True)
    texts = frozenset(place for place, column in enumerate(shown) if not column.right)
    note = ""
    if found.more:
        note = f"The first {counted(len(found.rows), 'row')} of {len(rows):,}; JSON has all. {found.more}."
    headings = [_BASES.get((column.name, column.key), column.heading) for column in shown]
    return Table(title, headings, [*cells], texts, note)


def _is_known(value: object) -> bool:
    return value is not None and value is not False and value not in ("", [])


def _cells(column: Column, rows: Sequence[Row]) -> Iterator[Cell]:
    values = [column.read(row) for row in rows]
    for value, plain in zip(values, column.unit.texts("terminal", values), strict=True):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        text = _with_commas(plain) if is_number and column.key not in _IDENTIFIERS else plain
        yield Cell(text if len(text) <= _LONGEST else fit(text, _LONGEST), value if is_number else None)


def _with_commas(text: str) -> str:
    """Adds commas to a number of at least four digits."""
    whole, point, rest = text.partition(".")
    return f"{int(whole):,}{point}{rest}" if _LONG_NUMBER.fullmatch(text) else text


def budget_table(devices: Sequence[tuple[str, Row]]) -> Table:
    """Returns the time budgets of GPUs: a row for each part."""
    scale = Scale([row["span_ns"] for _, row in devices])
    rows: list[list[Cell]] = []

    def add(label: str, device: Row, part: str, name: str, count: int | None, time: int) -> None:
        of_span = Cell(share(time, device["span_ns"]))
        if time and of_span.text == "0.0 %":
            of_span = Cell("<0.1 %")
        rows.append([text_cell(label), Cell(part), text_cell(name), count_cell(count), time_cell(time, scale), of_span])

    for label, device in devices:
        budget = device["budget"]
        add(label, device, "span", "", None, device["span_ns"])
        add(label, device, "busy", "", None, device["busy_ns"])
        for part, key in (("kernels", "kernels"), ("copies and sets", "copies")):
            for row in budget[key]:
                add(label, device, part, row["name"], row["count"], row["total_ns"])
        if budget["counted_twice_ns"]:
            add(label, device, "counted twice", "", None, budget["counted_twice_ns"])
        add(label, device, "idle", "", None, device["idle_ns"])
        for row in budget["idle"]:
            add(label, device, "idle cause", CAUSES.get(row["name"], row["name"]), row["count"], row["total_ns"])
    headings = ("GPU", "part", "name", "count", f"time, {scale.unit}", "of span")
    return Table("Time budget", headings, rows, frozenset({0, 1, 2}))


def idle_table(devices: Sequence[tuple[str, Row]]) -> Table:
    """Returns the causes of idle time of each GPU and process.

    The list of the report adds up the processes of a GPU, which may be of different captures.
    """
    scale = Scale([row["total_ns"] for _, device in devices for row in device["budget"]["idle"]])
    rows = [
        [
            text_cell(label),
            text_cell(CAUSES.get(row["name"], row["name"])),
            time_cell(row["total_ns"], scale),
            Cell(share(row["total_ns"], device["span_ns"])),
            count_cell(row["count"]),
            text_cell(MEANWHILE.get(row["name"], "")),
        ]
        for label, device in devices
        for row in device["budget"]["idle"]
    ]
    headings = ("GPU", "cause", f"total, {scale.unit}", "of span", "count", "meanwhile")
    return Table("Idle time", headings, rows, frozenset({0, 1, 5}))


def activity_table(label: str, device: Row) -> Table:
    """Returns the time of each category in each bin of a GPU."""
    activity = device["activity"]
    bin_ns, shown = activity["bin_ns"], [("busy", activity["busy_ns"]), *lanes(device)]
    begin, scale = Scale([device["span_ns"]]), Scale([bin_ns])
    rows = [
        [
            Cell(begin.text(place * bin_ns), activity["start_ns"] + place * bin_ns),
            *(time_cell(times[place], scale) for _, times in shown),
        ]
        for place in range(len(activity["busy_ns"]))
    ]
    headings = [f"from, {begin.unit}", *(f"{fit(visible(name), 40)}, {scale.unit}" for name, _ in shown)]
    return Table(
        f"Activity of {visible(label)} in bins of {scale.text(bin_ns)} {scale.unit}", headings, rows, frozenset()
    )


def utilization_table(devices: Sequence[tuple[str, Row]]) -> Table:
    """Returns the busy time of several GPUs in each bin: two columns for each GPU."""
    begin, busy = (
        Scale([row["span_ns"] for _, row in devices]),
        Scale([row["activity"]["bin_ns"] for _, row in devices]),
    )
    rows: list[list[Cell]] = []
    for place in range(max(len(row["activity"]["busy_ns"]) for _, row in devices)):
        cells = []
        for _, device in devices:
            activity = device["activity"]
            if place < len(activity["busy_ns"]):
                start, time = place * activity["bin_ns"], activity["busy_ns"][place]
                cells += [Cell(begin.text(start), activity["start_ns"] + start), Cell(busy.text(time), time)]
            else:
                cells += [Cell(""), Cell("")]
        rows.append(cells)
    names = [visible(label) for label, _ in devices]
    headings = [text for one in names for text in (f"{one}, from, {begin.unit}", f"busy, {busy.unit}")]
    return Table("Busy time in bins", headings, rows, frozenset())


def nested_table(document: Document) -> Table:
    """Returns the ranges within each other, each below the range that encloses it."""
    rows = summary_ranges.places(document["nested_ranges"])
    scale = Scale([row["gpu_inclusive_ns"] for row, _, _ in rows])

    cells = [
        [
            text_cell(f"{'· ' * min(depth, 20)}{fit(summary_ranges.title(row), _LONGEST)}"),
            Cell(f"{depth}", depth),
            time_cell(row["gpu_inclusive_ns"], scale),
            time_cell(row["gpu_exclusive_ns"], scale),
            Cell(f"{row['kernel_count']:,}", row["kernel_count"]),
            Cell(f"{row['count']:,}", row["count"]),
        ]
        for row, _, depth in rows
    ]
    headings = ("range", "depth", f"GPU inclusive, {scale.unit}", f"GPU exclusive, {scale.unit}", "kernels", "count")
    return Table("Ranges within ranges", headings, cells)


def longest_table(title: str, found: Sequence[Sum], whole: str) -> Table:
    """Returns the rows of a Pareto chart, with their cumulative shares.

    Args:
        title: Name of the rows.
        found: Kernels or operators, the longest first.
        whole: Time that the shares are parts of.
    """
    rows = summary_kernels.longest(found)
    scale = Scale([one.sum.total for one in rows])
    cells = [
        [
            time_cell(one.sum.total, scale),
            percent_cell(one.share),
            percent_cell(one.up_to),
            Cell(f"{one.sum.count:,}", one.sum.count),
            text_cell(fit(visible(one.sum.full), _LONGEST)),
        ]
        for one in rows
    ]
    headings = (f"total, {scale.unit}", f"of {whole}, %", "cumulative, %", "count", "name")
    return Table(title, headings, cells, frozenset({4}))


def histogram_table(document: Document) -> Table:
    """Returns the bins of both histograms of launches."""
    rows = []
    for key in summary_launches.HISTOGRAMS:
        histogram = document["launches"][f"{key}_histogram"]
        bounds = histogram["bounds_ns"]
        for low, high, count in zip(bounds, bounds[1:], histogram["counts"], strict=False):
            if count:
                rows.append([Cell(key), Cell(f"{low:,}", low), Cell(f"{high:,}", high), Cell(f"{count:,}", count)])
        if negative := histogram["negative_count"]:
            rows.append([Cell(key), Cell("-"), Cell("0", 0), Cell(f"{negative:,}", negative)])
    headings = ("of", "from, ns", "to (excluded), ns", "kernels")
    return Table("Launch latencies", headings, rows)
