"""Plan inside a run file: a class for each JSON object."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from fastrnns_rs.documents.codec import since
from fastrnns_rs.documents.part import Part
from fastrnns_rs.documents.sweep import SweepAxis
from fastrnns_rs.problem.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Warmup(Part):
    """Selection of the iterations before the timed iterations."""

    mode: Literal["detect", "fixed"]
    iterations: int | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Stop(Part):
    """Rule that ends the run: `count`, `time`, `precision` or `decided`.

    `count` and `time` end the loop of a process. `precision` limits the number of processes of a runner. `decided`, of
    `ab --until decided`, ends the run when every row has a verdict, or after `most_pairs` pairs.
    """

    rule: str
    parameters: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Jit(Part):
    """Settings of TorchScript's compiler."""

    fuser: str
    executor: str | None = None
    cuda_pointwise_loop_level: int | None = None
    cuda_pointwise_block_count: int | None = None
    cuda_pointwise_block_size: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PlannedRunner(Part):
    """Planned runner: its source, and the problem that it is built for."""

    runner: str
    side: Literal["a", "b"] | None
    source: str
    problem: Problem


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PlanRecord(Part):
    """Plan of the run, and the reason why it ended.

    Attributes:
        preset: Source of sizes and counts that were not given: `cpu`, `upstream` or `quick`.
        processes: Number of processes of each runner, in all `sessions` together.
        order_seed: Random seed for the order of processes.
        warmup: Selection of the iterations before the timed iterations.
        stop: Rule that ends the run.
        stopped_by: Name of the rule that ended the run, or `interrupt`; None where no runner completed.
        precision: Widest relative half width of an interval; None where a result has no interval.
        jit: Settings of TorchScript's compiler.
        threads: Number of torch's threads on the CPU; None for torch's default.
        affinity: CPUs that processes may use; None for those of the command.
        timeout_s: Time limit of a process, in seconds.
        compile_timeout_s: Time limit of each compilation in a process, in seconds.
        compile_cache: Folder for the compiled code of all processes; None for a new folder for each.
        runners: Planned runners, in order.
        devices: Devices that each runner runs on, where several were given.
        side_by_side: True if a runner is measured on these devices at the same time.
        axes: Options with several values.
        sync: Time to wait for a GPU: after each iteration, or after each phase.
        sessions: Number of sessions.
        session_interval_s: Time from the start of one session to the start of the next, in seconds.
        turns: Largest number of turns of each process of a live pair (`ab --live`); None for other processes.
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
    turns: int | None = field(default=None, metadata=since("1.3"))
