"""Text of a module's profile: tables of this package, then Inductor's text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.documents.inductor_upstream import CPP
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.inductor_upstream import Line, tables

if TYPE_CHECKING:
    from fastrnns_rs.documents.inductor_report import ModuleRow, TopRow
    from fastrnns_rs.documents.summary import CategoryRow, InductorEntry

#: Shapes of many inputs and template names are wider than a terminal; the document keeps the full texts.
_LONGEST = 55
#: Kernels that a module calls from C++ cannot be named from outside.
_NO_CPP = (
    "no C++ kernel was seen: of a module with a C++ wrapper the profiler sees those, and its operators, only where it "
    "was generated with torch._inductor.config.cpp.enable_kernel_profile on"
)
_NO_DEVICE = "nothing was seen on the device: another profiler or a container may keep torch's from it"


def profile_text(row: ModuleRow) -> str:
    """Formats a module's profile; empty if the module was not profiled."""
    return "\n\n".join(_parts(row))


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


def _parts(row: ModuleRow) -> Iterator[str]:
    if row.profile is None:
        return
    device = row.device.partition(":")[0]
    runs = row.profile.runs
    yield f"{_cut(row.name)} {row.graph}, profile of {runs} calls\ntrace in {visible(row.trace_path or '-')}"
    if row.top:
        yield "by name and input shape, for one call\n" + _top(row.top, runs, device)
    if row.categories:
        yield "by category, for one call\n" + _categories(row.categories, runs)
    if device == "cpu" and all(one.name != CPP for one in row.profile.categories):
        yield _NO_CPP
    if device != "cpu" and not row.profile.categories:
        yield _NO_DEVICE
    yield "as torch._inductor tells it\n" + upstream_text(row.profile, device)


def _top(top: Sequence[TopRow], runs: int, device: str) -> str:
    def cells(one: TopRow) -> Iterator[str]:
        yield from (_cut(one.name), _cut(one.input_shapes), f"{one.count / runs:g}")
        if device != "cpu":
            yield _ms(one.self_device_ns / runs)
        yield _ms(one.self_cpu_ns / runs)

    times = ["own CPU ms"] if device == "cpu" else [f"own {device.upper()} ms", "own CPU ms"]
    return _table(["name", "input shapes", "count", *times], [[*cells(one)] for one in top], text=2)


def _categories(categories: Sequence[CategoryRow], runs: int) -> str:
    rows = [
        (
            visible(one.name),
            f"{one.count / runs:g}",
            _ms(one.total_ns / runs),
            "-" if one.kernel_time_fraction is None else f"{one.kernel_time_fraction:.1%}",
        )
        for one in categories
    ]
    return _table(["category", "count", "ms", "of kernel time"], rows, text=1)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, text: int) -> str:
    """Formats a table whose first `text` columns are texts and all others numbers."""
    from tabulate import tabulate

    align = ["left" if place < text else "right" for place in range(len(heads))]
    shown: str = tabulate(rows, headers=heads, disable_numparse=True, colalign=align)
    return shown


def _ms(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e6:.4g}"


def _cut(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
