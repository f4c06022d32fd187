"""Times and memory of generated modules, and times of their kernels."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fastrnns_rs.documents.inductor_report import label
from fastrnns_rs.escaping import visible
from fastrnns_rs.views import kernel_names
from fastrnns_rs.views.figures import estimate_with_interval, figure, mebibytes
from fastrnns_rs.views.inductor_report import kernel_interval_ends
from fastrnns_rs.views.plots import bars
from fastrnns_rs.views.plots.drawing import LONGEST_KERNEL
from fastrnns_rs.views.plots.limits import TimeAxis, draw_interval
from fastrnns_rs.views.plots.style import SMALL
from fastrnns_rs.views.run.run_table import interval_ends

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fastrnns_rs.documents.inductor_report import InductorReport, KernelTiming, ModuleRow
    from fastrnns_rs.documents.run_file import PhaseSummary
    from fastrnns_rs.views.inductor_report import Ends
    from fastrnns_rs.views.plots.drawing import Canvas
    from fastrnns_rs.views.scale import Scale

#: Kernels of a plot: those with the largest times. All are in the table.
MOST_KERNELS = 40
_NS_PER_MS = 1e6
_MIB = 1 << 20


def names(report: InductorReport) -> list[str]:
    """Returns a unique name for each module, which begins with its runner."""
    labels = [" ".join(filter(None, (one.runner, label(one)))) for one in report.modules]
    counts = Counter(labels)
    return [one if counts[one] == 1 else f"{one} #{place}" for place, one in enumerate(labels, 1)]


def has_times(report: InductorReport) -> bool:
    """Returns True if at least one module was timed."""
    return any(one.wall is not None for one in report.modules)


def modules_height(report: InductorReport) -> float:
    """Returns the height of the figure of modules in inches."""
    return bars.height(sum(one.wall is not None for one in report.modules))


def kernel_rows(report: InductorReport) -> list[str]:
    """Returns the names of the modules with timed kernels."""
    return [name for name, one in zip(names(report), report.modules, strict=True) if shown_kernels(one)]


def kernels_height(report: InductorReport, row: str) -> float:
    """Returns the height of the figure of a module's kernels in inches."""
    return bars.height(len(shown_kernels(_module(report, row))))


def shown_kernels(module: ModuleRow) -> list[tuple[KernelTiming, PhaseSummary]]:
    """Returns the timed kernels of a plot, the slowest first."""
    timed = [(one, one.time) for one in module.kernels if one.time is not None]
    return sorted(timed, key=lambda one: -one[1].estimate_ns)[:MOST_KERNELS]


def draw_modules(report: InductorReport, canvas: Canvas) -> None:
    """Draws the time of each module, and the time that its own benchmark reports."""
    found = [(name, one, one.wall) for name, one in zip(names(report), report.modules, strict=True) if one.wall]
    upstream = [one.upstream_ms * _NS_PER_MS for _, one, _ in found if one.upstream_ms is not None]
    scale = _draw(canvas, [(name, wall) for name, _, wall in found], upstream, "time of a call", interval_ends)
    theirs = [
        (place, one.upstream_ms * _NS_PER_MS / scale.ns, name)
        for place, (name, one, _) in enumerate(found)
        if one.upstream_ms is not None
    ]
    if theirs:
        marks = canvas.axes.scatter(
            [value for _, value, _ in theirs],
            [place for place, *_ in theirs],
            marker=canvas.marker(1),
            s=34,
            facecolors="none",
            edgecolors=canvas.color(1),
            linewidths=1.2,
            label="its own benchmark",
            zorder=4,
        )
        canvas.describe(
            marks, [f"{name}, its own benchmark: {figure(value)} {scale.unit}" for _, value, name in theirs]
        )
        canvas.legend()


def draw_kernels(report: InductorReport, canvas: Canvas, row: str) -> None:
    """Draws the time of each kernel of a module, the slowest at the top."""
    shown = shown_kernels(_module(report, row))
    counts = Counter(one.name for one, _ in shown)
    found = [(_kernel_name(one, is_unique=counts[one.name] == 1), time) for one, time in shown]
    _draw(canvas, found, [], "time of a kernel", kernel_interval_ends)


def draw_memory(report: InductorReport, canvas: Canvas) -> None:
    """Draws the peak memory of each module."""
    found = [*zip(names(report), (one.peak_memory_bytes for one in report.modules), strict=True)]
    shown = [(name, size) for name, size in found if size is not None]
    texts = [f"{name}: {mebibytes(size)} MiB" for name, size in shown]
    bars.draw(canvas, [name for name, _ in shown], [("peak", [size / _MIB for _, size in shown], texts)], "memory, MiB")


def memory_height(report: InductorReport) -> float:
    """Returns the height of the figure of peak memory in inches."""
    return bars.height(sum(one.peak_memory_bytes is not None for one in report.modules))


def has_memory(report: InductorReport) -> bool:
    """Returns True if the peak memory of at least one module is known."""
    return any(one.peak_memory_bytes is not None for one in report.modules)


def _module(report: InductorReport, row: str) -> ModuleRow:
    return next(one for name, one in zip(names(report), report.modules, strict=True) if name == row)


def _kernel_name(one: KernelTiming, *, is_unique: bool) -> str:
    """Returns the name of a kernel, with a mark for the chosen configuration."""
    return " ".join(filter(None, (one.name, None if is_unique else one.config, "*" if one.chosen else "")))


def _draw(
    canvas: Canvas,
    found: Sequence[tuple[str, PhaseSummary]],
    others: Sequence[float],
    what: str,
    ends: Callable[[PhaseSummary], Ends],
) -> Scale:
    """Draws point estimates with intervals, and returns the scale of the axis.

    Args:
        canvas: Axes.
        found: Name of each row, with its times.
        others: Further times that the axis has, in ns.
        what: Label of the axis, without the unit.
        ends: Function that returns the ends of an interval.
    """
    color = canvas.color(0)
    estimates = [one.estimate_ns for _, one in found]
    axis = TimeAxis([*estimates, *others], [end for _, one in found for end in ends(one)], from_zero=True)
    axis.set(canvas, "x")
    scale = axis.scale
    for place, (_, one) in enumerate(found):
        draw_interval(canvas, "x", place, ends(one), color, unit=scale.ns)
    times = [one.estimate_ns / scale.ns for _, one in found]
    dots = canvas.axes.scatter(
        times, range(len(found)), marker=canvas.marker(0), s=28, color=color, label="point estimate", zorder=3
    )
    canvas.describe(
        dots,
        [
            f"{name}: {estimate_with_interval(one.estimate_ns, *ends(one), scale.ns)} {scale.unit}"
            for name, one in found
        ],
    )
    # Two rows never have the same shortened name.
    labels = kernel_names.shortened([(visible(name), visible(name)) for name, _ in found], LONGEST_KERNEL)
    canvas.axes.set_yticks(range(len(found)), labels)
    canvas.axes.set_ylim(len(found) - 0.5, -0.5)
    canvas.axes.tick_params(axis="y", length=0, labelsize=SMALL)
    canvas.axes.set_xlabel(f"{what}, {scale.unit}")
    canvas.axes.grid(visible=True, axis="x")
    canvas.axes.set_axisbelow(True)
    return scale
