"""Tables of an Inductor report: modules, then kernels, then profiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.documents.inductor_report import label, short
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.table import Column, aligned

if TYPE_CHECKING:
    from fastrnns_rs.documents.inductor_report import InductorReport, KernelTiming, ModuleRow
    from fastrnns_rs.documents.run_file import PhaseSummary

_KEY = 10
_INTERVAL = "ms (95 % interval)"


def table(report: InductorReport) -> str:
    """Formats a row for each module, then the additional results of each module."""
    of_runners = any(one.runner is not None for one in report.modules)
    head = (
        "module",
        "graph",
        "device",
        f"a call, {_INTERVAL}",
        "upstream, ms",
        "first call, ms",
        "peak, MB",
        "samples",
    )
    rows: list[Sequence[str]] = [[*["runner"] * of_runners, *head]]
    rows += [[*[one.runner or "-"] * of_runners, *_module(one)] for one in report.modules]
    parts = ["\n".join(aligned(rows))]
    parts += [part for one in report.modules for part in _parts(one)]
    return "\n\n".join(parts) + "\n"


def _module(one: ModuleRow) -> Sequence[str]:
    number = "" if one.graph_id is None else f"{one.graph_id} "
    named = (short(one.name), f"{number}{one.graph}", one.device)
    if one.wall is None:
        return (*named, f"{one.status}: {one.reason or ''}", "-", "-", "-", "-")
    return (
        *named,
        interval(one.wall),
        _number(one.upstream_ms, ".4g"),
        "-" if one.first_call_ns is None else f"{one.first_call_ns / 1e6:.4g}",
        "-" if one.peak_memory_bytes is None else f"{one.peak_memory_bytes / 1e6:.4g}",
        f"{one.repeat} of {one.times} calls",
    )


def _parts(one: ModuleRow) -> Iterator[str]:
    name = visible(label(one))
    if one.kernels:
        yield f"{name}, kernels\n" + "\n".join(kernel_lines(one.kernels))
    if any(kernel.assembled for kernel in one.kernels):
        yield f"{name}, kernels by architecture\n" + "\n".join(assembled_lines(one.kernels))
    if one.profile is not None:
        from fastrnns_rs.views.module_profile import profile_text

        yield profile_text(one)
    if one.memory_snapshot_path is not None:
        yield f"{name}: memory snapshot in {visible(one.memory_snapshot_path)}"
    if one.ncu_report_path is not None:
        yield f"{name}: report of Nsight Compute in {visible(one.ncu_report_path)}"


_KERNEL = (
    Column("kernel", lambda one: one.name),
    Column("category", lambda one: one.category),
    Column("key", lambda one: one.key[:_KEY]),
    Column(_INTERVAL, lambda one: one.reason or "-" if one.time is None else interval(one.time)),
    Column("GB", lambda one: _number(one.num_gb, ".4g")),
    Column("GB/s", lambda one: _number(one.bandwidth_gb_per_s, ".4g")),
    Column("of memory", lambda one: _number(one.bandwidth_fraction, ".1f", "%", times=100)),
    Column("regs", lambda one: _number(one.registers, "d")),
    Column("spills", lambda one: _number(one.spills, "d")),
    Column("shared", lambda one: _number(one.shared_memory_bytes, "d")),
    Column("configuration", lambda one: f"{'* ' if one.chosen else ''}{one.config or '-'}"),
)


def kernel_lines(kernels: Sequence[KernelTiming]) -> list[str]:
    """Formats kernels as aligned lines; the chosen configuration is marked."""
    rows = ([column.text(one) or "" for column in _KERNEL] for one in kernels)
    return aligned([[column.heading for column in _KERNEL], *rows])


_ASSEMBLED = (
    Column("architecture", lambda one: one.architecture),
    Column("regs", lambda one: one.reason or _number(one.registers, "d")),
    Column("stack, B", lambda one: _number(one.stack_bytes, "d")),
    Column("spill stores, B", lambda one: _number(one.spill_store_bytes, "d")),
    Column("spill loads, B", lambda one: _number(one.spill_load_bytes, "d")),
    Column("shared, B", lambda one: _number(one.shared_memory_bytes, "d")),
)


def assembled_lines(kernels: Sequence[KernelTiming]) -> list[str]:
    """Formats kernels by architecture as aligned lines."""
    rows = [
        [kernel.name, *(column.text(one) or "" for column in _ASSEMBLED), kernel.config or "-"]
        for kernel in kernels
        for one in kernel.assembled
    ]
    return aligned([["kernel", *(column.heading for column in _ASSEMBLED), "configuration"], *rows])


def interval(time: PhaseSummary) -> str:
    """Formats a point estimate with its interval in ms, to four digits."""
    estimate = f"{time.estimate_ns / 1e6:.4g}"
    if time.ci_low_ns is None or time.ci_high_ns is None:
        return estimate
    return f"{estimate} ({time.ci_low_ns / 1e6:.4g} to {time.ci_high_ns / 1e6:.4g})"


def _number(value: float | None, form: str, unit: str = "", *, times: int = 1) -> str:
    return "-" if value is None else f"{value * times:{form}}{unit}"
