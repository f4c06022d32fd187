"""Ranges and iterations of the document `fastrnns-rs/summary`, as dataclasses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from fastrnns_rs.documents.codec import since


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeRow:
    """GPU activities in the ranges of a name, by the calls that launched them.

    `gpu_inclusive_ns` and `kernel_count` count each operation once, however many ranges of the name are around it;
    `gpu_exclusive_ns` counts it in the innermost range only. `host_total_ns` is of the ranges that were closed.
    `gpu_other_threads_ns` is in neither: other threads of the process, autograd's above all, launched it meanwhile.
    """

    name: str
    domain: str | None
    kind: Literal["nvtx", "record_function"]
    runner: str | None
    phase: str | None
    count: int
    host_total_ns: int
    gpu_inclusive_ns: int
    gpu_exclusive_ns: int
    kernel_count: int
    gpu_other_threads_ns: int | None = field(default=None, metadata=since("1.2"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """By how much the device time of a category differs from that of the median iteration."""

    category: str
    delta_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationPart:
    """A phase within a step of torch's profiler; its figures are as those of an iteration."""

    runner: str | None
    phase: str | None
    start_ns: int
    host_ns: int
    gpu_ns: int
    gpu_busy_ns: int
    gpu_time_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationRow:
    """An iteration of a model. It owns the GPU activities that its process launched while it was open, on any thread.

    `host_ns` (equal to `duration_ns`) is the length of the range. `gpu_ns` reaches from the first activity's start to
    the last activity's end, `gpu_busy_ns` is the time with at least one activity, `gpu_time_ns` the sum of all
    durations; 0 without any. `outlier`: beyond Tukey's far fences, of ten iterations or more; `differences` says what
    it did differently.
    """

    index: int
    runner: str | None
    phase: str | None
    start_ns: int
    duration_ns: int
    gpu_busy_ns: int
    outlier: bool
    differences: list[Difference]
    host_ns: int | None = field(default=None, metadata=since("1.2"))
    gpu_ns: int | None = field(default=None, metadata=since("1.2"))
    gpu_time_ns: int | None = field(default=None, metadata=since("1.2"))
    parts: list[IterationPart] = field(default_factory=list, metadata=since("1.2"))


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationStatistics:
    """The iterations of one runner and phase. `measure` is the key of iterations that figures without another are of.

    It is `gpu_ns` where iterations launched anything, else `host_ns`; until version 1.1 it was always `host_ns`.
    `name`: the ranges' name where runner and phase are unknown, `ProfilerStep` or the one that was given.
    """

    runner: str | None
    phase: str | None
    count: int
    total_ns: int
    mean_ns: float
    median_ns: float
    min_ns: int
    max_ns: int
    stddev_ns: float | None
    p95_ns: float
    gpu_busy_median_ns: float
    outlier_count: int
    measure: Literal["gpu_ns", "host_ns"] = field(default="host_ns", metadata=since("1.2"))
    host_median_ns: float | None = field(default=None, metadata=since("1.2"))
    gpu_median_ns: float | None = field(default=None, metadata=since("1.2"))
    gpu_time_median_ns: float | None = field(default=None, metadata=since("1.2"))
    name: str | None = field(default=None, metadata=since("1.2"))
