"""Plots and page of an Inductor report hold its numbers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import matplotlib as mpl
import pytest
from verb_documents import inductor_report

from fastrnns_rs.documents.inductor_report import AssembledKernel, InductorReport
from fastrnns_rs.errors import UsageError
from fastrnns_rs.views.page.pages import html_page
from fastrnns_rs.views.plots.inductor_times import MOST_KERNELS, names

mpl.use("Agg")


def values(page: str, caption: str) -> list[list[float]]:
    """The exact numbers of each row of a table."""
    table = page.partition(f"<caption>{caption}</caption>")[2].partition("</table>")[0]
    assert table
    return [[float(one) for one in re.findall(r'data-value="([^"]*)"', row)] for row in table.split("<tr>")[2:]]


def test_modules_are_dots_and_their_own_benchmark_is_another_mark() -> None:
    report = inductor_report()
    axes = report.plot().axes[0]
    ours, theirs = axes.collections
    timed = [one for one in report.modules if one.wall is not None]
    assert [x for x, _ in ours.get_offsets()] == pytest.approx([one.wall.estimate_ns / 1000 for one in timed])
    assert [x for x, _ in theirs.get_offsets()] == pytest.approx([one.upstream_ms * 1000 for one in timed])
    assert len(axes.get_yticklabels()) == len(timed) == 2
    assert axes.get_xlabel() == "time of a call, µs"


def test_kernels_are_dots_of_one_module() -> None:
    report = inductor_report(kernels=True)
    axes = report.plot("kernels").axes[0]
    [dots] = axes.collections
    timed = [one for one in report.modules[0].kernels if one.time is not None]
    assert [x for x, _ in dots.get_offsets()] == pytest.approx([one.time.estimate_ns / 1000 for one in timed])
    labels = [one.get_text() for one in axes.get_yticklabels()]
    # Two configurations of one kernel have different names.
    assert len({*labels}) == len(labels) == 2
    with pytest.raises(UsageError, match=r"invalid value: 'kernels'"):
        inductor_report().plot("kernels")


def test_memory_is_a_bar() -> None:
    report = inductor_report()
    axes = report.plot("memory").axes[0]
    known = [one.peak_memory_bytes for one in report.modules if one.peak_memory_bytes is not None]
    assert [one.get_width() for one in axes.patches] == [size / (1 << 20) for size in known]


def test_the_page_has_the_exact_numbers() -> None:
    report = inductor_report(kernels=True)
    page = report.render("html")
    assert page == html_page(report)
    expected = [
        [
            *([one.wall.estimate_ns, one.wall.ci_low_ns, one.wall.ci_high_ns] if one.wall else []),
            *(one.upstream_ms, one.first_call_ns, one.peak_memory_bytes, one.wall.n_processes if one.wall else None),
            *(one.repeat, one.times),
        ]
        for one in report.modules
    ]
    assert values(page, "Modules") == [[value for value in row if value is not None] for row in expected]
    module = report.modules[0]
    found = values(page, "Kernels of c66rtojaegda7phjavdc 0 forward")
    for row, one in zip(found, module.kernels, strict=True):
        time = [] if one.time is None else [one.time.estimate_ns, one.time.ci_low_ns, one.time.ci_high_ns]
        others = [one.num_gb, one.bandwidth_gb_per_s, one.bandwidth_fraction]
        sizes = [one.registers, one.spills, one.shared_memory_bytes]
        assert row == [value for value in (*time, *others, *sizes) if value is not None]
    assert "failed: RuntimeError: a long reason" in page
    assert "it has no benchmark" in page


def test_profiles_and_files_are_on_the_page() -> None:
    report = inductor_report(profile=True)
    page = html_page(report)
    module = report.modules[0]
    assert values(page, "Categories of all profiled calls") == [[15_000, 0.25, 12]]
    top = values(page, "Names with the largest times of their own, all profiled calls")
    assert top == [[one.self_device_ns, one.self_cpu_ns, one.count] for one in module.top]
    assert module.trace_path is not None
    assert module.trace_path in page


def test_architectures_are_a_table() -> None:
    report = inductor_report(kernels=True)
    assembled = AssembledKernel(
        architecture="sm_90",
        registers=32,
        stack_bytes=0,
        spill_store_bytes=8,
        spill_load_bytes=16,
        shared_memory_bytes=None,
        reason=None,
    )
    first, *others = report.modules
    kernels = [replace(one, assembled=[assembled]) for one in first.kernels[:1]]
    page = html_page(replace(report, modules=[replace(first, kernels=kernels), *others]))
    assert values(page, "Kernels of c66rtojaegda7phjavdc 0 forward by architecture") == [[32, 0, 8, 16]]


def test_of_many_kernels_the_slowest_are_drawn_and_all_are_in_the_table() -> None:
    report = inductor_report(kernels=True)
    module = report.modules[0]
    kernel = module.kernels[0]
    assert kernel.time is not None
    times = [replace(kernel.time, estimate_ns=1000.0 * one) for one in range(1, 101)]
    many = [replace(kernel, name=f"kernel_{place}", time=time) for place, time in enumerate(times)]
    report = replace(report, modules=[replace(module, kernels=many)])
    [dots] = report.plot("kernels").axes[0].collections
    assert max(x for x, _ in dots.get_offsets()) == 100
    assert len(dots.get_offsets()) == MOST_KERNELS
    page = html_page(report)
    assert f"Slowest {MOST_KERNELS} of 100 kernels." in page
    assert len(values(page, "Kernels of c66rtojaegda7phjavdc 0 forward")) == 100


def test_of_many_modules_the_first_are_drawn_and_all_are_in_the_table() -> None:
    report = inductor_report()
    page = html_page(replace(report, modules=report.modules[:1] * 70))
    note = "The first 60 of 70 modules are drawn; the table has all modules."
    assert page.count(note) == 2  # Times and memory.
    assert len(values(page, "Modules")) == 70
    assert "#60" in page.partition("<svg")[2].partition("</svg>")[0]
    assert "#61" not in page.partition("<svg")[2].partition("</svg>")[0]


def test_equal_modules_have_different_names() -> None:
    report = inductor_report()
    twice = replace(report, modules=[*report.modules, *report.modules])
    assert len({*names(twice)}) == 6


def nasty(**changes: Any) -> InductorReport:
    report = inductor_report(kernels=True)
    module = report.modules[0]
    kernel = replace(module.kernels[0], name="</script><b>\u202e" + "k" * 10_000, config="\x1b[31m")
    return replace(report, modules=[replace(module, kernels=[kernel], **changes)])


@pytest.mark.parametrize(
    "report",
    [
        nasty(path="/x/</script><b>" + "p" * 10_000 + ".py"),
        nasty(runner="</script><b>", upstream_ms=0.0),
        nasty(wall=None, upstream_ms=None, peak_memory_bytes=None, status="failed", reason="</script><b>\u202e"),
        replace(inductor_report(), modules=[]),
    ],
)
def test_nasty_reports_are_drawn(report: InductorReport) -> None:
    page = html_page(report)
    assert "</script><b>" not in page
    assert not {"\u202e", "\x1b"} & {*page}
