"""From the trace of a module's profiled calls to the parts of its row that tell of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents import codec, reading
from fastrnns_rs.documents.inductor_report import TopRow
from fastrnns_rs.documents.inductor_upstream import CATEGORIES, tabulate_line
from fastrnns_rs.documents.summary import CategoryRow, InductorCategory, InductorEntry, InductorKernel
from fastrnns_rs.errors import FastrnnsError

if TYPE_CHECKING:
    from fastrnns_rs.documents.inductor_report import ModuleRow

_BENCHMARK = re.compile(r"^ +compiled_module_main\((['\"])(.*?)\1, ", re.MULTILINE)


def parts(measured: ModuleRow, trace: Path, found: dict[str, Any]) -> dict[str, Any]:
    """What a row has where a profile was asked for.

    Args:
        measured: The row, with the wall time of unprofiled calls.
        trace: The trace that the child process wrote.
        found: What the process told besides: `top`, `runs` and `operations`.

    Returns:
        The keys `profile`, `categories`, `top` and `trace_path` of the row.

    Raises:
        FastrnnsError: The trace cannot be read, or calls took no time that a clock sees.
    """
    if measured.wall is None or not measured.wall.median_ns > 0:
        raise FastrnnsError("its calls took no time to which a profile could be compared", "give more --times")
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
    """Inductor's view of what torch's profiler saw: on a device what upstream counts, and the same for a CPU.

    `report --by inductor` makes it of a trace alone, and knows of no annotation that the profiler counts as a kernel.

    Args:
        operations: What took time: `name`, `category`, `count` and `total_ns`, in upstream's order.
        wall_time_ns: How long a run took without a profiler.
        runs: How many runs were profiled.
        name: What the line for tabulating begins with.
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
    """What a module calls its benchmark; the file's name without its suffix where it has no name for it."""
    try:
        found = _BENCHMARK.search(reading.text(path))
    except (OSError, UnicodeDecodeError) as error:
        raise FastrnnsError(f"{path} cannot be read any more: {error}", "measure it again") from error
    # Upstream writes down whatever came after --only on its command line, which mostly is nothing.
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
