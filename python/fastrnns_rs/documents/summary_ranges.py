"""Ranges and iterations of the document `fastrnns-rs/summary`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from fastrnns_rs.documents.codec import since
from fastrnns_rs.documents.part import Part


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RangeRow(Part):
    """GPU activities in all ranges of a name, by the calls that launched them.

    `gpu_inclusive_ns` and `kernel_count` count each activity once, even if several ranges of the name enclose it.
    `gpu_exclusive_ns` counts an activity in the innermost range only. `host_total_ns` includes only ranges that were
    closed. `gpu_other_threads_ns` is in neither: other threads of the process launched it meanwhile, mostly those of
    autograd.
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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Difference(Part):
    """Difference of a category's device time from that of the median iteration."""

    category: str
    delta_ns: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class IterationPart(Part):
    """Phase within a step of torch's profiler, with the figures of an iteration."""

    runner: str | None
    phase: str | None
    start_ns: int
    host_ns: int
    gpu_ns: int
    gpu_busy_ns: int
    gpu_time_ns: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class IterationRow(Part):
    """Iteration of a model, with all GPU activities that its process launched in it.

    The activities may come from any thread. `host_ns` (equal to `duration_ns`) is the length of the range. `gpu_ns` is
    from the first activity's start to the last activity's end. `gpu_busy_ns` is the time with at least one activity,
    and `gpu_time_ns` is the sum of all durations. All three are 0 without activities. `outlier`: beyond Tukey's far
    fences, for ten iterations or more. `differences` lists the differences of an outlier.
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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class IterationStatistics(Part):
    """Statistics of one runner and phase. `measure` is the key of their values.

    `measure` applies to figures without another name. It is `gpu_ns` where iterations launched GPU activities, else
    `host_ns`; until version 1.1 it was always `host_ns`. `name`: name of the ranges where it contains no phase, which
    is `ProfilerStep` or the given name. `runner` is then known only for files of a capture manifest.
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
