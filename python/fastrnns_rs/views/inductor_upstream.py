"""Text that Inductor's own benchmark prints for a profiled module.

The text is identical to the letter. The same format is used for CPU.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fastrnns_rs.documents.inductor_upstream import CATEGORIES, percent, tabulate_line, total
from fastrnns_rs.escaping import visible

_LONGEST_NAME = 120


class Line(NamedTuple):
    """Kernel or operator, with its time in ms and number of calls in one run."""

    name: str
    milliseconds: float
    calls: float


def tables(
    benchmark: str, categories: Mapping[str, Sequence[Line]], wall_time_ms: float, device: str, line: str | None = None
) -> str:
    """Formats the complete text, without the newline of the last line.

    Args:
        benchmark: Beginning of the line for tabulating.
        categories: Kernels and operators by category, each category in the order of first execution.
        wall_time_ms: Time of a run without a profiler, in ms.
        device: `cuda` or `cpu`.
        line: Line for tabulating. None computes the line.
    """
    parts = []
    times: dict[str, float] = {}
    for category in CATEGORIES:
        if category in categories:
            lines = sorted(categories[category], key=lambda one: one.milliseconds, reverse=True)
            times[category] = total(one.milliseconds for one in lines)
            parts += [f"\n  == {category} category kernels == ", _table(lines, times[category], wall_time_ms, device)]
    busy = percent(total(times.values()), wall_time_ms)
    parts += [
        f"\nPercent of time when {device.upper()} is busy: {busy}",
        f"Total wall time {wall_time_ms:.3f} ms",
        visible(tabulate_line(benchmark, times, wall_time_ms) if line is None else line),
    ]
    return "\n".join(parts)


def _table(lines: Sequence[Line], total: float, wall_time_ms: float, device: str) -> str:
    from tabulate import tabulate

    rows: list[Sequence[str | float]] = [
        (
            visible(one.name)[:_LONGEST_NAME],
            one.milliseconds,
            one.calls,
            percent(one.milliseconds, wall_time_ms),
        )
        for one in lines
    ]
    rows.append(("Total", total, "", percent(total, wall_time_ms)))
    text: str = tabulate(rows, headers=["Kernel", f"Self {device.upper()} TIME (ms)", "Count", "Percent"])
    return text
