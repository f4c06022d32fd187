"""Categories and tabulate line of Inductor's own benchmark, also for a CPU.

Names and format are exactly those of Inductor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

#: Categories of GPU activities, in the order of the report, with the prefix of their names.
_ON_DEVICE = {
    "triton_pointwise": "triton_poi",
    "triton_reduction": "triton_red",
    "triton_persistent_reduction": "triton_per",
    "triton_unknown": "triton_",
    "unknown": "",
}
#: Categories of a CPU: Inductor's own C++ kernels, and torch's operators.
CPP, OPERATOR = "cpp", "operator"
CATEGORIES = (*_ON_DEVICE, CPP, OPERATOR)


def choose_category(name: str) -> str:
    """Returns the category of a GPU activity, by its name."""
    return next(category for category, start in _ON_DEVICE.items() if name.startswith(start))


def tabulate_line(benchmark: str, times: Mapping[str, float], wall_time_ms: float) -> str:
    """Returns the line that tools collect from many benchmarks.

    Its columns are those of a device. Operations of a CPU have no column of their own and are counted as `unknown`.

    Args:
        benchmark: Start of the line.
        times: Time of a run in each category, in milliseconds.
        wall_time_ms: Duration of a run, in milliseconds.
    """
    cpu_shares = {"unknown": total(times.values())} if {CPP, OPERATOR} & {*times} else {}
    shares = [percent((cpu_shares or times).get(category, 0.0), wall_time_ms) for category in _ON_DEVICE]
    shares.append(percent(total(times.values()), wall_time_ms))
    return f"Output for tabulate: {benchmark}, {', '.join(shares)}, {wall_time_ms:.3f}ms"


def percent(milliseconds: float, wall_time_ms: float) -> str:
    """Returns a share of the wall time, in upstream's format."""
    return f"{milliseconds / wall_time_ms * 100:.2f}%"


def total(times: Iterable[float]) -> float:
    """Returns the sum of times, added one after the other as upstream adds them.

    `sum` rounds less, so that the last digit can differ.
    """
    found = 0.0
    for one in times:
        found += one
    return found
