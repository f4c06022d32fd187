"""Consistency checks of what the answer and the plots of a summary are made from."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from itertools import accumulate, pairwise
from math import inf
from typing import TYPE_CHECKING

from fastrnns_rs.documents.codec import shown
from fastrnns_rs.documents.cudnn_soundness import check_cudnn_rnn
from fastrnns_rs.documents.iteration_soundness import check_iterations
from fastrnns_rs.documents.summary_figures import has_latest_keys, has_totals
from fastrnns_rs.documents.tolerances import COMPUTED
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fastrnns_rs.documents.summary import (
        BudgetRow,
        CategoryRow,
        DeviceRow,
        IdleRow,
        KernelRow,
        LaunchesEntry,
        MemoryRow,
        StreamRow,
        SummaryDocument,
    )
    from fastrnns_rs.documents.summary_plots import ActivityRow, Histogram, NestedRange


def check_summary(found: SummaryDocument) -> None:
    """Rejects spans, budgets, kernels, bins, ranges and medians that do not fit.

    Raises:
        UsageError: If they do not; the message names the path.
    """
    rows = _RowsByDevice(found)
    for place, device in enumerate(found.devices):
        if device.busy_ns + device.idle_ns != device.span_ns:
            parts = f"busy_ns, {device.busy_ns}, and idle_ns, {device.idle_ns}"
            raise UsageError(f"devices[{place}].span_ns is {device.span_ns}, not the sum of {parts}")
        _check_budget(f"devices[{place}].budget", device)
        _check_exposed(f"devices[{place}]", device)
        _check_rows(place, device, rows)
        _check_activity(f"devices[{place}].activity", device)
    kernels, total = sum(one.total_ns for one in found.kernels), sum(one.kernel_total_ns for one in found.devices)
    with_totals = has_totals(found)
    if kernels < total or (kernels > total and not with_totals):
        raise UsageError(f"kernels add up to {kernels} ns, and kernel_total_ns of devices to {total} ns")
    categories = sum(one.total_ns for one in found.categories)
    if categories != kernels:
        raise UsageError(f"categories add up to {categories} ns, and kernels to {kernels} ns")
    if not with_totals:
        _check_categories(found)
    _check_all_rows(found, has_totals=with_totals)
    check_cudnn_rnn(found, has_totals=with_totals)
    if found.launches is not None:
        _check_delays(found.launches)
    # Devices of earlier versions have no budget.
    budgets = [one.budget for one in found.devices]
    known = [row.total_ns for one in budgets if one is not None for row in (*one.kernels, *one.copies)]
    work_ns = inf if None in budgets else sum(known)
    _check_ranges(found, work_ns)
    _check_nested(found.nested_ranges)
    if found.nested_ranges and has_latest_keys(found):
        _check_names_of_nested(found)
    check_iterations(found, work_ns)
    for place, group in enumerate(found.iteration_statistics):
        # Earlier versions have no GPU spans, and do not name the measure.
        if group.measure == "gpu_ns" and None in {group.host_median_ns, group.gpu_median_ns}:
            raise UsageError(f"iteration_statistics[{place}] has no host_median_ns or no gpu_median_ns")


def _check_categories(found: SummaryDocument) -> None:
    """Checks that the kernels of each category are those of the devices."""
    budgets = [device.budget for device in found.devices]
    if None in budgets:
        return
    of_devices = [(row.name, row) for budget in budgets if budget is not None for row in budget.kernels]
    for name, total, expected in _compare_parts("categories", found.categories, of_devices):
        if total != expected:
            raise UsageError(f"{name} is {total}, and that of the budgets {expected}")


def _check_all_rows(found: SummaryDocument, *, has_totals: bool) -> None:
    """Checks kernels, streams, copies and idle causes of all devices together.

    Those of a GPU that several processes used have no device.
    """
    kernels = [(row.category, row) for row in found.kernels]
    for name, total, expected in _compare_parts("categories", found.categories, kernels):
        if total != expected:
            raise UsageError(f"{name} is {total}, and that of kernels {expected}")
    budgets = [device.budget for device in found.devices if device.budget is not None]
    if len(budgets) < len(found.devices):
        return
    work = [row for budget in budgets for row in (*budget.kernels, *budget.copies)]
    causes = [(row.cause, row) for row in found.idle_causes]
    kinds = [(row.kind, row) for row in found.memory_operations]
    pairs = [
        ("total_ns of streams", sum(row.total_ns for row in found.streams), sum(row.total_ns for row in work)),
        (
            "kernel_count of streams",
            sum(row.kernel_count for row in found.streams),
            sum(device.kernel_count for device in found.devices),
        ),
    ]
    # An earlier document without causes has the default of a later key.
    if causes or has_latest_keys(found):
        idle = [row for one in budgets for row in one.idle]
        pairs += _compare_parts("idle causes in the budgets", idle, causes)
    if found.inductor is not None:
        pairs += [
            (
                f"{key} of inductor",
                sum(getattr(row, key) for row in found.inductor.categories),
                sum(getattr(row, key) for row in work),
            )
            for key in ("count", "total_ns")
        ]
    copies = _compare_parts("copies in the budgets", [row for one in budgets for row in one.copies], kinds)
    # Totals of nvprof are copies without a budget.
    pairs += [(name, total, expected) for name, total, expected in copies if total > expected or not has_totals]
    for name, total, expected in pairs:
        if total != expected:
            raise UsageError(f"{name} of all devices adds up to {total}, not {expected}")


def _check_budget(path: str, device: DeviceRow) -> None:
    """Checks that the parts of a span add up: the answer is made from them."""
    budget = device.budget
    if budget is None:
        return
    busy = sum(one.total_ns for one in (*budget.kernels, *budget.copies)) - budget.counted_twice_ns
    if busy != device.busy_ns:
        raise UsageError(f"kernels and copies of {path} add up to {busy} ns, and busy_ns is {device.busy_ns}")
    idle = sum(one.total_ns for one in budget.idle)
    if idle != device.idle_ns:
        raise UsageError(f"{path}.idle adds up to {idle} ns, and idle_ns is {device.idle_ns}")


def _check_exposed(path: str, device: DeviceRow) -> None:
    """Checks the time in which communication overlaps with nothing."""
    exposed = device.exposed_communication_ns
    if exposed is None or device.budget is None:
        return
    total = sum(one.total_ns for one in device.budget.kernels if one.name == "communication")
    if exposed > total:
        kernels = f"kernels of communication add up to {total} ns"
        raise UsageError(f"{path}.exposed_communication_ns is {exposed}, and its {kernels}")


class _RowsByDevice:
    """Rows of each device by its place.

    Kernels are included if each row is of one device.
    """

    def __init__(self, found: SummaryDocument) -> None:
        self.copies: defaultdict[int | None, list[MemoryRow]] = defaultdict(list)
        self.streams: defaultdict[int | None, list[StreamRow]] = defaultdict(list)
        self.kernels: defaultdict[int | None, list[KernelRow]] = defaultdict(list)
        self.idle: defaultdict[int | None, list[IdleRow]] = defaultdict(list)
        for copies in found.memory_operations:
            self.copies[copies.device].append(copies)
        for stream in found.streams:
            self.streams[stream.device].append(stream)
        for idle in found.idle_causes:
            self.idle[idle.device].append(idle)
        if all(row.device is not None for row in found.kernels):
            for kernel in found.kernels:
                self.kernels[kernel.device].append(kernel)


def _check_rows(place: int, device: DeviceRow, rows: _RowsByDevice) -> None:
    """Checks streams and the budget against the device and other rows."""
    copies, streams, kernels, idle = rows.copies[place], rows.streams[place], rows.kernels[place], rows.idle[place]
    pairs = []
    # Rows of earlier versions do not name their device.
    if streams:
        expected = device.kernel_total_ns + sum(row.total_ns for row in copies)
        pairs += [("total_ns of streams", sum(row.total_ns for row in streams), expected)]
        pairs += [("kernel_count of streams", sum(row.kernel_count for row in streams), device.kernel_count)]
    if idle:
        pairs += [("total_ns of idle_causes", sum(row.total_ns for row in idle), device.idle_ns)]
    if device.budget is not None:
        if kernels:
            categories = [(row.category, row) for row in kernels]
            pairs += _compare_parts("kernels in the budget", device.budget.kernels, categories)
        if copies:
            kinds = [(row.kind, row) for row in copies]
            pairs += _compare_parts("copies in the budget", device.budget.copies, kinds)
        if idle:
            causes = [(row.cause, row) for row in idle]
            pairs += _compare_parts("idle causes in the budget", device.budget.idle, causes)
    for name, total, expected in pairs:
        if total != expected:
            raise UsageError(f"{name} of devices[{place}] adds up to {total}, not {expected}")
    busy = sum(row.busy_ns for row in streams)
    # A device is busy while a stream is.
    if streams and busy < device.busy_ns:
        raise UsageError(f"busy_ns of streams of devices[{place}] adds up to {busy}, below busy_ns, {device.busy_ns}")


def _compare_parts(
    name: str, parts: Iterable[BudgetRow | CategoryRow], rows: Iterable[tuple[str, object]]
) -> Iterator[tuple[str, int, int]]:
    """Yields a name, the number and the expected number for each number of parts.

    Args:
        name: Name of the parts.
        parts: Parts, which have names.
        rows: Rows that the parts count, each with the name of its part.
    """
    found: Counter[tuple[str, str]] = Counter()
    expected: Counter[tuple[str, str]] = Counter()
    for key in ("count", "total_ns"):
        for part in parts:
            found[key, part.name] += getattr(part, key)
        for part_name, row in rows:
            expected[key, part_name] += getattr(row, key)
    for key, part_name in {**found, **expected}:
        yield f"{key} of {shown(part_name)} of {name}", found[key, part_name], expected[key, part_name]


def _check_activity(path: str, device: DeviceRow) -> None:
    activity = device.activity
    if activity is None:
        return
    if activity.busy_ns and activity.bin_ns < 1:
        raise UsageError(f"{path}.bin_ns is {activity.bin_ns}, not above 0")
    # Time between two files of a process is in bins, though it is not part of the span.
    used_ns = device.end_ns - device.start_ns
    bins = -(-used_ns // activity.bin_ns) if activity.busy_ns else 0
    if len(activity.busy_ns) != bins:
        length = f"{activity.bin_ns}, and the {used_ns} ns of the device are {bins} of them"
        raise UsageError(f"{path}.bin_ns is {length}, not {len(activity.busy_ns)}")
    if max(activity.busy_ns, default=0) > activity.bin_ns:
        raise UsageError(f"{path}.busy_ns has {max(activity.busy_ns)} in a bin of {activity.bin_ns}")
    total = sum(activity.busy_ns)
    if total != device.busy_ns:
        raise UsageError(f"{path}.busy_ns adds up to {total}, and busy_ns is {device.busy_ns}")
    for key, rows in (("kernels", activity.kernels), ("copies", activity.copies)):
        for place, row in enumerate(rows):
            count = len(row.bins_ns)
            if count != len(activity.busy_ns):
                raise UsageError(f"{path}.{key}[{place}].bins_ns has {count} bins, and busy_ns {len(activity.busy_ns)}")
    if device.budget is not None:
        _check_bins(f"{path}.kernels", activity.kernels, device.budget.kernels)
        _check_bins(f"{path}.copies", activity.copies, device.budget.copies)


def _check_bins(path: str, rows: Sequence[ActivityRow], budget: Iterable[BudgetRow]) -> None:
    """Checks that the bins of each row add up to its time in the budget."""
    found = {row.name: sum(row.bins_ns) for row in rows}
    expected = {row.name: row.total_ns for row in budget}
    if len(found) < len(rows):
        raise UsageError(f"{path} has a name twice")
    for name in {**found, **expected}:
        total, known = found.get(name, 0), expected.get(name, 0)
        if total != known:
            raise UsageError(f"{path} has {total} ns of {shown(name)}, and the budget {known} ns")


def _check_delays(launches: LaunchesEntry) -> None:
    latency, queue = launches.latency_histogram, launches.queue_histogram
    if (latency is None) != (queue is None):
        raise UsageError("launches has a histogram of latencies or of queue times, not both")
    last = launches.matched_count - 1
    for name, histogram in (("latency", latency), ("queue", queue)):
        if histogram is None:
            continue
        _check_histogram(f"launches.{name}_histogram", histogram, launches.matched_count)
        for key, below, above in (
            ("median", last // 2, (last + 1) // 2),
            ("p95", last * 95 // 100, -(-last * 95 // 100)),
        ):
            value = getattr(launches, f"{name}_{key}_ns")
            if value is None or last < 0:
                continue
            low, high = _find_bin(histogram, below)[0], _find_bin(histogram, above)[1]
            if not low - COMPUTED * abs(low) <= value <= high + COMPUTED * abs(high):
                bins = f"the bins of its histogram are from {low:.9g} to {high:.9g}"
                raise UsageError(f"launches.{name}_{key}_ns is {value:.9g}, and {bins}")


def _find_bin(histogram: Histogram, rank: int) -> tuple[float, float]:
    """Returns the bounds of the bin with the value of a rank, from 0."""
    place = bisect_right([*accumulate(histogram.counts, initial=histogram.negative_count)], rank)
    return (histogram.bounds_ns[place - 1], histogram.bounds_ns[place]) if place else (-inf, 0)


def _check_histogram(path: str, histogram: Histogram, matched_count: int) -> None:
    bounds, counts = histogram.bounds_ns, histogram.counts
    # Without times there are neither.
    if len(bounds) != (len(counts) + 1 if counts else 0):
        raise UsageError(f"{path} has {len(bounds)} bounds_ns and {len(counts)} counts")
    for place, (low, high) in enumerate(pairwise(bounds), 1):
        if low >= high:
            raise UsageError(f"{path}.bounds_ns[{place}] is {high}, not above the bound before it, {low}")

    counted = sum(counts) + histogram.negative_count
    if counted != matched_count:
        raise UsageError(f"{path} counts {counted} kernels, and matched_count is {matched_count}")


def _check_ranges(found: SummaryDocument, work_ns: float) -> None:
    """Checks that a range has at most the activities of all devices."""
    count = sum(one.kernel_count for one in found.devices)
    for place, row in enumerate(found.ranges):
        # A row counts each activity once, even if several ranges of its name enclose it.
        if row.kernel_count > count:
            raise UsageError(f"ranges[{place}].kernel_count is {row.kernel_count}, and devices have {count} kernels")
        if row.gpu_inclusive_ns > work_ns:
            path = f"ranges[{place}].gpu_inclusive_ns"
            raise UsageError(f"{path} is {row.gpu_inclusive_ns}, and kernels and copies of devices take {work_ns} ns")


def _check_nested(rows: Sequence[NestedRange]) -> None:
    """Checks nested ranges against their parts."""
    inside: Counter[int | None] = Counter()
    kernels: Counter[int | None] = Counter()
    for place, row in enumerate(rows):
        inside[row.parent] += row.gpu_inclusive_ns
        kernels[row.parent] += row.kernel_count
        if row.parent is not None and row.parent >= place:
            raise UsageError(f"nested_ranges[{place}].parent is {row.parent}, not an earlier row")
    for place, row in enumerate(rows):
        total = row.gpu_exclusive_ns + inside[place]
        if row.gpu_inclusive_ns != total:
            path = f"nested_ranges[{place}].gpu_inclusive_ns"
            raise UsageError(f"{path} is {row.gpu_inclusive_ns}, and its parts add up to {total}")
        if row.kernel_count < kernels[place]:
            path = f"nested_ranges[{place}].kernel_count"
            raise UsageError(f"{path} is {row.kernel_count}, and its parts have {kernels[place]} kernels")


def _check_names_of_nested(found: SummaryDocument) -> None:
    """Checks that ranges have the time and the kernels of nested ranges."""
    total, expected = (sum(row.gpu_exclusive_ns for row in rows) for rows in (found.ranges, found.nested_ranges))
    if total != expected:
        raise UsageError(f"gpu_exclusive_ns of ranges adds up to {total}, and that of nested_ranges to {expected}")
    known: Counter[tuple[str | None, ...]] = Counter()
    for row in found.ranges:
        for key in ("gpu_inclusive_ns", "kernel_count"):
            known[key, row.name, row.domain] += getattr(row, key)
    for place, nested in enumerate(found.nested_ranges):
        for key in ("gpu_inclusive_ns", "kernel_count"):
            value, most = getattr(nested, key), known[key, nested.name, nested.domain]
            # The smallest rows have no name.
            if nested.name is not None and value > most:
                raise UsageError(f"nested_ranges[{place}].{key} is {value}, and ranges of its name have {most}")
