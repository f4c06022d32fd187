"""Tables of an Inductor report: modules, kernels, architectures and profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.documents.inductor_report import label
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.figures import figure, mebibytes
from fastrnns_rs.views.inductor_report import kernel_interval_ends
from fastrnns_rs.views.page.number_cells import number_cell, percent_cell, time_cell
from fastrnns_rs.views.page.parts import Cell, Table, text_cell
from fastrnns_rs.views.plots import inductor_times
from fastrnns_rs.views.run.run_table import interval_ends
from fastrnns_rs.views.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fastrnns_rs.documents.inductor_report import AssembledKernel, InductorReport, KernelTiming, ModuleRow, TopRow
    from fastrnns_rs.documents.run_file import PhaseSummary
    from fastrnns_rs.documents.summary import CategoryRow
    from fastrnns_rs.views.inductor_report import Ends

_NS_PER_MS = 1e6


def modules_table(report: InductorReport) -> Table:
    """Returns the table of modules."""
    scale = Scale([one.wall.estimate_ns for one in report.modules if one.wall is not None])
    first = Scale([one.first_call_ns for one in report.modules if one.first_call_ns])
    headings = (
        *("module", "device", "status", f"time, {scale.unit}", "95 % CI low", "95 % CI high"),
        *(f"its own benchmark, {scale.unit}", f"first call, {first.unit}", "peak, MiB", "processes", "repeats"),
        "calls per repeat",
    )
    rows = [
        _module_row(name, one, scale, first)
        for name, one in zip(inductor_times.names(report), report.modules, strict=True)
    ]
    return Table("Modules", headings, rows, frozenset({0, 1, 2}))


def _module_row(name: str, one: ModuleRow, scale: Scale, first: Scale) -> list[Cell]:
    # The document has this time in ms.
    theirs = number_cell(one.upstream_ms, lambda ms: figure(ms * _NS_PER_MS / scale.ns))
    return [
        text_cell(name),
        text_cell(one.device),
        text_cell(one.status.replace("_", " ")),
        *_times(one.wall, scale, interval_ends),
        theirs,
        time_cell(one.first_call_ns, first),
        number_cell(one.peak_memory_bytes, mebibytes),
        number_cell(None if one.wall is None else one.wall.n_processes, _count),
        Cell(_count(one.repeat), one.repeat),
        Cell(_count(one.times), one.times),
    ]


def kernels_table(module: ModuleRow) -> Table:
    """Returns the table of a module's kernels, in the order of the document."""
    scale = Scale([one.time.estimate_ns for one in module.kernels if one.time is not None])
    headings = (
        *("kernel", "configuration", "chosen", "category", "remark", f"time, {scale.unit}", "95 % CI low"),
        *("95 % CI high", "data, GB", "bandwidth, GB/s", "of the device, %", "registers", "spills"),
        "shared memory, bytes",
    )
    rows = [_kernel_row(one, scale) for one in module.kernels]
    return Table(visible(f"Kernels of {label(module)}"), headings, rows, frozenset({0, 1, 2, 3, 4}))


def _kernel_row(one: KernelTiming, scale: Scale) -> list[Cell]:
    return [
        text_cell(one.name),
        text_cell(one.config),
        Cell({True: "yes", False: "no", None: ""}[one.chosen]),
        text_cell(one.category),
        text_cell(one.reason),
        *_times(one.time, scale, kernel_interval_ends),
        number_cell(one.num_gb, figure),
        number_cell(one.bandwidth_gb_per_s, figure),
        percent_cell(one.bandwidth_fraction),
        *(number_cell(value, _count) for value in (one.registers, one.spills, one.shared_memory_bytes)),
    ]


def assembled_table(module: ModuleRow) -> Table:
    """Returns the table of a module's kernels by architecture."""
    headings = (
        *("kernel", "configuration", "architecture", "remark", "registers", "stack, bytes", "spill stores, bytes"),
        *("spill loads, bytes", "shared memory, bytes"),
    )
    rows = [_assembled_row(kernel, one) for kernel in module.kernels for one in kernel.assembled]
    return Table(visible(f"Kernels of {label(module)} by architecture"), headings, rows, frozenset({0, 1, 2, 3}))


def _assembled_row(kernel: KernelTiming, one: AssembledKernel) -> list[Cell]:
    sizes = (one.registers, one.stack_bytes, one.spill_store_bytes, one.spill_load_bytes, one.shared_memory_bytes)
    return [
        *map(text_cell, (kernel.name, kernel.config, one.architecture, one.reason)),
        *(number_cell(value, _count) for value in sizes),
    ]


def profile_tables(module: ModuleRow) -> Iterator[Table]:
    """Yields the tables of a profile: categories, then names with input shapes."""
    if module.categories:
        scale = Scale([one.total_ns for one in module.categories])
        rows = [_category_row(one, scale) for one in module.categories]
        names = ("category", f"total, {scale.unit}", "of kernel time, %", "count")
        yield Table("Categories of all profiled calls", names, rows)
    if module.top:
        scale = Scale([max(one.self_device_ns, one.self_cpu_ns) for one in module.top])
        headings = ("name", "input shapes", f"GPU, {scale.unit}", f"CPU, {scale.unit}", "count")
        rows = [_top_row(one, scale) for one in module.top]
        yield Table("Names with the largest times of their own, all profiled calls", headings, rows, frozenset({0, 1}))


def _category_row(one: CategoryRow, scale: Scale) -> list[Cell]:
    share = percent_cell(one.kernel_time_fraction)
    return [text_cell(one.name), time_cell(one.total_ns, scale), share, Cell(_count(one.count), one.count)]


def _top_row(one: TopRow, scale: Scale) -> list[Cell]:
    times = (time_cell(value, scale) for value in (one.self_device_ns, one.self_cpu_ns))
    return [text_cell(one.name), text_cell(one.input_shapes), *times, Cell(_count(one.count), one.count)]


def _times(one: PhaseSummary | None, scale: Scale, ends: Callable[[PhaseSummary], Ends]) -> list[Cell]:
    if one is None:
        return [time_cell(None, scale)] * 3
    return [time_cell(value, scale) for value in (one.estimate_ns, *ends(one))]


def _count(value: float) -> str:
    return f"{value:,}"
