"""The report of `inductor` as objects. Each class is one object of the JSON document, each attribute one key."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from fastrnns_rs.documents.codec import Notice, since
from fastrnns_rs.documents.document import Document
from fastrnns_rs.documents.run_file import Environment, PhaseSummary
from fastrnns_rs.documents.summary import CategoryRow, InductorEntry
from fastrnns_rs.errors import UsageError, nearest

FORMATS = ("table", "json")

_SHORT = 20

Graph = Literal["forward", "backward", "inference"]
Status = Literal["ok", "failed", "timed_out", "interrupted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembledKernel:
    """A Triton kernel compiled for an architecture, as the assembler ptxas describes it. It need not run here.

    Attributes:
        architecture: Name, such as `sm_90`.
        registers: Registers of a thread.
        stack_bytes: Stack frame of a thread.
        spill_store_bytes: Stores of a thread to memory because registers are missing.
        spill_load_bytes: Loads of a thread from this memory.
        shared_memory_bytes: Shared memory of a block, with the part that is requested at launch.
        reason: Reason why it does not compile; None if it does.
    """

    architecture: str
    registers: int | None
    stack_bytes: int | None
    spill_store_bytes: int | None
    spill_load_bytes: int | None
    shared_memory_bytes: int | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelTiming:
    """A Triton kernel of a module, in one configuration.

    Attributes:
        name: The kernel's function.
        key: What Inductor files it under: a hash of its source.
        category: By its source: `pointwise`, `reduction`, `persistent_reduction`, `foreach`, `split_scan`, `template`
            or `unknown`.
        timing_mode: How it was timed: `cuda_events_cold_l2`, between CUDA events and with the L2 cache flushed before.
        time: The samples described; None where it was not timed, and `reason` says why.
        num_gb: Gigabytes (10⁹ bytes) that it reads and writes.
        bandwidth_gb_per_s: These over the median time.
        bandwidth_fraction: That over what the device's memory can do; None where nobody tells.
        registers: Of a thread; None where the compiler does not tell, as with the next two.
        spills: Registers of a thread that went to memory.
        shared_memory_bytes: Of a block.
        config: The configuration, as Triton writes it.
        chosen: Whether the autotuner chose this configuration; None where nobody knows.
        reason: Why it was not timed.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TopRow:
    """What the profiler saw under one name and input shape, of the ten that took most time of their own, over all runs.

    Attributes:
        name: A kernel, a copy or an operator.
        input_shapes: As the profiler writes them; empty for what has none, such as kernels.
        count: How often it ran.
        self_device_ns: Its own time on the device.
        self_cpu_ns: Its own time on the CPU.
    """

    name: str
    input_shapes: str
    count: int
    self_device_ns: int
    self_cpu_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleRow:
    """One generated module.

    Attributes:
        path: The module's file.
        runner: The runner that was compiled to it, where one was named.
        graph: What it computes.
        graph_id: The number of the compilation, from 0 in each process that compiles, which its forward and its
            backward share. None where the module does not tell.
        device: What it was generated for: `cpu`, `cuda:0`.
        status: Whether all that was asked of it was done; what was done before it failed stands here all the same.
        reason: Why not, in one line.
        times: Calls in each repeat.
        repeat: How many samples a process takes.
        timing_mode: How `wall` was timed: `cpu_wall_per_call`, wall time with a synchronisation after each call.
        first_call_ns: The first process's first call, which compiles and tunes what is left to do; in no sample.
        samples_ns: For each process each repeat's time of a call: that of its calls over how many they are.
        wall: The samples described: the time of one call.
        upstream_ms: The median that the module's own `benchmark_compiled_module` returns, in the first process.
        peak_memory_bytes: The most that was in use: of torch's allocator on a device, resident on a CPU.
        kernels: Its Triton kernels, where asked for; with all configurations one row for each.
        profile: Inductor's own view of a profiled run, where asked for.
        categories: The same run by our categories.
        top: The same run by name and input shape.
        trace_path: Where the trace of that run is.
        memory_snapshot_path: Where the snapshot of the allocator is, where asked for.
        ncu_report_path: Where the report of Nsight Compute is, where asked for.
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
        """The file's name without its suffix, which is a hash where Inductor chose it."""
        return Path(self.path).stem


def label(row: ModuleRow) -> str:
    """What a row is called among others."""
    number = "" if row.graph_id is None else f"{row.graph_id} "
    return f"{short(row.name)} {number}{row.graph}"


def short(name: str) -> str:
    """So much of a module's name that it can be told apart: Inductor's are hashes of 52 letters."""
    return name[:_SHORT]


@dataclass(frozen=True, slots=True, kw_only=True)
class InductorReport(Document):
    """What `inductor` measured."""

    noun: ClassVar[str] = "report of inductor"
    hint: ClassVar[str] = "inductor --json writes one"
    schema: Literal["fastrnns-rs/inductor"] = "fastrnns-rs/inductor"
    warnings: list[Notice]
    environment: Environment
    modules: list[ModuleRow]

    @property
    def ok(self) -> bool:
        """Whether everything that was asked of every module was done."""
        return all(one.status == "ok" for one in self.modules)

    def render(self, name: str = "table") -> str:
        """The report as text.

        Args:
            name: `table` or `json`.

        Raises:
            UsageError: There is no such format.
        """
        if name == "json":
            return self.to_json()
        if name not in FORMATS:
            raise UsageError(f"no format is called {name!r}", nearest(name, FORMATS))
        from fastrnns_rs.views.inductor_report import table

        return table(self)
