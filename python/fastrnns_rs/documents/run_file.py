"""The run file as objects. Each class is one object of the JSON document, each attribute one of its keys.

What a key means stands in its class; durations are integers of nanoseconds, statistics of them may be fractional, and
what is unknown is None.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import ClassVar, Literal

from fastrnns_rs._core import quantiles
from fastrnns_rs.documents import run_soundness, soundness
from fastrnns_rs.documents.codec import Notice, since
from fastrnns_rs.documents.document import Document
from fastrnns_rs.documents.sweep import Point, Sweep, SweepAxis
from fastrnns_rs.errors import UsageError, nearest
from fastrnns_rs.problem.problem import Problem

RunStatus = Literal["complete", "interrupted", "failed"]
ResultStatus = Literal["ok", "failed", "skipped", "timed_out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Which build of fastrnns-rs measured."""

    name: str
    version: str
    build_profile: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """A CUDA device as it was before the run."""

    index: int
    name: str
    uuid: str | None
    compute_capability: str | None
    memory_total_bytes: int | None
    sm_clock_mhz: float | None = None
    power_limit_w: float | None = None
    temperature_c: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Git:
    """The checkout in the working directory."""

    commit: str | None
    dirty: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The machine and the software, before the run."""

    python_version: str
    torch_version: str
    torchvision_version: str | None = None
    cuda_version: str | None = None
    cudnn_version: str | None = None
    driver_version: str | None = None
    os: str
    cpu_model: str | None = None
    cpu_count: int
    cpu_affinity: list[int]
    cpu_governor: str | None = None
    num_threads: int
    load_average_1m: float | None = None
    gpus: list[Gpu] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    git: Git
    cpu_microcode: str | None = field(default=None, metadata=since("1.3"))
    aslr: int | None = field(default=None, metadata=since("1.3"))
    transparent_huge_pages: str | None = field(default=None, metadata=since("1.3"))
    python_executable: str | None = field(default=None, metadata=since("1.3"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One start of a bench: when it began, on which machine, and since which boot of it.

    Attributes:
        session_id: Name of the session, in the processes that it measured.
        started_utc: Start of the session.
        machine_id: Hash of the name that the operating system gave the machine; None where there is none.
        boot_id: Random name of the current boot; None where the system has none.
    """

    session_id: str
    started_utc: str
    machine_id: str | None
    boot_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Warmup:
    """How the iterations before the timed ones were chosen."""

    mode: Literal["detect", "fixed"]
    iterations: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """The rule that ends the run: `count` and `time` end a process's loop, `precision` the processes of a runner."""

    rule: str
    parameters: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Jit:
    """How TorchScript was told to compile."""

    fuser: str
    executor: str | None = None
    cuda_pointwise_loop_level: int | None = None
    cuda_pointwise_block_count: int | None = None
    cuda_pointwise_block_size: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRunner:
    """A runner that is to run: where it is defined, and what it is built for."""

    runner: str
    side: Literal["a", "b"] | None
    source: str
    problem: Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRecord:
    """What the run set out to do, and what ended it. `precision` is the widest relative half width of an interval.

    `processes` are those of all `sessions` together.
    """

    preset: str
    processes: int
    order_seed: int | None
    warmup: Warmup
    stop: Stop
    stopped_by: str | None = None
    precision: float | None = None
    jit: Jit
    threads: int | None = field(default=None, metadata=since("1.1"))
    affinity: list[int] | None = field(default=None, metadata=since("1.1"))
    timeout_s: float | None = field(default=None, metadata=since("1.1"))
    compile_timeout_s: float | None = field(default=None, metadata=since("1.1"))
    compile_cache: str | None = field(default=None, metadata=since("1.1"))
    runners: list[PlannedRunner] = field(default_factory=list, metadata=since("1.1"))
    devices: list[str] = field(default_factory=list, metadata=since("1.1"))
    side_by_side: bool = field(default=False, metadata=since("1.1"))
    axes: list[SweepAxis] = field(default_factory=list, metadata=since("1.1"))
    sync: Literal["iteration", "phase"] = field(default="iteration", metadata=since("1.3"))
    sessions: int = field(default=1, metadata=since("1.3"))
    session_interval_s: float | None = field(default=None, metadata=since("1.3"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRank:
    """One of the ranks that `torchrun` started: where its workers ran. Machines are told apart by number."""

    rank: int
    local_rank: int
    node: int
    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSide:
    """One of the two sides of an `ab`: what it runs, and in what."""

    name: Literal["a", "b"]
    label: str
    runner: str
    python: str | None = None
    options: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    environment: Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseSummary:
    """The timed samples of a phase, described. The estimate is what tables show.

    Of a phase on a GPU `host_ns` is the median time of the calls that gave it the work. The phase is `launch_bound`
    where that is nine tenths of the device's time or more: a quicker GPU would not make it quicker.
    """

    n_processes: int
    n_samples: int
    n_effective: float | None
    estimate_ns: float
    ci_low_ns: float | None
    ci_high_ns: float | None
    confidence_level: float
    ci_method: str | None
    mean_ns: float
    stddev_ns: float | None
    min_ns: float
    max_ns: float
    median_ns: float
    q1_ns: float
    q3_ns: float
    p95_ns: float
    p99_ns: float
    mad_ns: float
    host_ns: float | None = field(default=None, metadata=since("1.3"))
    launch_bound: bool | None = field(default=None, metadata=since("1.3"))


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstCall:
    """The first iteration: it compiles, tunes and allocates."""

    forward_ns: int
    backward_ns: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compile:
    """What compiling cost, for runners that compile ahead of the loop; null for all others.

    `cold_ns` is the whole first iteration with an empty cache, forward and backward, the loading of the compiler
    included; null where the cache was given. `warm_ns` is the same again in the same process, of which only the files
    of the cache are kept. `recompilations` were in the loop.
    """

    cold_ns: int | None = None
    warm_ns: int | None = None
    graph_breaks: int | None = None
    recompilations: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLoad:
    """Processor time and interruptions of a worker, from before its model is built to the end of its loop.

    Attributes:
        wall_ns: Length of this time.
        cpu_ns: Processor time of all threads of the worker.
        steal_ns: Time that the hypervisor took from the CPUs that the worker may use, summed over them.
        voluntary_switches: Context switches because a thread waited.
        involuntary_switches: Context switches because another thread ran.
        cpu_mhz: Mean frequency of these CPUs, before and after; None where the system does not show it.
    """

    wall_ns: int
    cpu_ns: int
    steal_ns: int | None
    voluntary_switches: int
    involuntary_switches: int
    cpu_mhz: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One worker process: every sample that it took, warm-up included, in order.

    Processes of one `index` are those of the ranks that `torchrun` started: they ran at the same time, and are one
    replicate. `rank` is None where there are none.

    On a GPU `forward_ns` and `backward_ns` are times of the device, and `forward_host_ns` and `backward_host_ns` those
    of the calls that gave it the work. `unjoined_ns` is the longest that the device worked on after an iteration, on
    streams that nothing waited for, and that no time includes.
    """

    index: int
    order: int
    rank: int | None = None
    status: ResultStatus | Literal["interrupted"]
    reason: str | None = None
    warmup_class: str | None = None
    steady_from: int | None = None
    first_call: FirstCall | None = None
    compile: Compile
    peak_memory_bytes: int | None = None
    peak_reserved_bytes: int | None = None
    timed_loop_ns: int | None = None
    forward_ns: list[int]
    backward_ns: list[int] | None = None
    baseline_memory_bytes: int | None = field(default=None, metadata=since("1.1"))
    session: str | None = field(default=None, metadata=since("1.3"))
    started_utc: str | None = field(default=None, metadata=since("1.3"))
    load: ProcessLoad | None = field(default=None, metadata=since("1.3"))
    forward_host_ns: list[int] | None = field(default=None, metadata=since("1.3"))
    backward_host_ns: list[int] | None = field(default=None, metadata=since("1.3"))
    unjoined_ns: int | None = field(default=None, metadata=since("1.3"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One runner on one problem; `point` says where in a sweep it stands."""

    runner: str
    group: str
    mode: Literal["train", "inference"]
    timing_mode: str | None = None
    timer_resolution_ns: int | None = None
    problem: Problem
    status: ResultStatus
    reason: str | None = None
    note: str | None = None
    forward: PhaseSummary | None = None
    backward: PhaseSummary | None = None
    processes: list[Process]
    side: Literal["a", "b"] | None = field(default=None, metadata=since("1.1"))
    warmup_class: str | None = field(default=None, metadata=since("1.1"))
    peak_memory_bytes: int | None = field(default=None, metadata=since("1.1"))
    peak_reserved_bytes: int | None = field(default=None, metadata=since("1.1"))
    point: Point = field(default_factory=dict, metadata=since("1.1"))
    label: str | None = field(default=None, metadata=since("1.1"))
    source_sha256: str | None = field(default=None, metadata=since("1.3"))

    @property
    def title(self) -> str:
        """The runner's name, and what tells it from other rows of that runner: `cudnn[hidden-size=256] on cuda:1`."""
        return self.label or self.runner

    def first_call_ns(self) -> float | None:
        """The first iteration, forward and backward together: the median of the processes that count."""
        firsts = [one.first_call for one in self.processes if one.status == "ok" and one.first_call is not None]
        return quantiles([one.forward_ns + (one.backward_ns or 0) for one in firsts], [0.5])[0] if firsts else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(Document):
    """What a bench wrote."""

    noun: ClassVar[str] = "run file"
    hint: ClassVar[str] = "bench --output FILE writes one"

    schema: Literal["fastrnns-rs/run"] = "fastrnns-rs/run"
    run_id: str
    created_utc: str
    status: RunStatus
    command: list[str]
    warnings: list[Notice] = field(default_factory=list)
    tool: Tool
    environment: Environment
    plan: PlanRecord
    results: list[Result] = field(default_factory=list)
    sides: list[RunSide] = field(default_factory=list, metadata=since("1.1"))
    ranks: list[RunRank] = field(default_factory=list, metadata=since("1.1"))
    sweep: Sweep | None = field(default=None, metadata=since("1.1"))
    sessions: list[Session] = field(default_factory=list, metadata=since("1.3"))

    def check(self) -> None:
        """As of any document. Results, and processes of a result, are there once, and have samples of their own."""
        soundness.check_numbers(self)
        run_soundness.check_results(self.results)
        run_soundness.check_sessions(self)

    def __getitem__(self, name: str) -> Result:
        """The result of the runner called `name`; of one that has several the first, or that of a name with its point.

        Raises:
            KeyError: The run has none.
        """
        for result in self.results:
            if name in {result.runner, result.title}:
                return result
        raise KeyError(name)

    def results_of(self, runner: str, **problem: object) -> list[Result]:
        """Every result of a runner: `run.results_of("cudnn", hidden_size=256)`.

        Args:
            runner: Its name.
            problem: What its problem has, by field.

        Raises:
            UsageError: A problem has no such field.
        """
        known = [one.name for one in fields(Problem)]
        for name in problem:
            if name not in known:
                raise UsageError(f"no problem has a {name}", nearest(name, known))
        return [
            one
            for one in self.results
            if one.runner == runner and all(getattr(one.problem, name) == value for name, value in problem.items())
        ]

    def render(self, name: str) -> str:
        """The run in an output format: `table`, `json`, `csv`, `markdown`, `oss` or `pep`."""
        from fastrnns_rs.views.formats import run_text

        return run_text(self, name)

    def to_json(self) -> str:
        """The text of the run file."""
        return self.render("json")
