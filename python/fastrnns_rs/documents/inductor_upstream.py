"""The categories of Inductor's own benchmark, and its line for tabulating, to the letter; and the same for a CPU."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

#: The categories of what runs on a device, in the order in which they are told of, and how their names begin.
_ON_DEVICE = {
    "triton_pointwise": "triton_poi",
    "triton_reduction": "triton_red",
    "triton_persistent_reduction": "triton_per",
    "triton_unknown": "triton_",
    "unknown": "",
}
#: Those of a CPU: Inductor's own C++ kernels, and torch's operators.
CPP, OPERATOR = "cpp", "operator"
CATEGORIES = (*_ON_DEVICE, CPP, OPERATOR)


def category_of(name: str) -> str:
    """The category of what ran on a device, by its name."""
    return next(category for category, start in _ON_DEVICE.items() if name.startswith(start))


def tabulate_line(benchmark: str, times: Mapping[str, float], wall_time_ms: float) -> str:
    """The line that tools collect from many benchmarks.

    Its columns are those of a device; what a CPU did has none of its own and stands under `unknown`.

    Args:
        benchmark: What it begins with.
        times: What a run spent in each category, in milliseconds.
        wall_time_ms: How long a run took.
    """
    of_cpu = {"unknown": total(times.values())} if {CPP, OPERATOR} & {*times} else {}
    shares = [percent((of_cpu or times).get(category, 0.0), wall_time_ms) for category in _ON_DEVICE]
    shares.append(percent(total(times.values()), wall_time_ms))
    return f"Output for tabulate: {benchmark}, {', '.join(shares)}, {wall_time_ms:.3f}ms"


def percent(milliseconds: float, wall_time_ms: float) -> str:
    """A share of the wall time, as upstream writes it."""
    return f"{milliseconds / wall_time_ms * 100:.2f}%"


def total(times: Iterable[float]) -> float:
    """The sum of times, one after the other as upstream adds them: `sum` rounds less, and the last digit can differ."""
    found = 0.0
    for one in times:
        found += one
    return found
