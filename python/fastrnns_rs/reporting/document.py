"""The document `fastrnns-rs/summary`: what the extension makes of captures, as dataclasses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fastrnns_rs.documents import Notice


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedEntry:
    """Events that could not be read for one reason, and where the first stands in the decompressed text."""

    reason: str
    count: int
    first_offset_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureEntry:
    """A file that was read. `sha256` is null for one of more than 16 MiB."""

    path: str
    format: str
    format_version: str | None
    tool_version: str | None
    sha256: str | None
    size_bytes: int
    events_read: int
    events_skipped: int
    skipped: list[SkippedEntry]
    graph_level: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRow:
    """A device as one process used it, from its first operation to the end of its last."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRow:
    """The runs of a kernel. What differs between its launches is null."""

    name: str
    short_name: str
    mangled_name: str | None
    category: str
    device_id: int | None
    count: int
    total_ns: int
    mean_ns: float
    median_ns: float
    min_ns: int
    max_ns: int
    stddev_ns: float | None
    p95_ns: float
    kernel_time_fraction: float | None
    span_fraction: float | None
    grid: list[int] | None
    block: list[int] | None
    registers_per_thread: int | None
    shared_memory_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryRow:
    """The kernels of a category."""

    name: str
    count: int
    total_ns: int
    kernel_time_fraction: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow:
    """The copies or sets of a kind. Sizes are null where the capture has none."""

    kind: str
    device_id: int | None
    count: int
    total_ns: int
    mean_ns: float
    median_ns: float
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


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRow:
    """A queue of a device."""

    device_id: int | None
    stream_id: int | None
    kernel_count: int
    busy_ns: int
    total_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRow:
    """The calls of a function of the device's interface."""

    name: str
    count: int
    total_ns: int
    mean_ns: float
    median_ns: float
    min_ns: int
    max_ns: int
    stddev_ns: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InductorKernel:
    """A kernel, a copy or a set."""

    name: str
    count: int
    total_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InductorCategory:
    """A category under Inductor's name, over all runs."""

    name: str
    count: int
    total_ns: int
    kernels: list[InductorKernel]


@dataclass(frozen=True, slots=True, kw_only=True)
class InductorEntry:
    """What Inductor's own benchmark would say of the capture."""

    wall_time_ns: float
    runs: int
    busy_fraction: float
    tabulate_line: str
    categories: list[InductorCategory]


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryDocument:
    """Where the time of captures went. `ranges`, `iterations`, `launches` and `idle_causes` are not told yet."""

    schema: Literal["fastrnns-rs/summary"]
    schema_version: str
    warnings: list[Notice]
    captures: list[CaptureEntry]
    devices: list[DeviceRow]
    kernels: list[KernelRow]
    categories: list[CategoryRow]
    memory_operations: list[MemoryRow]
    streams: list[StreamRow]
    api_calls: list[ApiRow]
    ranges: None
    iterations: None
    launches: None
    idle_causes: None
    inductor: InductorEntry | None


#: The lists of the document, each with the class of its rows.
TABLES = {
    "devices": DeviceRow,
    "kernels": KernelRow,
    "categories": CategoryRow,
    "memory_operations": MemoryRow,
    "streams": StreamRow,
    "api_calls": ApiRow,
}
