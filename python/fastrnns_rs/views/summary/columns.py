"""Columns of the lists in a summary, for terminals, Markdown and CSV.

Texts are last in each list, so that a long text does not displace numbers.
"""

from __future__ import annotations

from fastrnns_rs.views import table
from fastrnns_rs.views.summary.budget import share
from fastrnns_rs.views.summary.column_units import (
    AT_LEAST,
    BAR,
    BYTES,
    COUNT,
    DIFFERENCES,
    FLAG,
    FRACTION,
    GB_PER_S,
    NANOSECONDS,
    SHAPE,
    TEXT,
)

TYPE_CHECKING = False  # As in the package: `typing` is slow to load.
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from fastrnns_rs.views.summary.column_units import Unit

#: Place of a column: all formats; CSV only, because it is too much for a screen; screens only, because the document
#: does not have the key; or CSV and the list of launch shapes.
EVERYWHERE, DATA, SCREEN, LAUNCH_SHAPE = range(4)


class Column(table.Column):
    """Column of a list.

    Attributes:
        name: Heading without the unit.
        key: Key in the document, and heading in CSV.
        unit: Unit of the values.
        place: Place of the column, one of the constants above.
        summed: True if the sum over rows is meaningful.
        read: Function from a row of the document to the value. None reads the value of `key`.
    """

    __slots__ = ("key", "name", "place", "read", "summed", "unit")

    def __init__(
        self,
        name: str,
        key: str,
        unit: Unit,
        place: int = EVERYWHERE,
        *,
        summed: bool = False,
        read: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        super().__init__(f"{name}, {unit.symbol}" if unit.symbol else name, right=unit.right)
        self.name = name
        self.key = key
        self.unit = unit
        self.place = place
        self.summed = summed
        self.read = read or (lambda row: row[key])


def _idle_fraction(row: dict[str, Any]) -> float | None:
    busy: float | None = row["utilization"]
    return None if busy is None else 1.0 - busy


#: Descriptions of the causes of idle time, by the cause in the document.
MEANWHILE = {
    "graph_gap": "a CUDA graph went from one node to the next",
    "unmatched": "no launch of the next activity is in the capture",
    "launch": "the call that launched the next activity had begun",
    "synchronization": "the host waited for the GPU",
    "allocation": "the host allocated or freed memory",
    "data_loader": "the host waited for data",
    "host": "the host ran Python or the framework and had launched nothing",
    "dependency": "the next activity was queued behind GPU work",
}


def _meanwhile(row: dict[str, Any]) -> str:
    part, text = row["in_stream_ns"], MEANWHILE[row["cause"]]
    return f"{text}: {share(part, row['total_ns'])} in its own stream" if part else text


_TOTALS = (
    Column("total", "total_ns", NANOSECONDS, summed=True),
    Column("count", "count", COUNT, summed=True),
)
_MOMENTS = ("mean", "median", "min", "max", "stddev")
_DURATIONS = tuple(Column(name, f"{name}_ns", NANOSECONDS) for name in _MOMENTS)
_SIZES = tuple(Column(f"{name} size", f"{name}_bytes", BYTES) for name in _MOMENTS)
_WHO = (Column("phase", "phase", TEXT), Column("runner", "runner", TEXT))


def _lost(row: dict[str, Any]) -> int | str:
    number: int = row["events_skipped"]
    return f"≥ {number}" if row["cut_short"] else number


CAPTURES = (
    Column("size", "size_bytes", BYTES),
    Column("events read", "events_read", COUNT),
    Column("not read", "events_skipped", AT_LEAST, read=_lost),
    Column("format", "format", TEXT),
    Column("its version", "format_version", TEXT),
    Column("written by", "tool_version", TEXT),
    Column("capture", "path", TEXT),
)

DEVICES = (
    Column("device", "device_id", COUNT),
    Column("process", "process_id", COUNT),
    Column("start", "start_ns", NANOSECONDS, DATA),
    Column("end", "end_ns", NANOSECONDS, DATA),
    Column("span", "span_ns", NANOSECONDS),
    Column("busy", "busy_ns", NANOSECONDS),
    Column("busy", "utilization", FRACTION),
    Column("idle", "idle_ns", NANOSECONDS),
    Column("idle", "", FRACTION, SCREEN, read=_idle_fraction),
    Column("overlap", "overlap_ns", NANOSECONDS),
    Column("communication only", "exposed_communication_ns", NANOSECONDS),
    Column("kernels", "kernel_count", COUNT, summed=True),
    Column("kernels", "kernel_total_ns", NANOSECONDS, summed=True),
    Column("rank", "rank", COUNT, DATA),
    Column("name", "name", TEXT),
    Column("capture", "path", TEXT, DATA),
)
STREAMS = (
    Column("device", "device_id", COUNT),
    Column("stream", "stream_id", COUNT),
    Column("busy", "busy_ns", NANOSECONDS),
    Column("total", "total_ns", NANOSECONDS, summed=True),
    Column("kernels", "kernel_count", COUNT, summed=True),
    Column("place of device", "device", COUNT, DATA),
)
RANKS = (
    Column("rank", "rank", COUNT),
    Column("span", "span_ns", NANOSECONDS),
    Column("busy", "busy_ns", NANOSECONDS),
    Column("busy over median", "busy_ratio", COUNT),
    Column("work", "work_ns", NANOSECONDS),
    Column("kernels", "kernel_count", COUNT, summed=True),
    Column("kernels", "kernel_total_ns", NANOSECONDS, summed=True),
    Column("slowest", "slowest", FLAG),
    Column("capture", "path", TEXT),
)
KERNELS = (
    Column("share", "kernel_time_fraction", FRACTION, summed=True),
    Column("share of span", "span_fraction", FRACTION, DATA),
    *_TOTALS,
    *_DURATIONS,
    Column("p95", "p95_ns", NANOSECONDS),
    Column("grid", "grid", SHAPE, LAUNCH_SHAPE),
    Column("block", "block", SHAPE, LAUNCH_SHAPE),
    Column("registers per thread", "registers_per_thread", COUNT, LAUNCH_SHAPE),
    Column("shared memory", "shared_memory_bytes", BYTES, LAUNCH_SHAPE),
    Column("device", "device_id", COUNT),
    Column("category", "category", TEXT),
    Column("name", "name", TEXT),
    Column("short name", "short_name", TEXT, DATA),
    Column("mangled name", "mangled_name", TEXT, DATA),
    Column("place of device", "device", COUNT, DATA),
)
CATEGORIES = (
    Column("share", "kernel_time_fraction", FRACTION, summed=True),
    Column("", "", BAR, SCREEN, read=lambda row: row["kernel_time_fraction"]),
    *_TOTALS,
    Column("category", "name", TEXT),
)
CUDNN_RNN = (
    Column("kernels", "kernel_count", COUNT, summed=True),
    Column("iterations", "iterations", COUNT),
    Column("kernels per iteration", "kernels_per_iteration", COUNT),
    Column("kernels per step", "kernels_per_step", COUNT),
    Column("path", "path", TEXT),
    *_WHO,
    # Screens show the sentence as a note below the list.
    Column("sentence", "sentence", TEXT, DATA),
)
MEMORY = (
    *_TOTALS,
    *_DURATIONS,
    Column("total size", "total_bytes", BYTES, summed=True),
    *_SIZES,
    Column("bandwidth", "bandwidth_gb_per_s", GB_PER_S),
    Column("device", "device_id", COUNT),
    Column("kind", "kind", TEXT),
    Column("place of device", "device", COUNT, DATA),
)
API_CALLS = (*_TOTALS, *_DURATIONS, Column("function", "name", TEXT))
OPERATORS = (
    Column("self", "self_ns", NANOSECONDS, summed=True),
    Column("total", "total_ns", NANOSECONDS),
    Column("count", "count", COUNT, summed=True),
    Column("mean", "mean_ns", NANOSECONDS),
    Column("operator", "name", TEXT),
)
LAUNCHES = (
    Column("matched", "matched_count", COUNT),
    Column("unmatched kernels", "unmatched_kernel_count", COUNT),
    Column("median latency", "latency_median_ns", NANOSECONDS),
    Column("p95 latency", "latency_p95_ns", NANOSECONDS),
    Column("median queue", "queue_median_ns", NANOSECONDS),
    Column("p95 queue", "queue_p95_ns", NANOSECONDS),
)
IDLE = (
    *_TOTALS,
    Column("device", "device_id", COUNT),
    Column("cause", "cause", TEXT),
    Column("meanwhile", "", TEXT, SCREEN, read=_meanwhile),
    Column("in own stream", "in_stream_ns", NANOSECONDS, DATA),
    Column("place of device", "device", COUNT, DATA),
)
# Activities launched in a nested range count in both ranges, so only exclusive times add up.
RANGES = (
    Column("GPU inclusive", "gpu_inclusive_ns", NANOSECONDS),
    Column("GPU exclusive", "gpu_exclusive_ns", NANOSECONDS, summed=True),
    Column("by other threads", "gpu_other_threads_ns", NANOSECONDS),
    Column("kernels", "kernel_count", COUNT),
    Column("count", "count", COUNT, summed=True),
    Column("host", "host_total_ns", NANOSECONDS),
    Column("kind", "kind", TEXT),
    *_WHO,
    Column("domain", "domain", TEXT),
    Column("name", "name", TEXT),
)
ITERATIONS = (
    Column("iteration", "index", COUNT),
    Column("start", "start_ns", NANOSECONDS, DATA),
    Column("duration", "duration_ns", NANOSECONDS, DATA, summed=True),
    Column("host", "host_ns", NANOSECONDS, summed=True),
    Column("GPU span", "gpu_ns", NANOSECONDS, summed=True),
    Column("GPU busy", "gpu_busy_ns", NANOSECONDS, summed=True),
    Column("GPU time", "gpu_time_ns", NANOSECONDS, summed=True),
    Column("outlier", "outlier", FLAG),
    *_WHO,
    Column("unlike the median", "differences", DIFFERENCES),
)
ITERATION_STATISTICS = (
    Column("count", "count", COUNT, summed=True),
    Column("total", "total_ns", NANOSECONDS, summed=True),
    *_DURATIONS,
    Column("p95", "p95_ns", NANOSECONDS),
    Column("host", "host_median_ns", NANOSECONDS),
    Column("GPU span", "gpu_median_ns", NANOSECONDS),
    Column("GPU busy", "gpu_busy_median_ns", NANOSECONDS),
    Column("GPU time", "gpu_time_median_ns", NANOSECONDS),
    Column("outliers", "outlier_count", COUNT, summed=True),
    Column("of", "measure", TEXT),
    Column("name", "name", TEXT),
    *_WHO,
)
METRICS = (
    Column("invocations", "invocations", COUNT, summed=True),
    Column("min", "min", COUNT),
    Column("max", "max", COUNT),
    Column("mean", "avg", COUNT),
    Column("unit", "unit", TEXT),
    Column("device", "device", TEXT),
    Column("metric", "name", TEXT),
    Column("description", "description", TEXT, DATA),
    Column("kernel", "kernel", TEXT),
)
INDUCTOR = (
    Column("wall time", "wall_time_ns", NANOSECONDS),
    Column("runs", "runs", COUNT),
    Column("busy", "busy_fraction", FRACTION),
)
INDUCTOR_CATEGORIES = (*_TOTALS, Column("category", "name", TEXT))
INDUCTOR_KERNELS = (*_TOTALS, Column("kernel", "name", TEXT))
