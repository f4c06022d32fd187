"""Plain table of results measured by other tools."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from fastrnns_rs import stats
from fastrnns_rs.views.table import aligned

if TYPE_CHECKING:
    from fastrnns_rs.verbs.compare.side import Series, Side

_HEAD = ("benchmark", "processes", "samples", "median (ms)", "min (ms)", "max (ms)", "note")


def table(side: Side) -> str:
    """Formats a row for each series: sample count, then median, min and max in ms."""
    rows = [_HEAD, *map(_row, side.series)]
    return "".join(line + "\n" for line in aligned(rows, numbers=range(1, len(_HEAD) - 1)))


def _row(one: Series) -> tuple[str, ...]:
    name = one.runner if one.phase is None else f"{one.runner}/{one.phase}"
    note = one.reason or one.lack or ""
    if not one.medians_ns:
        return (name, "-", str(one.n_samples), "-", "-", "-", note)
    samples = [*chain.from_iterable(one.samples_ns)] or one.medians_ns
    times = (min(samples), stats.quantiles(one.medians_ns, [0.5])[0], max(samples))
    low, median, high = (f"{value / 1e6:.6g}" for value in times)
    processes = "-" if one.lack else str(len(one.medians_ns))
    return (name, processes, str(one.n_samples), median, low, high, note)
