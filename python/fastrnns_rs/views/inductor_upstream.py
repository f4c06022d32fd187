"""The text that Inductor's own benchmark prints of a profiled module, to the letter; and the same for a CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fastrnns_rs.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
_LONGEST_NAME = 120


class Line(NamedTuple):
    """A kernel or an operator: what one run spent in it, in milliseconds, and how often one run calls it."""

    name: str
    milliseconds: float
    calls: float


def category_of(name: str) -> str:
    """The category of what ran on a device, by its name."""
    return next(category for category, start in _ON_DEVICE.items() if name.startswith(start))


def tables(
    benchmark: str, categories: Mapping[str, Sequence[Line]], wall_time_ms: float, device: str, line: str | None = None
) -> str:
    """All of the text, without the last line's end.

    Args:
        benchmark: What the line for tabulating begins with.
        categories: What ran, by category, and of each category in the order in which it ran first.
        wall_time_ms: How long a run took without a profiler, in milliseconds.
        device: `cuda` or `cpu`.
        line: The line for tabulating where it is known.
    """
    parts = []
    times: dict[str, float] = {}
    for category in CATEGORIES:
        if category in categories:
            lines = sorted(categories[category], key=lambda one: one.milliseconds, reverse=True)
            times[category] = _sum(one.milliseconds for one in lines)
            parts += [f"\n  == {category} category kernels == ", _table(lines, times[category], wall_time_ms, device)]
    busy = _percent(_sum(times.values()), wall_time_ms)
    parts += [
        f"\nPercent of time when {device.upper()} is busy: {busy}",
        f"Total wall time {wall_time_ms:.3f} ms",
        printable(tabulate_line(benchmark, times, wall_time_ms) if line is None else line),
    ]
    return "\n".join(parts)


def tabulate_line(benchmark: str, times: Mapping[str, float], wall_time_ms: float) -> str:
    """The line that tools collect from many benchmarks.

    Its columns are those of a device; what a CPU did has none of its own and stands under `unknown`.

    Args:
        benchmark: What it begins with.
        times: What a run spent in each category, in milliseconds.
        wall_time_ms: How long a run took.
    """
    of_cpu = {"unknown": _sum(times.values())} if {CPP, OPERATOR} & {*times} else {}
    shares = [_percent((of_cpu or times).get(category, 0.0), wall_time_ms) for category in _ON_DEVICE]
    shares.append(_percent(_sum(times.values()), wall_time_ms))
    return f"Output for tabulate: {benchmark}, {', '.join(shares)}, {wall_time_ms:.3f}ms"


def _table(lines: Sequence[Line], total: float, wall_time_ms: float, device: str) -> str:
    from tabulate import tabulate

    rows: list[Sequence[str | float]] = [
        (
            printable(one.name)[:_LONGEST_NAME],
            one.milliseconds,
            one.calls,
            _percent(one.milliseconds, wall_time_ms),
        )
        for one in lines
    ]
    rows.append(("Total", total, "", _percent(total, wall_time_ms)))
    text: str = tabulate(rows, headers=["Kernel", f"Self {device.upper()} TIME (ms)", "Count", "Percent"])
    return text


def _percent(milliseconds: float, wall_time_ms: float) -> str:
    return f"{milliseconds / wall_time_ms * 100:.2f}%"


def _sum(times: Iterable[float]) -> float:
    """One after the other, as upstream does: `sum` rounds less, and the last digit can differ."""
    total = 0.0
    for one in times:
        total += one
    return total
