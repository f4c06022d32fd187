"""Consistency checks of times, bandwidths and shares in a report of Inductor."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from fastrnns_rs.documents.codec import shown
from fastrnns_rs.documents.inductor_upstream import tabulate_line
from fastrnns_rs.documents.replicates import median
from fastrnns_rs.documents.run_soundness import check_between, check_launches, check_order, check_statistics
from fastrnns_rs.documents.tolerances import check_number, is_near
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.documents.inductor_report import InductorReport, KernelTiming, ModuleRow
    from fastrnns_rs.documents.summary_inductor import InductorEntry

#: A share in a tabulate line, and its rounding error.
_SHARE, _HUNDREDTH = re.compile(r", ([0-9]+(?:\.[0-9]+)?)%"), 0.011
#: The time at the end of such a line, in milliseconds, and its rounding error.
_TIME, _MICROSECOND = re.compile(r", ([0-9]+\.[0-9]+)ms\Z"), 0.0011


def check_report(found: InductorReport) -> None:
    """Rejects times that are not those of the samples, and other bandwidths.

    Raises:
        UsageError: If there is such a number; the message names its path.
    """
    for place, module in enumerate(found.modules):
        check_module(f"modules[{place}]", module)


def check_module(path: str, module: ModuleRow) -> None:
    """Rejects numbers of a module that contradict each other.

    Raises:
        UsageError: If there is such a number; the message names its path.
    """
    if module.status == "ok" and module.reason is not None:
        raise UsageError(f"{path} is ok, and its reason is {shown(module.reason)}")
    if module.status != "ok" and module.reason is None:
        raise UsageError(f"{path} is {module.status}, and its reason is null")
    _check_wall(path, module)
    for number, kernel in enumerate(module.kernels):
        _check_kernel(f"{path}.kernels[{number}]", kernel)
    for (name, _), count in Counter((one.name, one.key) for one in module.kernels if one.chosen).items():
        if count > 1:
            raise UsageError(f"{path}.kernels has {count} configurations of {shown(name)} that were chosen")
    _check_profile(path, module)
    # A profile has the rows with the longest own times on the module's device, the longest first.
    key = "self_cpu_ns" if module.device.partition(":")[0] == "cpu" else "self_device_ns"
    for number, (before, value) in enumerate(pairwise(getattr(one, key) for one in module.top), 1):
        if value > before:
            raise UsageError(f"{path}.top[{number}].{key} is {value}, above that of the row before, {before}")


def check_view(path: str, found: InductorEntry) -> None:
    """Rejects sums and shares that are not those of the kernels.

    Raises:
        UsageError: If there is such a number; the message names its path.
    """
    for place, category in enumerate(found.categories):
        for key in ("count", "total_ns"):
            value, added = getattr(category, key), sum(getattr(one, key) for one in category.kernels)
            if value != added:
                raise UsageError(f"{path}.categories[{place}].{key} is {value}, and its kernels add up to {added}")
    busy = sum(one.total_ns for one in found.categories) / (found.wall_time_ns * found.runs)
    check_number(f"{path}.busy_fraction", found.busy_fraction, busy, "its categories")
    times = {one.name: one.total_ns / 1e6 / found.runs for one in found.categories}
    expected = _SHARE.findall(tabulate_line("", times, found.wall_time_ns / 1e6))
    shares = _SHARE.findall(found.tabulate_line)[-len(expected) :]
    pairs = zip(map(float, shares), map(float, expected), strict=False)
    # Large shares differ by more than the last digit, because they are sums in another order.
    if len(shares) < len(expected) or not all(is_near(*pair) or abs(pair[0] - pair[1]) <= _HUNDREDTH for pair in pairs):
        raise UsageError(f"{path}.tabulate_line has other shares than {', '.join(expected)} %")
    time, wall_ms = _TIME.search(found.tabulate_line), found.wall_time_ns / 1e6
    if time is None or not (is_near(float(time[1]), wall_ms) or abs(float(time[1]) - wall_ms) <= _MICROSECOND):
        raise UsageError(f"{path}.tabulate_line has another time than {wall_ms:.3f} ms")


def _check_wall(path: str, module: ModuleRow) -> None:
    if module.wall is None:
        if module.samples_ns:
            raise UsageError(f"{path} has samples_ns, and its wall time is null")
        if module.status == "ok":
            raise UsageError(f"{path} is ok, and its wall time is null")
        return
    if not all(module.samples_ns) or not module.samples_ns:
        raise UsageError(f"{path} has a wall time, and a process or all of them have no samples_ns")
    check_statistics(f"{path}.wall", module.wall, module.samples_ns)
    check_launches(f"{path}.wall", module.wall, None)
    # Processes of a module have no sessions.
    medians = [[median(samples)] for samples in module.samples_ns]
    check_between(f"{path}.wall", module.wall, medians, [None] * len(medians))


def _check_profile(path: str, module: ModuleRow) -> None:
    profile, whole = module.profile, sum(one.total_ns for one in module.categories)
    if profile is not None:
        check_view(f"{path}.profile", profile)
        # A module without a wall time has no profile.
        wall_ns = None if module.wall is None else module.wall.median_ns
        check_number(f"{path}.profile.wall_time_ns", profile.wall_time_ns, wall_ns, "wall")
        if profile.runs != (runs := module.times * module.repeat):
            raise UsageError(f"{path}.profile.runs is {profile.runs}, and times and repeat give {runs}")
    for number, one in enumerate(module.categories):
        share = one.total_ns / whole if whole else None
        check_number(
            f"{path}.categories[{number}].kernel_time_fraction", one.kernel_time_fraction, share, "all categories"
        )
    # Those of a GPU are other categories, from the trace.
    if profile is not None and module.device == "cpu":
        rows = [
            [(one.name, one.count, one.total_ns) for one in each] for each in (module.categories, profile.categories)
        ]
        if rows[0] != rows[1]:
            raise UsageError(f"{path}.categories are not those of its profile")


def _check_kernel(path: str, kernel: KernelTiming) -> None:
    time, rate, share = kernel.time, kernel.bandwidth_gb_per_s, kernel.bandwidth_fraction
    if time is not None:
        check_order(f"{path}.time", time)
        # Only the first process of a module times its kernels.
        if time.n_processes != 1:
            raise UsageError(f"{path}.time.n_processes is {time.n_processes}, and kernels are timed in one process")
        check_number(f"{path}.time.estimate_ns", time.estimate_ns, time.median_ns, "median_ns")
    # Kernels of a module may run on several devices, whose bandwidths are not in the report.
    if share is not None and (rate is None or share < 0):
        known = "null" if rate is None else f"{rate:.9g}"
        raise UsageError(f"{path}.bandwidth_fraction is {share:.9g}, and bandwidth_gb_per_s is {known}")
    if rate is None:
        return
    # A gigabyte has as many bytes as a second has nanoseconds.
    expected = None
    if time is not None and kernel.num_gb is not None and time.median_ns > 0:
        expected = kernel.num_gb * 1e9 / time.median_ns
    check_number(f"{path}.bandwidth_gb_per_s", rate, expected, "num_gb and the median time")
