"""Document `fastrnns-rs/summary`: the extension's summary of captures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args, get_origin, get_type_hints

from fastrnns_rs.documents import inductor_soundness, soundness, summary_figures, summary_soundness
from fastrnns_rs.documents.codec import since
from fastrnns_rs.documents.container import Container
from fastrnns_rs.documents.document import Document
from fastrnns_rs.documents.keywords import checked_keywords
from fastrnns_rs.documents.part import Part, Tabular
from fastrnns_rs.documents.summary_captures import CaptureEntry
from fastrnns_rs.documents.summary_inductor import InductorEntry
from fastrnns_rs.documents.summary_plots import DeviceActivity, Histogram, NestedRange
from fastrnns_rs.documents.summary_ranges import IterationRow, IterationStatistics, RangeRow
from fastrnns_rs.errors import is_one_of, unknown

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BudgetRow(Part):
    """Category of kernels, kind of copies or sets, or cause of idle time."""

    name: str
    count: int
    total_ns: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Budget(Part):
    """Division of a device's span; each list has the longest first.

    `kernels` and `copies` less `counted_twice_ns` add up to the busy time, `idle` adds up to the idle time.
    """

    kernels: list[BudgetRow]
    copies: list[BudgetRow]
    counted_twice_ns: int
    idle: list[BudgetRow]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DeviceRow(Part):
    """Device as used by one process, from its first to its last GPU activity.

    The span ends with the end of the last activity. Time between two files of one process is not part of `span_ns` and
    `idle_ns`: no file contains it. `rank` is the rank of the process in a distributed job. It is set
    where there are several captures, and a capture or its name contains the rank. `path` is the file of the device's
    capture, where there are several captures and only one of them contains the device. `exposed_communication_ns` is
    the time in which only communication kernels ran.
    """

    device_id: int | None
    process_id: int | None
    name: str | None
    start_ns: int
    end_ns: int
    span_ns: int
    busy_ns: int
    idle_ns: int
    overlap_ns: int
    utilization: float | None
    kernel_count: int
    kernel_total_ns: int
    budget: Budget | None = field(default=None, metadata=since("1.2"))
    rank: int | None = field(default=None, metadata=since("1.2"))
    activity: DeviceActivity | None = field(default=None, metadata=since("1.3"))
    path: str | None = field(default=None, metadata=since("1.3"))
    exposed_communication_ns: int | None = field(default=None, metadata=since("1.3"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class KernelRow(Part):
    """Launches of a kernel. Values that differ between launches are null.

    `median_ns`, `stddev_ns` and `p95_ns` are null where a capture contains only totals.
    """

    name: str
    short_name: str
    mangled_name: str | None
    category: str
    device_id: int | None
    count: int
    total_ns: int
    mean_ns: float
    median_ns: float | None
    min_ns: int
    max_ns: int
    stddev_ns: float | None
    p95_ns: float | None
    kernel_time_fraction: float | None
    span_fraction: float | None
    grid: list[int] | None
    block: list[int] | None
    registers_per_thread: int | None
    shared_memory_bytes: int | None
    device: int | None = field(default=None, metadata=since("1.2"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CategoryRow(Part):
    """Kernels of a category."""

    name: str
    count: int
    total_ns: int
    kernel_time_fraction: float | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MemoryRow(Part):
    """Copies or sets of a kind. Sizes are null where the capture has none."""

    kind: str
    device_id: int | None
    count: int
    total_ns: int
    mean_ns: float
    median_ns: float | None
    min_ns: int
    max_ns: int
    stddev_ns: float | None
    total_bytes: int | None
    mean_bytes: float | None
    median_bytes: float | None
    min_bytes: int | None
    max_bytes: int | None
    stddev_bytes: float | None
    bandwidth_gb_per_s: float | None
    device: int | None = field(default=None, metadata=since("1.2"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StreamRow(Part):
    """Stream of a device."""

    device_id: int | None
    stream_id: int | None
    kernel_count: int
    busy_ns: int
    total_ns: int
    device: int | None = field(default=None, metadata=since("1.2"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ApiRow(Part):
    """Calls of a function of the device's API."""

    name: str
    count: int
    total_ns: int
    mean_ns: float
    median_ns: float | None
    min_ns: int
    max_ns: int
    stddev_ns: float | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OperatorRow(Part):
    """CPU operator, with its callees (`total_ns`, `mean_ns`) and without (`self_ns`)."""

    name: str
    count: int
    total_ns: int
    self_ns: int
    mean_ns: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LaunchesEntry(Part):
    """Delays between kernel launches and kernels.

    Latency is from the start of the launching API call to the start of the kernel. Queue time is from the end of the
    call, and 0 if negative.
    """

    matched_count: int
    unmatched_kernel_count: int
    latency_median_ns: float | None
    latency_p95_ns: float | None
    queue_median_ns: float | None
    queue_p95_ns: float | None
    latency_histogram: Histogram | None = field(default=None, metadata=since("1.3"))
    queue_histogram: Histogram | None = field(default=None, metadata=since("1.3"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class IdleRow(Part):
    """Cause of idle time. The rows of a device add up to its idle time.

    `in_stream_ns` is the part of `dependency` directly after an activity of the same stream, which is the GPU's own
    time between two activities, as far as the stream waited for no event. It is null for other causes.
    """

    device_id: int | None
    cause: Literal[
        "graph_gap", "unmatched", "launch", "synchronization", "allocation", "data_loader", "host", "dependency"
    ]
    count: int
    total_ns: int
    device: int | None = field(default=None, metadata=since("1.2"))
    in_stream_ns: int | None = field(default=None, metadata=since("1.3"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CudnnRnnRow(Part):
    """Path of cuDNN through recurrent networks.

    cuDNN runs one kernel for a sequence, or some kernels for each step.
    """

    runner: str | None
    phase: str | None
    path: Literal["persistent", "stepwise", "mixed"]
    kernel_count: int
    iterations: int | None
    kernels_per_iteration: float | None
    kernels_per_step: float | None
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RankRow(Part):
    """One of several files of one job. `busy_ratio`: busy time / median of all.

    `work_ns` is the time with at least one activity other than communication, which may be waiting for other ranks.
    `slowest` marks the largest; it marked the largest `busy_ns` in documents without `work_ns`.
    """

    path: str
    rank: int | None
    span_ns: int
    busy_ns: int
    kernel_count: int
    kernel_total_ns: int
    busy_ratio: float | None
    slowest: bool
    work_ns: int | None = field(default=None, metadata=since("1.3"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MetricRow(Part):
    """Metric of nvprof, or event, of a kernel; an event has no description."""

    device: str
    kernel: str
    invocations: int
    name: str
    description: str | None
    min: float | None
    max: float | None
    avg: float | None
    unit: str | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SummaryWarning(Part):
    """Warning about a capture, or about its summary.

    Attributes:
        code: Code of the warning, which `fastrnns-rs explain` describes.
        message: Effect on the result.
        evidence: Numbers that show the effect.
        hint: Next step for the reader.
    """

    code: str
    message: str
    evidence: str | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SummaryDocument(Container[KernelRow], Tabular, Document):
    """Summary of the time in captures, and of its causes."""

    row_noun: ClassVar[str] = "kernel"
    place: ClassVar[str] = "in this summary"
    rows_key: ClassVar[str] = "kernels"
    columns_call: ClassVar[str] = "summary.columns()"

    schema: Literal["fastrnns-rs/summary"] = "fastrnns-rs/summary"
    warnings: list[SummaryWarning]
    captures: list[CaptureEntry]
    devices: list[DeviceRow]
    kernels: list[KernelRow]
    categories: list[CategoryRow]
    memory_operations: list[MemoryRow]
    streams: list[StreamRow]
    api_calls: list[ApiRow]
    cpu_operators: list[OperatorRow] = field(default_factory=list, metadata=since("1.2"))
    ranges: list[RangeRow] = field(default_factory=list, metadata=since("1.1"))
    nested_ranges: list[NestedRange] = field(default_factory=list, metadata=since("1.3"))
    iterations: list[IterationRow] = field(default_factory=list, metadata=since("1.1"))
    iteration_statistics: list[IterationStatistics] = field(default_factory=list, metadata=since("1.1"))
    launches: LaunchesEntry | None = field(default=None, metadata=since("1.1"))
    idle_causes: list[IdleRow] = field(default_factory=list, metadata=since("1.1"))
    cudnn_rnn: list[CudnnRnnRow] = field(default_factory=list, metadata=since("1.1"))
    ranks: list[RankRow] = field(default_factory=list, metadata=since("1.1"))
    metrics: list[MetricRow] = field(default_factory=list, metadata=since("1.1"))
    inductor: InductorEntry | None

    def check(self) -> None:
        """Checks numbers, as any document does, and the consistency of the summary.

        Spans, kernels, bins, nested ranges and medians must fit together.
        """
        soundness.check_numbers(self)
        summary_soundness.check_summary(self)
        summary_figures.check_figures(self)
        if self.inductor is not None:
            inductor_soundness.check_view("inductor", self.inductor)

    def _names(self) -> list[tuple[str, ...]]:
        return [(one.name, one.short_name) for one in self.kernels]

    def columns(self, table: str = "kernels") -> dict[str, np.ndarray[Any, Any]]:
        """Returns a list of the document as columns, as `Summary.columns` does."""
        from fastrnns_rs.documents.columns import collect_columns

        if not is_one_of(table, TABLES):
            raise unknown("unknown table", table, TABLES, where="table")
        return collect_columns(getattr(self, table), TABLES[table])

    @checked_keywords(name="kind")
    def plot(
        self, kind: str | None = None, *, row: str | None = None, ax: Axes | None = None, dark: bool = False
    ) -> Figure:
        """Draws the summary with matplotlib, as `Summary.plot` does."""
        from fastrnns_rs.views.plots.figure import draw
        from fastrnns_rs.views.summary.plain import PlainSummary, known

        return draw(PlainSummary(known(self)), kind, row=row, ax=ax, dark=dark).figure

    @checked_keywords(name="format", by="view")
    def render(
        self,
        format: str = "table",  # noqa: A002  # its name on the command line
        *,
        view: str = "overview",
        wide: bool = False,
        width: int | None = None,
        top: int | None = None,
        names: str = "full",
    ) -> str:
        """Returns the report of the captures as text, as `Summary.render` does."""
        if format == "json":
            return self.to_json()
        from fastrnns_rs.views.summary.plain import make_plain
        from fastrnns_rs.views.summary.rendering import rendered

        return rendered(make_plain(self), format, view, top=top, names=names, width=width, wide=wide)


#: Lists of the document, each with the class of its rows.
TABLES: dict[str, type[Any]] = {
    key: get_args(hint)[0]
    for key, hint in get_type_hints(SummaryDocument).items()
    if get_origin(hint) is list and key not in {"warnings", "captures"}
}
