"""Peak memory of each runner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.views.figures import mebibytes
from fastrnns_rs.views.plots import bars
from fastrnns_rs.views.plots.run_times import measured
from fastrnns_rs.views.run import run_table

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.views.plots.drawing import Canvas

_MIB = 1 << 20
_KEYS = {"peak": "peak_memory_bytes", "reserved": "peak_reserved_bytes"}


def is_available(run: Run) -> bool:
    """Returns True if the memory of a runner was recorded."""
    return any(getattr(one, key) is not None for one in measured(run) for key in _KEYS.values())


def height(run: Run) -> float:
    """Returns the height of the figure in inches."""
    return bars.height(len(measured(run)))


def draw(run: Run, canvas: Canvas) -> None:
    """Draws the peak of each runner, and on a GPU what its allocator reserved."""
    results = measured(run)
    names = [run_table.name(one) for one in results]
    series = []
    for title, key in _KEYS.items():
        sizes = [getattr(one, key) for one in results]
        if any(one is not None for one in sizes):
            values = [None if one is None else one / _MIB for one in sizes]
            texts = [f"{name} {title}: {mebibytes(one or 0)} MiB" for name, one in zip(names, sizes, strict=True)]
            series.append((title, values, texts))
    bars.draw(canvas, names, series, "memory, MiB")
