"""The text that Inductor's own benchmark prints of a profiled module, to the letter; and the same for a CPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fastrnns_rs.documents.inductor_upstream import CATEGORIES, percent, tabulate_line, total
from fastrnns_rs.escaping import visible

_LONGEST_NAME = 120


class Line(NamedTuple):
    """A kernel or an operator: what one run spent in it, in milliseconds, and how often one run calls it."""

    name: str
    milliseconds: float
    calls: float


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
