"""Parts of the document `fastrnns-rs/summary` that plots show."""

from __future__ import annotations

from dataclasses import dataclass

from fastrnns_rs.documents.part import Part


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ActivityRow(Part):
    """Time of a category of kernels, or of a kind of copies, in each bin.

    `bins_ns` adds up to `total_ns` of the row in the device's budget.
    """

    name: str
    bins_ns: list[int]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DeviceActivity(Part):
    """Activity of a device over time, in at most 400 bins of equal length.

    The first bin starts with the device's span, the last ends with it or after it. `busy_ns` adds up to the busy time
    of the device. More than 16 devices share 6,400 bins. More than 256 devices have none, nor do devices whose rows
    would have more than 400,000 together.
    """

    start_ns: int
    bin_ns: int
    busy_ns: list[int]
    kernels: list[ActivityRow]
    copies: list[ActivityRow]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Histogram(Part):
    """Number of times in bins; each power of two has eight.

    `bounds_ns` has the lower bound of each bin, and last the upper bound, which is excluded. `negative_count` counts
    times below 0, which occur where the clocks of host and device disagree.
    """

    negative_count: int
    bounds_ns: list[int]
    counts: list[int]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NestedRange(Part):
    """Ranges of a name within the ranges that enclose them, by GPU activities.

    A range is nested in the innermost range of its thread or process that encloses it. `parent` is the place of the
    enclosing row, which comes earlier. `gpu_inclusive_ns` is `gpu_exclusive_ns` and the inclusive times of all rows
    with this parent. `name` is null for the smallest rows of a parent together, `folded_count` is their number. At
    most 300 rows have a name. Ranges of a process count once for each path.
    """

    name: str | None
    domain: str | None
    parent: int | None
    count: int
    gpu_inclusive_ns: int
    gpu_exclusive_ns: int
    kernel_count: int
    folded_count: int
