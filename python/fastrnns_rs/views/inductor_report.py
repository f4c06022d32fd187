"""Screen of an Inductor report: modules, then kernels, then profiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.documents.inductor_report import label, short
from fastrnns_rs.escaping import visible
from fastrnns_rs.views import fitted_table
from fastrnns_rs.views.figures import estimate, figure, half_width_percent, mebibytes, share_percent
from fastrnns_rs.views.fitted_table import FittedColumn, FittedRow
from fastrnns_rs.views.prose import labelled
from fastrnns_rs.views.run.run_table import interval_ends
from fastrnns_rs.views.scale import Scale
from fastrnns_rs.views.screen import Line, wrapped_lines

if TYPE_CHECKING:
    from fastrnns_rs.documents.inductor_report import InductorReport, KernelTiming, ModuleRow
    from fastrnns_rs.documents.run_file import PhaseSummary

    Ends = tuple[float | None, float | None]

_KEY = 10
_NONE = "-"
_NAME, _RUNNER = 10, 14
_KERNEL_NAME = 24
_NS_PER_MS = 1e6
_UNLIMITED = 10_000


def lines(report: InductorReport, limit: int, *, whole_text: bool = True) -> list[Line]:
    """Returns a row for each module, then the additional results of each module.

    Args:
        report: Report.
        limit: Width of the terminal.
        whole_text: False leaves out Inductor's own text if it is wider than the terminal.
    """
    found = [*_modules(report.modules, limit)]
    for one in report.modules:
        for part in _parts(one, limit, whole_text=whole_text):
            found += [Line(""), *part]
    return found


def _modules(modules: Sequence[ModuleRow], limit: int) -> list[Line]:
    walls = [one.wall for one in modules]
    upstream = [None if one.upstream_ms is None else one.upstream_ms * _NS_PER_MS for one in modules]
    first = [one.first_call_ns for one in modules]
    times, theirs, calls = _Times(walls, interval_ends), Scale(filter(None, upstream)), Scale(filter(None, first))
    columns = (
        FittedColumn("runner", least=_RUNNER),
        FittedColumn("module", least=_NAME),
        FittedColumn("graph"),
        FittedColumn("device", rank=4),
        FittedColumn(times.unit, right=True, points=True),
        FittedColumn("95 % CI", right=True, rank=1),
        FittedColumn(f"upstream {theirs.unit}", right=True, points=True, rank=3),
        FittedColumn(f"first {calls.unit}", right=True, points=True, rank=2),
        FittedColumn("peak MiB", right=True, rank=5),
        FittedColumn("samples", rank=6),
    )
    rows = [
        FittedRow(
            (
                one.runner or "",
                short(one.name),
                one.graph if one.graph_id is None else f"{one.graph_id} {one.graph}",
                one.device,
                times.text(one.wall),
                times.interval(one.wall),
                _known(upstream[index], lambda ns: figure(ns / theirs.ns)),
                _known(one.first_call_ns, lambda ns: figure(ns / calls.ns)),
                _known(one.peak_memory_bytes, mebibytes),
                f"{one.repeat} of {one.times} calls",
            ),
            [f"{one.status.replace('_', ' ')}: {one.reason or ''}"] if one.status != "ok" else [],
        )
        for index, one in enumerate(modules)
    ]
    return fitted_table.lines(columns, rows, limit)


class _Times:
    """Times in one unit, each with the digits that its interval supports."""

    def __init__(self, times: Sequence[PhaseSummary | None], ends: Callable[[PhaseSummary], Ends]) -> None:
        self._ends = ends
        self._scale = Scale([one.estimate_ns for one in times if one is not None])
        self.unit = self._scale.unit

    def text(self, time: PhaseSummary | None) -> str:
        if time is None:
            return _NONE
        return estimate(time.estimate_ns, *self._ends(time), self._scale.ns)

    def interval(self, time: PhaseSummary | None) -> str:
        """Formats half of an interval's width relative to its point estimate."""
        return _NONE if time is None else half_width_percent(time.estimate_ns, *self._ends(time))


def kernel_interval_ends(time: PhaseSummary) -> Ends:
    """Returns the ends of a kernel's interval, between samples of one process."""
    return time.ci_low_ns, time.ci_high_ns


def _known(value: float | None, text: Callable[[float], str]) -> str:
    return _NONE if value is None else text(value)


def _parts(one: ModuleRow, limit: int, *, whole_text: bool) -> Iterator[list[Line]]:
    name = visible(label(one))
    if one.kernels:
        yield [*_title(f"{name}: kernels", limit), *_kernels(one.kernels, limit)]
    if any(kernel.assembled for kernel in one.kernels):
        yield [*_title(f"{name}: kernels by architecture", limit), *_assembled(one.kernels, limit)]
    if one.profile is not None:
        from fastrnns_rs.views.module_profile import profile_parts

        yield from profile_parts(one, limit, whole_text=whole_text)
    for what, path in (
        ("memory snapshot", one.memory_snapshot_path),
        ("report of Nsight Compute", one.ncu_report_path),
    ):
        if path is not None:
            yield [Line(text) for text in labelled(f"{name}: {what}", visible(path), limit)]


def _title(text: str, limit: int) -> list[Line]:
    return wrapped_lines([text], limit, "bold", breaks=True)


def _kernels(kernels: Sequence[KernelTiming], limit: int) -> list[Line]:
    """Returns a row for each kernel; the chosen configuration is marked."""
    times = _Times([one.time for one in kernels], kernel_interval_ends)
    columns = (
        FittedColumn("kernel", least=_KERNEL_NAME),
        FittedColumn("category", rank=6),
        FittedColumn("key", rank=7),
        FittedColumn(times.unit, right=True, points=True),
        FittedColumn("95 % CI", right=True, rank=1),
        FittedColumn("GB", right=True, rank=5),
        FittedColumn("GB/s", right=True, rank=3),
        FittedColumn("of memory", right=True, rank=2),
        FittedColumn("regs", right=True, rank=4),
        FittedColumn("spills", right=True, rank=8),
        FittedColumn("shared B", right=True, rank=9),
        FittedColumn("configuration", is_sentence=True),
    )
    rows = [
        FittedRow(
            (
                one.name,
                one.category,
                one.key[:_KEY],
                times.text(one.time),
                times.interval(one.time),
                _known(one.num_gb, figure),
                _known(one.bandwidth_gb_per_s, figure),
                _known(one.bandwidth_fraction, share_percent),
                _known(one.registers, "{:.0f}".format),
                _known(one.spills, "{:.0f}".format),
                _known(one.shared_memory_bytes, "{:.0f}".format),
                f"{'* ' if one.chosen else ''}{one.config or _NONE}",
            ),
            [] if one.time is not None or one.reason is None else [one.reason],
        )
        for one in kernels
    ]
    return fitted_table.lines(columns, rows, limit)


def kernel_lines(kernels: Sequence[KernelTiming]) -> list[str]:
    """Formats all figures of kernels as aligned lines of any width."""
    return [line.text for line in _kernels(kernels, _UNLIMITED)]


_ASSEMBLED = (
    FittedColumn("kernel", least=_KERNEL_NAME),
    FittedColumn("architecture"),
    FittedColumn("regs", right=True),
    FittedColumn("stack B", right=True, rank=2),
    FittedColumn("spill stores B", right=True, rank=1),
    FittedColumn("spill loads B", right=True, rank=3),
    FittedColumn("shared B", right=True, rank=4),
    FittedColumn("configuration", is_sentence=True),
)


def _assembled(kernels: Sequence[KernelTiming], limit: int) -> list[Line]:
    """Returns a row for each kernel and architecture."""
    rows = [
        FittedRow(
            (
                kernel.name,
                one.architecture,
                *(
                    _known(count, "{:.0f}".format)
                    for count in (
                        one.registers,
                        one.stack_bytes,
                        one.spill_store_bytes,
                        one.spill_load_bytes,
                        one.shared_memory_bytes,
                    )
                ),
                kernel.config or _NONE,
            ),
            [] if one.reason is None else [one.reason],
        )
        for kernel in kernels
        for one in kernel.assembled
    ]
    return fitted_table.lines(_ASSEMBLED, rows, limit)


def assembled_lines(kernels: Sequence[KernelTiming]) -> list[str]:
    """Formats kernels by architecture as aligned lines of any width."""
    return [line.text for line in _assembled(kernels, _UNLIMITED)]
