"""Files of a summary, and the conditions under which they were captured."""

from __future__ import annotations

from dataclasses import dataclass, field

from fastrnns_rs.documents.codec import since
from fastrnns_rs.documents.part import Part


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SkippedEntry(Part):
    """Number of events that could not be read for one reason, with the first offset.

    The offset is that of the first event in the decompressed text.
    """

    reason: str
    count: int
    first_offset_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CaptureEnvironment(Part):
    """Conditions under which a capture was made, as far as it records them.

    `cuda_driver_version` is the newest CUDA that the driver supports. The settings take time on the host.
    """

    host_name: str | None
    gpu_driver_version: str | None
    cuda_driver_version: str | None
    cuda_runtime_version: str | None
    record_shapes: bool | None
    profile_memory: bool | None
    with_stack: bool | None
    with_flops: bool | None
    with_modules: bool | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CaptureEntry(Part):
    """File that was read. `sha256` is null above 16 MiB; `rank` is from the file.

    `cut_short` is true if a table, or the file, breaks off: `events_skipped` is a lower bound then.
    """

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
    rank: int | None = field(default=None, metadata=since("1.1"))
    world_size: int | None = field(default=None, metadata=since("1.1"))
    environment: CaptureEnvironment | None = field(default=None, metadata=since("1.3"))
    cut_short: bool | None = field(default=None, metadata=since("1.3"))
