"""Text of a module's profile: tables of this package, then Inductor's text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fastrnns_rs.documents.inductor_report import label
from fastrnns_rs.documents.inductor_upstream import CPP
from fastrnns_rs.escaping import visible
from fastrnns_rs.views import fitted_table
from fastrnns_rs.views.figures import share_percent
from fastrnns_rs.views.fitted_table import FittedColumn, FittedRow
from fastrnns_rs.views.inductor_upstream import Line, tables
from fastrnns_rs.views.prose import WIDTH, labelled, wrapped
from fastrnns_rs.views.scale import Scale
from fastrnns_rs.views.screen import Line as Screen
from fastrnns_rs.views.screen import wrapped_lines
from fastrnns_rs.views.text import width

if TYPE_CHECKING:
    from fastrnns_rs.documents.inductor_report import ModuleRow, TopRow
    from fastrnns_rs.documents.summary import CategoryRow
    from fastrnns_rs.documents.summary_inductor import InductorEntry

#: Kernels that a module calls from C++ cannot be named from outside.
_NO_CPP = (
    "No C++ kernel in the profile: compile the module with torch._inductor.config.cpp.enable_kernel_profile to see its "
    "C++ kernels and operators."
)
_NO_DEVICE = "No GPU activity in the profile: another profiler or a container may block torch.profiler."
_NAME, _SHAPES = 20, 10


def profile_text(row: ModuleRow) -> str:
    """Formats a module's profile; empty if the module was not profiled."""
    parts = profile_parts(row, WIDTH, whole_text=True)
    return "\n\n".join("\n".join(line.text for line in part) for part in parts)


def upstream_text(entry: InductorEntry, device_name: str) -> str:
    """Formats the text that torch's `parse_profile_event_list` prints.

    The events are the same; the newline of the last line is omitted.

    Args:
        entry: Profile, as aggregated by Inductor.
        device_name: `cuda`, or `cpu`, for which torch prints no text.
    """
    categories = {
        category.name: [
            # Dividing twice, as torch does from microseconds, gives the same last digit.
            Line(one.name, one.total_ns / 1000 / 1000 / entry.runs, one.count / entry.runs)
            for one in category.kernels
        ]
        for category in entry.categories
    }
    return tables("", categories, entry.wall_time_ns / 1e6, device_name, entry.tabulate_line)


def profile_parts(row: ModuleRow, limit: int, *, whole_text: bool) -> Iterator[list[Screen]]:
    """Yields the parts of a module's profile, each as lines.

    Args:
        row: Module.
        limit: Width of the terminal.
        whole_text: False leaves out Inductor's own text if it is wider than the terminal.
    """
    if row.profile is None:
        return
    device = visible(row.device.partition(":")[0])
    runs = row.profile.runs
    title = wrapped(f"{visible(label(row))}: profile of {runs} calls", limit, breaks=True)
    yield [
        *(Screen(text, "bold") for text in title),
        *(Screen(text) for text in labelled("trace", visible(row.trace_path or "-"), limit)),
    ]
    if row.top:
        yield [Screen("by name and input shape, for one call", "bold"), *_top(row.top, runs, device, limit)]
    if row.categories:
        yield [Screen("by category, for one call", "bold"), *_categories(row.categories, runs, limit)]
    if device == "cpu" and all(one.name != CPP for one in row.profile.categories):
        yield wrapped_lines([_NO_CPP], limit, breaks=True)
    if device != "cpu" and not row.profile.categories:
        yield wrapped_lines([_NO_DEVICE], limit)
    texts = upstream_text(row.profile, device).split("\n")
    widest = max(map(width, texts))
    if whole_text or widest <= limit:
        yield [Screen("as torch._inductor prints the profile", "bold"), *map(Screen, texts)]
    else:
        note = f"The text of torch._inductor has {widest} columns. To see it, pipe the output: ... | less -S"
        yield wrapped_lines([note], limit)


def _top(top: Sequence[TopRow], runs: int, device: str, limit: int) -> list[Screen]:
    on_device = Scale([one.self_device_ns / runs for one in top])
    on_cpu = Scale([one.self_cpu_ns / runs for one in top])
    columns = [
        FittedColumn("name", least=_NAME),
        FittedColumn("input shapes", least=_SHAPES, rank=1),
        FittedColumn("count", right=True, rank=2),
        FittedColumn(f"own {device.upper()} {on_device.unit}", right=True, points=True),
        FittedColumn(f"own CPU {on_cpu.unit}", right=True, points=True, rank=3),
    ]
    rows = [
        (
            one.name,
            one.input_shapes,
            f"{one.count / runs:g}",
            on_device.text(one.self_device_ns / runs),
            on_cpu.text(one.self_cpu_ns / runs),
        )
        for one in top
    ]
    if device == "cpu":
        # Both times would be of the CPU.
        columns = [*columns[:3], replace(columns[4], rank=0)]
        rows = [(*row[:3], row[4]) for row in rows]  # type: ignore[misc]
    return fitted_table.lines(columns, [FittedRow(row) for row in rows], limit)


def _categories(categories: Sequence[CategoryRow], runs: int, limit: int) -> list[Screen]:
    scale = Scale([one.total_ns / runs for one in categories])
    columns = (
        FittedColumn("category", least=_NAME),
        FittedColumn("count", right=True, rank=2),
        FittedColumn(scale.unit, right=True, points=True),
        FittedColumn("of kernel time", right=True, rank=1),
    )
    rows = [
        FittedRow(
            (
                one.name,
                f"{one.count / runs:g}",
                scale.text(one.total_ns / runs),
                "-" if one.kernel_time_fraction is None else share_percent(one.kernel_time_fraction),
            )
        )
        for one in categories
    ]
    return fitted_table.lines(columns, rows, limit)
