"""Page of a summary of captures: the answer, then details with their plots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from fastrnns_rs.counting import counted
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.page import summary_tables
from fastrnns_rs.views.page.parts import Article, Command, Fold, Remarks, Section, Text
from fastrnns_rs.views.plots import summary_devices, summary_iterations, summary_kernels
from fastrnns_rs.views.plots.figure import kinds
from fastrnns_rs.views.summary import columns, notes
from fastrnns_rs.views.summary.answer import answer, context
from fastrnns_rs.views.summary.budget import gpu_count
from fastrnns_rs.views.summary.column_units import TEXT
from fastrnns_rs.views.summary.glance import known_command
from fastrnns_rs.views.summary.lists import VIEWS
from fastrnns_rs.views.summary.plain import PlainSummary, known

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrnns_rs.documents.summary import SummaryDocument
    from fastrnns_rs.views.page.charts import Charts
    from fastrnns_rs.views.page.parts import Chart
    from fastrnns_rs.views.summary.activities import Sum
    from fastrnns_rs.views.summary.plain import Document

#: Groups of iterations with a plot; all are in the tables.
_MOST_GROUPS = 6
#: GPUs with a timeline; of more, the slowest, the median and the fastest have one.
_MOST_TIMELINES = 4


class _Page:
    """Maker of the parts of a page."""

    def __init__(self, document: PlainSummary, charts: Charts) -> None:
        self.document = document
        self.plain = document.plain
        self.charts = charts
        self.kinds = kinds(document)

    @property
    def has_ranks(self) -> bool:
        """True if each capture is that of a rank."""
        return all(row["rank"] is not None for row in self.plain["ranks"])

    def chart(self, kind: str, label: str, caption: str = "", row: str | None = None) -> Iterator[Chart]:
        """Yields a plot, if the summary has data for it."""
        if kind in self.kinds:
            yield self.charts.draw(self.document, kind, label, caption, row=row)

    def table(self, view: str, title: str = "") -> Iterator[Any]:
        """Yields the list of a view, if it has rows."""
        found = VIEWS[view]
        rows = found.rows(self.plain)
        shown = [one for one in found.columns if one.place in {columns.EVERYWHERE, columns.SCREEN}]
        if view == "device":
            shown.append(_CAPTURE)
        if rows:
            yield summary_tables.list_table(self.plain, title or found.title, shown, rows)

    def answer(self) -> Iterator[Text]:
        """Yields the answer."""
        # The first versions of the document had no budgets.
        if self.plain["captures"] and all(one["budget"] is not None for one in self.plain["devices"]):
            yield Text(answer(self.plain, selected=self.document.selected), "answer")
            count = len(self.plain["devices"])
            if count > 1:
                rows = "GPUs" if count == gpu_count(self.plain) else "rows, one for each process of a GPU"
                yield Text(f"Time and shares of the answer are means of {count:,} {rows}.")

    def budget(self) -> Iterator[Any]:
        """Yields the budget of each GPU."""
        yield from self.chart("budget", "Time budget of each GPU: kernels by category, copies, and idle time by cause")
        devices = summary_devices.with_budget(self.plain)
        if devices:
            yield summary_tables.budget_table(devices)
        if len(self.plain["devices"]) > 1 or not devices:
            yield from self.table("device")
        yield from self.table("category")

    def utilization(self) -> Iterator[Any]:
        """Yields the busy time of each GPU over time."""
        yield from self.chart("utilization", "Busy share of each GPU over time")
        devices = summary_devices.with_activity(self.plain)
        if len(devices) > _MOST_TIMELINES:
            # Not all of them have the table of a timeline.
            yield Fold("Numbers", [summary_tables.utilization_table(devices)])

    def timelines(self) -> Iterator[Any]:
        """Yields the categories of each shown GPU over time."""
        names = summary_devices.labels(self.plain)
        name_of = {id(device): name for name, device in zip(names, self.plain["devices"], strict=True)}
        devices = summary_devices.with_activity(self.plain, _MOST_TIMELINES)
        for label, device in devices:
            description = f"Categories of kernels and copies of {visible(label)} over time"
            numbers = Fold("Numbers", [summary_tables.activity_table(label, device)])
            parts = [*self.chart("timeline", description, row=name_of[id(device)]), numbers]
            if len(devices) == 1:
                yield from parts
            else:
                yield Fold(visible(label), parts, is_open=device is devices[0][1])

    def ranges(self) -> Iterator[Any]:
        """Yields the ranges within each other, and the ranges by name."""
        yield from self.chart("ranges", "GPU time of ranges within ranges")
        if self.plain["nested_ranges"]:
            yield Fold("Ranges within ranges", [summary_tables.nested_table(self.plain)])
        yield from self.table("range", "Ranges by name")

    def kernels(self) -> Iterator[Any]:
        """Yields the longest kernels, and all kernels."""
        yield from self.chart("kernels", "Longest kernels with the cumulative share of kernel time")
        if "kernels" in self.kinds:
            title = "Longest kernels, all GPUs" if len(self.plain["devices"]) > 1 else "Longest kernels"
            yield from self._longest("kernel", title, summary_kernels.kernels(self.plain), "kernel time")
        else:
            yield from self.table("kernel")

    def operators(self) -> Iterator[Any]:
        """Yields the CPU operators, of captures without a GPU."""
        yield from self.chart("operators", "Longest CPU operators with the cumulative share of their own time")
        if "operators" in self.kinds:
            found = summary_kernels.operators(self.plain)
            yield from self._longest("operator", "Longest CPU operators", found, "own time")
        else:
            yield from self.table("operator")

    def _longest(self, view: str, title: str, found: Sequence[Sum], whole: str) -> Iterator[Any]:
        """Yields the table of the plot, and all rows, folded if they are the same."""
        yield summary_tables.longest_table(title, found, whole)
        rows = [*self.table(view)]
        is_same = len(found) == len(VIEWS[view].rows(self.plain))
        yield from [Fold(f"All statistics: {counted(len(found), view)}", rows)] if is_same else rows

    def iterations(self) -> Iterator[Any]:
        """Yields the iterations of each group in order, and causes of outliers."""
        for _, text in notes.outliers(self.plain):
            yield Text(visible(text))
        names = summary_iterations.rows(self.document)
        for name in names[:_MOST_GROUPS]:
            yield from self.chart("iterations", f"Times of the iterations of {visible(name)}", visible(name), row=name)
        if len(names) > _MOST_GROUPS:
            yield Text(f"{len(names) - _MOST_GROUPS:,} more groups of iterations are in the tables.", "note")
        if self.plain["iteration_statistics"]:
            rows, title = self.plain["iteration_statistics"], "Statistics of iterations"
            yield summary_tables.list_table(self.plain, title, columns.ITERATION_STATISTICS, rows)
        if self.plain["iterations"]:
            yield Fold("All iterations", [*self.table("iteration")], is_open=len(self.plain["iterations"]) <= _FEW)

    def launches(self) -> Iterator[Any]:
        """Yields the distribution of launch latencies."""
        yield from self.chart("launches", "Number of kernels by launch latency")
        yield from self.table("launch")
        if "launches" in self.kinds:
            yield Fold("Bins of the plot", [summary_tables.histogram_table(self.plain)])
        if self.plain["api_calls"]:
            yield Fold("GPU API calls", [*self.table("api")])

    def ranks(self) -> Iterator[Any]:
        """Yields the busy time of each rank."""
        rows = self.plain["ranks"]
        if self.has_ranks:
            yield from self.chart("ranks", "Busy time of each rank")
            yield from self.table("rank")
        elif rows:
            # Files of different jobs have no slowest rank.
            shown = [one for one in columns.RANKS if one.key not in {"busy_ratio", "slowest"}]
            yield summary_tables.list_table(self.plain, "Files", shown, rows)

    def idle(self) -> Iterator[Any]:
        """Yields the causes of idle time, of each process of a GPU."""
        if any(row.get("device") is None for row in self.plain["idle_causes"]):
            rows = zip(summary_devices.labels(self.plain), self.plain["devices"], strict=True)
            yield summary_tables.idle_table([(visible(label), row) for label, row in rows if row["budget"]])
        else:
            yield from self.table("idle")

    def warnings(self) -> Iterator[Any]:
        """Yields the warnings."""
        rows = self.plain["warnings"]
        if rows:
            yield Remarks([(one["code"], visible(one["message"]), *_details(one)) for one in rows])

    def captures(self) -> Iterator[Any]:
        """Yields the files, and the command of the report."""
        rows = self.plain["captures"]
        if rows:
            yield summary_tables.list_table(self.plain, "Captures", columns.CAPTURES, rows)
            command = self.document.command or known_command(self.plain, selected=self.document.selected)
            if command:
                yield Text("Command of this report:")
                yield Command(command)


#: File of a device, of several captures.
_CAPTURE = columns.Column(
    "capture", "path", TEXT, columns.SCREEN, read=lambda row: (row.get("path") or "").rpartition("/")[2]
)
#: More iterations are folded at first.
_FEW = 60


def article(document: PlainSummary | SummaryDocument, charts: Charts) -> Article:
    """Returns the page of a summary."""
    plain = document if isinstance(document, PlainSummary) else PlainSummary(known(document))
    page = _Page(plain, charts)
    sections = [
        Section("Answer", [*page.answer()]),
        Section("Warnings", [*page.warnings()]),
        Section("Where the time went", [*page.budget()]),
        Section("Utilization over time", [*page.utilization()]),
        Section("Timeline", [*page.timelines()]),
        Section("Ranges", [*page.ranges()]),
        Section("Kernels", [*page.kernels()]),
        Section("CPU operators", [*page.operators()]),
        Section("Metrics", [*page.table("metric")]),
        Section("Iterations", [*page.iterations()]),
        Section("Launches", [*page.launches()]),
        Section("Idle time", [*page.idle()]),
        Section("Copies and sets", [*page.table("memory")]),
        Section("Streams", [*page.table("stream")]),
        Section("Ranks" if page.has_ranks else "Files", [*page.ranks()]),
        Section("cuDNN's recurrent networks", [*page.table("cudnn-rnn")]),
        Section("Captures", [*page.captures()]),
    ]
    return Article(_title(plain.plain), _context(plain.plain), sections)


def _details(warning: dict[str, str | None]) -> tuple[str | None, str | None]:
    """Returns the evidence and the hint of a warning, where it has them."""
    evidence, hint = warning["evidence"], warning["hint"]
    return visible(evidence) if evidence else None, visible(hint) if hint else None


def _title(document: Document) -> str:
    captures = document["captures"]
    noun = "Metrics" if document["metrics"] and not (document["devices"] or document["kernels"]) else "Time"
    if len(captures) == 1:
        return f"{noun} of {visible(captures[0]['path'].rpartition('/')[2])}"
    return f"{noun} of {counted(len(captures), 'capture')}"


def _context(document: Document) -> list[str]:
    return [", ".join(context(document))] if document["captures"] else []
