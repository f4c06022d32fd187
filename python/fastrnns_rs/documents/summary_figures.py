"""Consistency checks of the rows of a summary: every number that others give."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import sqrt
from statistics import median
from typing import TYPE_CHECKING

from fastrnns_rs.documents.codec import shown
from fastrnns_rs.documents.statistics_soundness import check_quotient, check_sizes, check_statistics, show_number
from fastrnns_rs.documents.tolerances import check_number
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fastrnns_rs.documents.summary import DeviceRow, LaunchesEntry, RankRow, SummaryDocument
    from fastrnns_rs.documents.summary_ranges import IterationRow, IterationStatistics

#: Times of iterations that version 1.2 added, each with its median.
_SINCE_1_2 = ("host_ns", "gpu_ns", "gpu_time_ns")


def check_figures(found: SummaryDocument) -> None:
    """Rejects statistics, shares and counts that contradict others of the summary.

    Raises:
        UsageError: If there is such a number; the message names its path.
    """
    with_totals = has_totals(found)
    for name in ("kernels", "memory_operations", "api_calls", "iteration_statistics"):
        for place, each in enumerate(getattr(found, name)):
            check_statistics(f"{name}[{place}]", each, "ns", has_totals=with_totals)
    for place, operator in enumerate(found.cpu_operators):
        check_quotient(f"cpu_operators[{place}].mean_ns", operator.mean_ns, operator.total_ns, operator.count)
        _check_part(f"cpu_operators[{place}]", operator, "self_ns", "total_ns")
    for place, copies in enumerate(found.memory_operations):
        check_sizes(f"memory_operations[{place}]", copies)
    _check_places(found)
    if has_latest_keys(found):
        _check_shared(found)
        _check_files(found)
    _check_devices(found)
    _check_shares(found)
    _check_launches(found)
    for place, row in enumerate(found.ranges):
        _check_part(f"ranges[{place}]", row, "gpu_exclusive_ns", "gpu_inclusive_ns")
    _check_iterations(found.iterations, found.iteration_statistics)
    _check_ranks(found)
    if has_latest_keys(found):
        _check_nulls_of_keys(found)


def has_totals(found: SummaryDocument) -> bool:
    """Returns True if rows may be totals of nvprof, without a device."""
    return any(one.format == "nvprof-csv" for one in found.captures)


def _check_part(path: str, row: object, part: str, whole: str) -> None:
    one, other = getattr(row, part), getattr(row, whole)
    if one is not None and other is not None and one > other:
        raise UsageError(f"{path}.{part} is {one}, above {whole}, {other}")


def has_latest_keys(found: SummaryDocument) -> bool:
    """Returns True if a summary has the last keys of version 1.3.

    Earlier builds do not write them.
    """
    return any(one.exposed_communication_ns is not None for one in found.devices)


def _check_nulls_of_keys(found: SummaryDocument) -> None:
    """Checks that keys of earlier builds are not null beside the last keys."""
    rows: list[tuple[str, object]] = [("launches", found.launches)]
    for place, device in enumerate(found.devices):
        rows.append((f"devices[{place}].budget", device.budget))
        rows.append((f"devices[{place}].exposed_communication_ns", device.exposed_communication_ns))
    rows += [(f"ranks[{place}].work_ns", rank.work_ns) for place, rank in enumerate(found.ranks)]
    # All iterations have these times, or none.
    rows += [(f"iterations[0].{key}", getattr(row, key)) for row in found.iterations[:1] for key in _SINCE_1_2]
    rows += [
        (f"idle_causes[{place}].in_stream_ns", row.in_stream_ns)
        for place, row in enumerate(found.idle_causes)
        if row.cause == "dependency"
    ]
    for path, value in rows:
        if value is None:
            raise UsageError(f"{path} is null, and each build with exposed_communication_ns writes it")
    if len({one.activity is None for one in found.devices}) > 1:
        raise UsageError("activity is null in some devices only")


def _check_places(found: SummaryDocument) -> None:
    """Checks that a row has the number of its device."""
    for name in ("kernels", "memory_operations", "streams", "idle_causes"):
        for place, row in enumerate(getattr(found, name)):
            path = f"{name}[{place}]"
            if row.device is None:
                continue
            if row.device >= len(found.devices):
                raise UsageError(f"{path}.device is {row.device}, and there are {len(found.devices)} devices")
            value, known = row.device_id, found.devices[row.device].device_id
            if value != known:
                path = f"{path}.device_id"
                raise UsageError(f"{path} is {shown(value)}, and that of devices[{row.device}] is {shown(known)}")


def _check_shared(found: SummaryDocument) -> None:
    """Checks that rows without a device are of a GPU of several processes."""
    uses = Counter(one.device_id for one in found.devices)
    for name in ("kernels", "memory_operations", "streams", "idle_causes"):
        for place, row in enumerate(getattr(found, name)):
            # Totals have no device. Kernels by name are of several devices, and have no share of their span.
            is_unknown = getattr(row, "median_ns", 0) is None or getattr(row, "span_fraction", 0) is None
            if row.device is None and not is_unknown and uses[row.device_id] <= 1:
                used = f"devices have its device_id {uses[row.device_id]} times"
                raise UsageError(f"{name}[{place}].device is null, and {used}")
    busy, expected = (sum(row.busy_ns for row in rows) for rows in (found.streams, found.devices))
    if busy < expected:
        raise UsageError(f"busy_ns of streams adds up to {busy}, below that of devices, {expected}")


def _check_files(found: SummaryDocument) -> None:
    """Checks that several captures are the files of a job."""
    paths = [one.path for one in found.captures]
    if [one.path for one in found.ranks] != (paths if found.ranks or len(paths) > 1 else []):
        raise UsageError(f"ranks are not the files of the {len(paths)} captures")
    for place, (rank, capture) in enumerate(zip(found.ranks, found.captures, strict=False)):
        # The name of a file may have the rank, too.
        if capture.rank is not None and rank.rank != capture.rank:
            raise UsageError(f"ranks[{place}].rank is {shown(rank.rank)}, and that of its capture {capture.rank}")


def _check_devices(found: SummaryDocument) -> None:
    for place, device in enumerate(found.devices):
        path = f"devices[{place}]"
        check_quotient(f"{path}.utilization", device.utilization, device.busy_ns, device.span_ns)
        # Time between two files of a process is not part of the span.
        if device.end_ns - device.start_ns < device.span_ns:
            ends = f"{device.start_ns} to {device.end_ns}"
            raise UsageError(f"{path}.span_ns is {device.span_ns}, and the device was used from {ends}")
        _check_part(path, device, "exposed_communication_ns", "busy_ns")
        _check_part(path, device, "overlap_ns", "busy_ns")
        if device.activity is not None and device.activity.start_ns != device.start_ns:
            raise UsageError(f"{path}.activity.start_ns is {device.activity.start_ns}, and {path} starts elsewhere")
    for place, row in enumerate(found.idle_causes):
        _check_part(f"idle_causes[{place}]", row, "in_stream_ns", "total_ns")
        if row.in_stream_ns is not None and row.cause != "dependency":
            raise UsageError(f"idle_causes[{place}].in_stream_ns is {row.in_stream_ns}, and the cause is {row.cause}")
    for place, stream in enumerate(found.streams):
        _check_part(f"streams[{place}]", stream, "busy_ns", "total_ns")


def _check_shares(found: SummaryDocument) -> None:
    whole, count = sum(row.total_ns for row in found.kernels), sum(row.count for row in found.kernels)
    for place, kernel in enumerate(found.kernels):
        path = f"kernels[{place}]"
        check_quotient(f"{path}.kernel_time_fraction", kernel.kernel_time_fraction, kernel.total_ns, whole)
        if kernel.device is None:
            continue
        span_ns = found.devices[kernel.device].span_ns
        check_quotient(f"{path}.span_fraction", kernel.span_fraction, kernel.total_ns, span_ns)
    for place, category in enumerate(found.categories):
        path = f"categories[{place}].kernel_time_fraction"
        check_quotient(path, category.kernel_time_fraction, category.total_ns, whole)
    counted = sum(row.count for row in found.categories)
    if counted != count:
        raise UsageError(f"categories have {counted} launches, and kernels {count}")


def _check_launches(found: SummaryDocument) -> None:
    launches = found.launches
    if launches is None:
        return
    kernels = sum(device.kernel_count for device in found.devices)
    counted = launches.matched_count + launches.unmatched_kernel_count
    if counted != kernels:
        raise UsageError(f"launches has {counted} kernels, and devices {kernels}")
    for name in ("latency", "queue"):
        for key in (f"{name}_median_ns", f"{name}_p95_ns"):
            if (getattr(launches, key) is None) is not (launches.matched_count == 0):
                count = f"matched_count is {launches.matched_count}"
                raise UsageError(f"launches.{key} is {show_number(getattr(launches, key))}, and {count}")
        _check_part("launches", launches, f"{name}_median_ns", f"{name}_p95_ns")
    _check_causes(found, launches)


def _check_causes(found: SummaryDocument, launches: LaunchesEntry) -> None:
    """Checks that idle time has no other causes than the launches leave room for."""
    copies = sum(row.count for row in found.memory_operations)
    unknown = sum(row.count for row in found.idle_causes if row.cause == "unmatched")
    if unknown > launches.unmatched_kernel_count + copies:
        known = f"launches have {launches.unmatched_kernel_count} such kernels, and there are {copies} copies"
        raise UsageError(f"idle_causes have {unknown} unmatched, {known}")
    if launches.matched_count or copies or found.api_calls:
        return
    for place, row in enumerate(found.idle_causes):
        if row.cause not in {"unmatched", "graph_gap"}:
            raise UsageError(f"idle_causes[{place}].cause is {row.cause}, and there are no launches")


def _check_iterations(rows: Iterable[IterationRow], groups: Sequence[IterationStatistics]) -> None:
    members: dict[tuple[str | None, str | None], list[IterationRow]] = {}
    for place, row in enumerate(rows):
        members.setdefault((row.runner, row.phase), []).append(row)
        if row.host_ns is not None and row.host_ns != row.duration_ns:
            raise UsageError(f"iterations[{place}].host_ns is {row.host_ns}, and duration_ns is {row.duration_ns}")
    _check_nulls([row for of in members.values() for row in of], groups)
    for place, group in enumerate(groups):
        path, of = f"iteration_statistics[{place}]", members.get((group.runner, group.phase), [])
        outliers = sum(row.outlier for row in of)
        for name, value, expected in (
            ("count", group.count, len(of)),
            ("outlier_count", group.outlier_count, outliers),
        ):
            if value != expected:
                raise UsageError(f"{path}.{name} is {value}, and iterations have {expected}")
        for key in (*_SINCE_1_2, "gpu_busy_ns"):
            _check_median(path, group, key.replace("_ns", "_median_ns"), [getattr(row, key) for row in of])
        times = [row.duration_ns if group.measure == "host_ns" else row.gpu_ns for row in of]
        _check_median(path, group, "median_ns", times)
        known = [time for time in times if time is not None]
        if len(known) == len(times) and (group.min_ns, group.max_ns, group.total_ns) != (
            min(known),
            max(known),
            sum(known),
        ):
            raise UsageError(f"min_ns, max_ns and total_ns of {path} are not those of its iterations")
        if len(known) == len(times):
            _check_spread(path, group, known)


def _check_spread(path: str, group: IterationStatistics, times: Iterable[int]) -> None:
    """Checks the 95th percentile and the standard deviation of times."""
    values = sorted(times)
    place, hundredths = divmod((len(values) - 1) * 95, 100)
    below, above = values[place], values[min(place + 1, len(values) - 1)]
    check_number(f"{path}.p95_ns", group.p95_ns, below + (above - below) * hundredths / 100, "its iterations")
    count, total, squares = len(values), sum(values), sum(value * value for value in values)
    # Integers have no rounding errors.
    spread = sqrt((count * squares - total * total) / (count * (count - 1))) if count > 1 else None
    check_number(f"{path}.stddev_ns", group.stddev_ns, spread, "its iterations", unit=values[-1])


def _check_nulls(rows: Sequence[IterationRow], groups: Iterable[IterationStatistics]) -> None:
    """Checks that times of iterations and their medians are null together."""
    for key in _SINCE_1_2:
        median_key = key.replace("_ns", "_median_ns")
        found = {getattr(row, key) is None for row in rows} | {getattr(one, median_key) is None for one in groups}
        # Versions before 1.2 have none of them.
        if len(found) > 1:
            raise UsageError(f"{key} of iterations or {median_key} of iteration_statistics is null in some rows only")


def _check_median(path: str, group: object, name: str, times: Sequence[int | None]) -> None:
    value, known = getattr(group, name), [time for time in times if time is not None]
    # Versions before 1.2 have no such times.
    if value is not None and len(known) == len(times):
        check_number(f"{path}.{name}", value, median(known), "its iterations")


def _check_ranks(found: SummaryDocument) -> None:
    _check_kernels_of_ranks(found)
    middle = median(row.busy_ns for row in found.ranks) if found.ranks else 0
    # Older documents do not tell work from communication.
    work = [row.busy_ns if row.work_ns is None else row.work_ns for row in found.ranks]
    for place, (row, own) in enumerate(zip(found.ranks, work, strict=True)):
        path = f"ranks[{place}]"
        _check_part(path, row, "busy_ns", "span_ns")
        _check_part(path, row, "work_ns", "busy_ns")
        check_quotient(f"{path}.busy_ratio", row.busy_ratio, row.busy_ns, middle)
        if row.slowest and own < max(work):
            raise UsageError(f"{path} is the slowest, and another rank was busy for {max(work)} ns")
    marked, differ = sum(row.slowest for row in found.ranks), len(set(work)) > 1
    if marked != differ and all(row.work_ns is not None for row in found.ranks):
        raise UsageError(f"{marked} of ranks are the slowest, and their work_ns {'differ' if differ else 'are equal'}")
    _check_times_of_ranks(found)


def _check_kernels_of_ranks(found: SummaryDocument) -> None:
    """Checks that the files of a job have the kernels of the devices."""
    if not found.ranks:
        return
    for key in ("kernel_count", "kernel_total_ns"):
        of_ranks, of_devices = _add_up(found.ranks, key), _add_up(found.devices, key)
        total, expected = of_ranks.total(), of_devices.total()
        if total != expected:
            raise UsageError(f"{key} of ranks adds up to {total}, and that of devices to {expected}")
        # Devices that several files contain have no path.
        for place, rank in enumerate(found.ranks):
            value, least = of_ranks[rank.path], of_devices[rank.path]
            if value < least:
                raise UsageError(f"ranks[{place}].{key} is {value}, and devices of its path have {least}")


def _check_times_of_ranks(found: SummaryDocument) -> None:
    """Checks that a file has the time of each device, and at most that of all."""
    by_path: defaultdict[str | None, list[DeviceRow]] = defaultdict(list)
    for device in found.devices:
        by_path[device.path].append(device)
    # Devices that several files contain have no path.
    is_whole = None not in by_path
    is_latest = has_latest_keys(found)
    several = Counter(rank.path for rank in found.ranks)
    for place, rank in enumerate(found.ranks):
        devices = by_path.get(rank.path, [])
        if several[rank.path] > 1:
            continue
        ends = [one.end_ns for one in devices]
        used_ns = max(ends, default=0) - min((one.start_ns for one in devices), default=0)
        if is_latest and (rank.span_ns < used_ns or (is_whole and rank.span_ns > used_ns)):
            raise UsageError(f"ranks[{place}].span_ns is {rank.span_ns}, and its devices were used for {used_ns} ns")
        for key, without in (("busy_ns", False), ("work_ns", True)):
            waits = [one.exposed_communication_ns if without else 0 for one in devices]
            value = getattr(rank, key)
            # Earlier versions do not tell work from communication.
            if value is None or None in waits:
                continue
            times = [one.busy_ns - (wait or 0) for one, wait in zip(devices, waits, strict=True)]
            least, most = max(times, default=0), sum(times)
            if value < least or (is_whole and value > most):
                raise UsageError(f"ranks[{place}].{key} is {value}, and its devices have from {least} to {most} ns")


def _add_up(rows: Iterable[RankRow | DeviceRow], key: str) -> Counter[str | None]:
    """Returns the sum of a number by path."""
    sums: Counter[str | None] = Counter()
    for row in rows:
        sums[row.path] += getattr(row, key)
    return sums
