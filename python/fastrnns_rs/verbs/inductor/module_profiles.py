"""Profile parts of a module's row, from the trace of its profiled calls."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents import codec, reading
from fastrnns_rs.documents.inductor_report import TopRow
from fastrnns_rs.documents.inductor_upstream import CATEGORIES, tabulate_line
from fastrnns_rs.documents.summary import CategoryRow
from fastrnns_rs.documents.summary_inductor import InductorCategory, InductorEntry, InductorKernel
from fastrnns_rs.errors import FastrnnsError

if TYPE_CHECKING:
    from fastrnns_rs.documents.inductor_report import ModuleRow

_BENCHMARK = re.compile(r"^ +compiled_module_main\((['\"])(.*?)\1, ", re.MULTILINE)


def parts(measured: ModuleRow, trace: Path, found: dict[str, Any]) -> dict[str, Any]:
    """Returns the parts of a row that come from its profile.

    Args:
        measured: Row with the wall time of unprofiled calls.
        trace: Path of the trace that the child process wrote.
        found: Other results of the process: `top`, `runs` and `operations`.

    Returns:
        The keys `profile`, `categories`, `top` and `trace_path` of the row.

    Raises:
        FastrnnsError: If the trace cannot be read, or the calls are shorter than the resolution of the clock.
    """
    if measured.wall is None or not measured.wall.median_ns > 0:
        raise FastrnnsError("calls shorter than the resolution of the clock", "Use more `times`.")
    wall_time_ns, runs, name = measured.wall.median_ns, found["runs"], benchmark_name(Path(measured.path))
    profile = view(found["operations"], wall_time_ns, runs, name)
    if measured.device == "cpu":
        categories = _categories(profile)
    else:
        from fastrnns_rs.verbs.report.capture_reader import read

        categories = read(trace).document.categories
    return {
        "profile": profile,
        "categories": categories,
        "top": [codec.from_plain(TopRow, one) for one in found["top"]],
        "trace_path": str(trace),
    }


def view(operations: list[dict[str, Any]], wall_time_ns: float, runs: int, name: str) -> InductorEntry:
    """Returns Inductor's view of a profile, on CUDA devices and on the CPU.

    On a device, it counts the same activities as upstream. `report --by inductor` builds the view from a trace alone,
    without annotations that the profiler counts as kernels.

    Args:
        operations: Activities with `name`, `category`, `count` and `total_ns`, in upstream's order.
        wall_time_ns: Time of a run without a profiler, in nanoseconds.
        runs: Number of profiled runs.
        name: First field of the line for tabulation.
    """
    categories = []
    for category in CATEGORIES:
        kernels = [
            InductorKernel(name=one["name"], count=one["count"], total_ns=one["total_ns"])
            for one in sorted(operations, key=lambda one: -one["total_ns"])
            if one["category"] == category
        ]
        if kernels:
            count, total = sum(one.count for one in kernels), sum(one.total_ns for one in kernels)
            categories.append(InductorCategory(name=category, count=count, total_ns=total, kernels=kernels))
    times = {one.name: one.total_ns / 1e6 / runs for one in categories}
    return InductorEntry(
        wall_time_ns=wall_time_ns,
        runs=runs,
        busy_fraction=sum(one.total_ns for one in categories) / (wall_time_ns * runs),
        tabulate_line=tabulate_line(name, times, wall_time_ns / 1e6),
        categories=categories,
    )


def benchmark_name(path: Path) -> str:
    """Returns the name of a module's benchmark; if it has none, the stem of the file."""
    try:
        found = _BENCHMARK.search(reading.text(path))
    except (OSError, UnicodeDecodeError) as error:
        raise FastrnnsError(f"cannot read file: {str(path)!r}", "Measure again.", reason=str(error)) from error
    # Upstream writes the argument of --only on its command line, which is usually missing.
    return found[2] if found and found[2] not in {"", "None"} else path.stem


def _categories(profile: InductorEntry) -> list[CategoryRow]:
    total = sum(one.total_ns for one in profile.categories)
    return [
        CategoryRow(
            name=one.name,
            count=one.count,
            total_ns=one.total_ns,
            kernel_time_fraction=one.total_ns / total if total else None,
        )
        for one in profile.categories
    ]
