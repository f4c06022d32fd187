"""Consistency checks of times and bandwidths in a report of Inductor."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fastrnns_rs.documents.run_soundness import check_order, check_statistics
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.documents.inductor_report import InductorReport, KernelTiming, ModuleRow

#: Relative difference of a bandwidth that another machine computed.
_COMPUTED = 1e-6


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


def _check_wall(path: str, module: ModuleRow) -> None:
    if module.wall is None:
        return
    if not all(module.samples_ns) or not module.samples_ns:
        raise UsageError(f"{path} has a wall time, and a process or all of them have no samples_ns")
    check_statistics(f"{path}.wall", module.wall, module.samples_ns)


def _check_kernel(path: str, kernel: KernelTiming) -> None:
    time, rate = kernel.time, kernel.bandwidth_gb_per_s
    if time is not None:
        check_order(f"{path}.time", time)
    if rate is None:
        return
    # A gigabyte has as many bytes as a second has nanoseconds.
    expected = None if time is None or kernel.num_gb is None or time.median_ns <= 0 else kernel.num_gb / time.median_ns
    if expected is None or not math.isclose(rate, expected * 1e9, rel_tol=_COMPUTED):
        raise UsageError(f"{path}.bandwidth_gb_per_s is {rate:.9g}, not num_gb by the median time")
