"""Consistency checks of times, bandwidths and shares in a report of Inductor."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fastrnns_rs.documents.inductor_upstream import tabulate_line
from fastrnns_rs.documents.run_soundness import check_order, check_statistics
from fastrnns_rs.documents.tolerances import check_number, is_near
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.documents.inductor_report import InductorReport, KernelTiming, ModuleRow
    from fastrnns_rs.documents.summary_inductor import InductorEntry

#: A share in a tabulate line, and its rounding error.
_SHARE, _HUNDREDTH = re.compile(r", ([0-9]+(?:\.[0-9]+)?)%"), 0.011


def check_report(found: InductorReport) -> None:
    """Rejects times that are not those of the samples, and other bandwidths.

    Raises:
        UsageError: If there is such a number; the message names its path.
    """
    for place, module in enumerate(found.modules):
        path = f"modules[{place}]"
        _check_wall(path, module)
        for number, kernel in enumerate(module.kernels):
            _check_kernel(f"{path}.kernels[{number}]", kernel)
        if module.profile is not None:
            check_view(f"{path}.profile", module.profile)


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


def _check_wall(path: str, module: ModuleRow) -> None:
    if module.wall is None:
        return
    if not all(module.samples_ns) or not module.samples_ns:
        raise UsageError(f"{path} has a wall time, and a process or all of them have no samples_ns")
    check_statistics(f"{path}.wall", module.wall, module.samples_ns)
    if len(module.samples_ns) == 1:
        check_number(f"{path}.wall.estimate_ns", module.wall.estimate_ns, module.wall.median_ns, "the samples")


def _check_kernel(path: str, kernel: KernelTiming) -> None:
    time, rate = kernel.time, kernel.bandwidth_gb_per_s
    if time is not None:
        check_order(f"{path}.time", time)
    if rate is None:
        return
    # A gigabyte has as many bytes as a second has nanoseconds.
    expected = None
    if time is not None and kernel.num_gb is not None and time.median_ns > 0:
        expected = kernel.num_gb * 1e9 / time.median_ns
    check_number(f"{path}.bandwidth_gb_per_s", rate, expected, "num_gb and the median time")
