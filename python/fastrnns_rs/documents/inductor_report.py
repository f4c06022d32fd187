"""Report of `inductor`: a class for each JSON object, an attribute for each key."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from fastrnns_rs.documents import inductor_soundness, soundness
from fastrnns_rs.documents.codec import RunWarning, since
from fastrnns_rs.documents.container import Container
from fastrnns_rs.documents.document import Document
from fastrnns_rs.documents.keywords import checked_keywords
from fastrnns_rs.documents.part import Part
from fastrnns_rs.documents.run_file import Environment, PhaseSummary
from fastrnns_rs.documents.summary import CategoryRow
from fastrnns_rs.documents.summary_inductor import InductorEntry

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("table", "json", "html")

_SHORT = 20

Graph = Literal["forward", "backward", "inference"]
Status = Literal["ok", "failed", "timed_out", "interrupted"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AssembledKernel(Part):
    """Triton kernel compiled for one architecture, as the assembler ptxas reports it.

    The architecture need not be that of this machine.

    Attributes:
        architecture: Name, such as `sm_90`.
        registers: Registers per thread.
        stack_bytes: Stack frame of a thread, in bytes.
        spill_store_bytes: Bytes that a thread stores to memory because it has too few registers.
        spill_load_bytes: Bytes that a thread loads back from this memory.
        shared_memory_bytes: Shared memory of a block, in bytes, including the part that is requested at launch.
        reason: Reason why the kernel does not compile; None if it compiles.
    """

    architecture: str
    registers: int | None
    stack_bytes: int | None
    spill_store_bytes: int | None
    spill_load_bytes: int | None
    shared_memory_bytes: int | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class KernelTiming(Part):
    """Triton kernel of a module, in one configuration.

    Attributes:
        name: Name of the kernel's function.
        key: Key of the kernel in Inductor's cache: a hash of its source.
        category: Category by source: `pointwise`, `reduction`, `persistent_reduction`, `foreach`, `split_scan`,
            `template` or `unknown`.
        timing_mode: Timing method. `cuda_events_cold_l2`: between CUDA events, with the L2 cache flushed before.
        time: Statistics of the samples; None where the kernel was not timed (see `reason`).
        num_gb: Data that the kernel reads and writes, in gigabytes (10⁹ bytes).
        bandwidth_gb_per_s: `num_gb` over the median time, in GB/s.
        bandwidth_fraction: Share of the device's memory bandwidth that is used; None where the bandwidth is unknown.
        registers: Registers per thread; None where the compiler does not report them. This also applies to the next two
            attributes.
        spills: Registers of a thread that were spilled to memory.
        shared_memory_bytes: Shared memory of a block, in bytes.
        config: Configuration, as Triton writes it.
        chosen: True if the autotuner chose this configuration; None where that is unknown.
        reason: Reason why the kernel was not timed.
        assembled: The same configuration compiled for each requested architecture.
    """

    name: str
    key: str
    category: str
    timing_mode: str | None
    time: PhaseSummary | None
    num_gb: float | None
    bandwidth_gb_per_s: float | None
    bandwidth_fraction: float | None
    registers: int | None
    spills: int | None
    shared_memory_bytes: int | None
    config: str | None
    chosen: bool | None
    reason: str | None
    assembled: list[AssembledKernel] = field(default_factory=list, metadata=since("1.3"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TopRow(Part):
    """GPU activities or operators of one name and input shape, over all runs.

    The report has the ten that took the most time of their own.

    Attributes:
        name: Name of a kernel, a copy or an operator.
        input_shapes: Shapes as the profiler writes them; empty for entries without shapes, such as kernels.
        count: Number of executions.
        self_device_ns: Own time on the device, in nanoseconds.
        self_cpu_ns: Own time on the CPU, in nanoseconds.
    """

    name: str
    input_shapes: str
    count: int
    self_device_ns: int
    self_cpu_ns: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ModuleRow(Part):
    """Generated module.

    Attributes:
        path: Path of the module's file.
        runner: Name of the runner that was compiled to the module; None where no runner was named.
        graph: Kind of graph that the module computes.
        graph_id: Number of the compilation, from 0 in each process that compiles. A forward graph and its backward
            graph share it. None where the module does not contain it.
        device: Device that the module was generated for: `cpu`, `cuda:0`.
        status: `ok` if everything that was requested for the module was done. Results from before a failure are kept.
        reason: Reason why it was not done, in one line.
        times: Number of calls in each repeat.
        repeat: Number of samples per process.
        timing_mode: Timing method of `wall`. `cpu_wall_per_call`: wall time with a synchronisation after each call.
        first_call_ns: Duration of the first process's first call, in nanoseconds. It compiles and tunes the remaining
            kernels, and is in no sample.
        samples_ns: Mean time of a call in each repeat of each process, in nanoseconds.
        wall: Statistics of the samples: the time of one call.
        upstream_ms: Median that the module's own `benchmark_compiled_module` returns in the first process, in
            milliseconds.
        peak_memory_bytes: Peak memory in bytes: of torch's allocator on a device, resident memory on a CPU.
        kernels: Triton kernels of the module, where requested; with all configurations, a row for each configuration.
        profile: Inductor's own summary of a profiled run, where requested.
        categories: The same run by the categories of this package.
        top: The same run by name and input shape.
        trace_path: Path of the trace of this run.
        memory_snapshot_path: Path of the allocator's snapshot, where requested.
        ncu_report_path: Path of the report of Nsight Compute, where requested.
    """

    path: str
    graph: Graph
    device: str
    status: Status
    reason: str | None
    times: int
    repeat: int
    runner: str | None = field(default=None, metadata=since("1.1"))
    graph_id: str | None = field(default=None, metadata=since("1.1"))
    timing_mode: str | None = None
    first_call_ns: int | None = None
    samples_ns: list[list[int]] = field(default_factory=list)
    wall: PhaseSummary | None = None
    upstream_ms: float | None = None
    peak_memory_bytes: int | None = None
    kernels: list[KernelTiming] = field(default_factory=list)
    profile: InductorEntry | None = None
    categories: list[CategoryRow] = field(default_factory=list)
    top: list[TopRow] = field(default_factory=list)
    trace_path: str | None = None
    memory_snapshot_path: str | None = None
    ncu_report_path: str | None = None

    @property
    def name(self) -> str:
        """File name without its suffix; a hash where Inductor chose the name."""
        return Path(self.path).stem


def label(row: ModuleRow) -> str:
    """Returns a row's name, which distinguishes it from other rows."""
    number = "" if row.graph_id is None else f"{row.graph_id} "
    return f"{short(row.name)} {number}{row.graph}"


def short(name: str) -> str:
    """Returns the start of a module's name: Inductor's names are 52-letter hashes.

    The start is long enough to distinguish modules.
    """
    return name[:_SHORT]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class InductorReport(Container[ModuleRow], Document):
    """Result of `inductor`.

    >>> import fastrnns_rs
    >>> report = fastrnns_rs.load("inductor.json")
    >>> report.ok, len(report)
    (True, 0)
    """

    row_noun: ClassVar[str] = "module"
    place: ClassVar[str] = "in this report"
    rows_key: ClassVar[str] = "modules"
    noun: ClassVar[str] = "report of inductor"
    hint: ClassVar[str] = "Use a document of inductor."
    schema: Literal["fastrnns-rs/inductor"] = "fastrnns-rs/inductor"
    warnings: list[RunWarning]
    environment: Environment
    modules: list[ModuleRow]

    def check(self) -> None:
        """Checks numbers, as any document does, and times and bandwidths."""
        soundness.check_numbers(self)
        inductor_soundness.check_report(self)

    def _names(self) -> list[tuple[str, ...]]:
        return [(label(one), one.name, one.path, *([] if one.runner is None else [one.runner])) for one in self.modules]

    @property
    def ok(self) -> bool:
        """True if everything that was requested for every module was done."""
        return all(one.status == "ok" for one in self.modules)

    @checked_keywords(name="kind")
    def plot(
        self, kind: str | None = None, *, row: str | None = None, ax: Axes | None = None, dark: bool = False
    ) -> Figure:
        """Draws the report with matplotlib, of the extra `plots`.

        Args:
            kind: `modules` for the time of a call of each module, or `kernels` of one module. None for the first of
                these that the report has data for.
            row: Module of `kernels`, as the page names it; None for the first module with timed kernels.
            ax: Axes to draw on; None for a new figure.
            dark: True draws on a dark background.

        Returns:
            Figure of matplotlib, which a notebook shows.

        Raises:
            MissingError: If matplotlib is not installed.
            UsageError: If the kind or the row is unknown.
        """
        from fastrnns_rs.views.plots.figure import draw

        return draw(self, kind, row=row, ax=ax, dark=dark).figure
