"""Results of a run file: a row for each runner and problem, with its processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from fastrnns_rs._core import quantiles
from fastrnns_rs.documents.codec import since
from fastrnns_rs.documents.part import Part
from fastrnns_rs.documents.replicates import process_time
from fastrnns_rs.documents.sweep import Point
from fastrnns_rs.problem.problem import Problem

#: Share of the device time from which the host time determines the time of a phase.
LAUNCH_BOUND = 0.9
#: Two processes have a range instead of an interval: it contains the median of process medians with this probability.
RANGE_LEVEL = 0.5

ResultStatus = Literal["ok", "failed", "skipped", "timed_out"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PhaseSummary(Part):
    """Statistics of a phase's timed samples. Tables show the estimate.

    For a phase on a GPU, `host_ns` is the median time of the launching API calls. The phase is `launch_bound` where
    `host_ns` is at least nine tenths of the device's time: mostly, a faster GPU would not make the phase faster.
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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FirstCall(Part):
    """First iteration: it compiles, tunes and allocates."""

    forward_ns: int
    backward_ns: int | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Compile(Part):
    """Cost of compiling, for runners that compile before the loop; null for others.

    Attributes:
        cold_ns: Duration of the whole first iteration with an empty cache, in nanoseconds. It includes forward,
            backward and the loading of the compiler. None where the user gave the cache.
        warm_ns: The same duration in the same process, after everything but the files of the cache was dropped.
        graph_breaks: Number of places where Python runs between compiled graphs.
        recompilations: Number of recompilations in the loop.
    """

    cold_ns: int | None = None
    warm_ns: int | None = None
    graph_breaks: int | None = None
    recompilations: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ProcessLoad(Part):
    """Processor time and interruptions of a worker.

    The interval is from before the model is built to the end of the loop.

    Attributes:
        wall_ns: Length of the interval, in nanoseconds.
        cpu_ns: Processor time of all threads of the worker, in nanoseconds.
        steal_ns: Time that the hypervisor took from the CPUs that the worker may use, summed over them.
        voluntary_switches: Number of context switches because a thread waited.
        involuntary_switches: Number of context switches because another thread ran.
        cpu_mhz: Mean frequency of these CPUs in MHz, before and after; None where the system does not report it.
    """

    wall_ns: int
    cpu_ns: int
    steal_ns: int | None
    voluntary_switches: int
    involuntary_switches: int
    cpu_mhz: float | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Process(Part):
    """Worker process with all its samples in order, including warm-up.

    Processes with the same `index` are those of the ranks that `torchrun` started: they ran at the same time, and are
    one replicate. Without ranks, `rank` has the value None.

    `timed_loop_ns` is the time of all iterations from `steady_from` on, with the work outside of both phases.

    On a GPU, `forward_ns` and `backward_ns` are times of the device. `forward_host_ns` and `backward_host_ns` are times
    of the launching API calls. `unjoined_ns` is the longest time that the device worked after an iteration on streams
    that no synchronisation waited for. No other time includes it.

    `forward_change_points` and `backward_change_points` are the iterations at which the level of the times changes. The
    first iteration has no level. `steady_from` is where the last level of this process begins, or the middle of a
    process without a steady state. `timed_from` is the first iteration that counts, which the processes of a runner
    have in common; None where `steady_from` is that iteration, as in older files. `slices` are the first iterations of
    the turns of a live process, which has a turn for each turn of the other side; None for other processes.
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
    forward_change_points: list[int] | None = field(default=None, metadata=since("1.3"))
    backward_change_points: list[int] | None = field(default=None, metadata=since("1.3"))
    timed_from: int | None = field(default=None, metadata=since("1.3"))
    slices: list[int] | None = field(default=None, metadata=since("1.3"))

    @property
    def first_timed(self) -> int | None:
        """First iteration that counts; None for a process that did not get so far."""
        return self.steady_from if self.timed_from is None else self.timed_from

    def samples_ns(self, phase: str, *, timed: bool = False) -> list[int]:
        """Returns the samples of a phase in order, in nanoseconds.

        Args:
            phase: `forward` or `backward`.
            timed: True leaves out the warm-up.
        """
        found = (self.forward_ns if phase == "forward" else self.backward_ns) or []
        return found[self.first_timed or 0 :] if timed else found

    def change_points(self, phase: str) -> list[int]:
        """Returns the iterations at which the level of a phase changes.

        Args:
            phase: `forward` or `backward`.
        """
        return (self.forward_change_points if phase == "forward" else self.backward_change_points) or []

    def median_ns(self, phase: str) -> float | None:
        """Returns the median of the timed samples of a phase, in nanoseconds.

        The geometric mean of the medians of its turns, for a live process. None for a process that failed, or that did
        not measure the phase.

        Args:
            phase: `forward` or `backward`.
        """
        timed = self.samples_ns(phase, timed=True) if self.status == "ok" else []
        return process_time(timed, self.timed_turns) if timed else None

    @property
    def timed_turns(self) -> list[int]:
        """Turns of a live process that count.

        Each is the place of its first sample among the timed samples.
        """
        first = self.first_timed or 0
        return [start - first for start in self.slices or [] if start >= first]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Result(Part):
    """Result of one runner on one problem; `point` is its position in a sweep."""

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
        """Runner name, with the difference from other rows of the runner.

        An example is `cudnn[hidden-size=256] on cuda:1`.
        """
        return self.label or self.runner

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the row: its title, with and without its side, and its runner."""
        sides = () if self.side is None else (f"{self.title} ({self.side})",)
        return tuple(dict.fromkeys((*sides, self.title, self.runner)))

    def first_call_ns(self) -> float | None:
        """Returns the median time of the first iteration, in nanoseconds.

        The time is that of forward and backward together. The median is over the processes that are `ok`.
        """
        firsts = [one.first_call for one in self.processes if one.status == "ok" and one.first_call is not None]
        return quantiles([one.forward_ns + (one.backward_ns or 0) for one in firsts], [0.5])[0] if firsts else None

    def compile_ns(self, key: Literal["cold_ns", "warm_ns"]) -> float | None:
        """Returns the median compile time of the processes that are `ok`, in ns.

        Args:
            key: `cold_ns` with an empty cache, `warm_ns` with a full one.
        """
        costs = [getattr(one.compile, key) for one in self.processes if one.status == "ok"]
        known = [one for one in costs if one is not None]
        return quantiles(known, [0.5])[0] if known else None
