"""Page of an Inductor report: modules, kernels, profiles and the machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from fastrnns_rs.counting import counted
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.page import inductor_tables
from fastrnns_rs.views.page.charts import MOST_MARKS
from fastrnns_rs.views.page.facts import facts
from fastrnns_rs.views.page.parts import Article, Facts, Fold, Remarks, Section, Text
from fastrnns_rs.views.plots import inductor_times

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastrnns_rs.documents.inductor_report import InductorReport, ModuleRow
    from fastrnns_rs.views.page.charts import Charts

#: Plots of kernels on a page: a page of many modules stays small.
_MOST_PLOTS = 20
_READING = "Dot: point estimate. Line: 95 % confidence interval. Left is faster."
_FILES = (("trace", "trace_path"), ("memory snapshot", "memory_snapshot_path"), ("Nsight Compute", "ncu_report_path"))


def article(report: InductorReport, charts: Charts) -> Article:
    """Returns the page of an Inductor report."""
    environment = report.environment
    failed = sum(one.status != "ok" for one in report.modules)
    context = [
        f"{counted(len(report.modules), 'module')}" + (f", {failed:,} not measured" if failed else ""),
        visible(f"torch {environment.torch_version} · {environment.cpu_model or environment.os}"),
        *(visible(f"GPU {one.index}: {one.name}") for one in environment.gpus),
    ]
    named = [*zip(inductor_times.names(report), report.modules, strict=True)]
    warnings = [(one.code, visible(one.message), _shown(one.evidence), _shown(one.hint)) for one in report.warnings]
    return Article(
        "Modules that torch.compile generated",
        context,
        [
            Section("Warnings", [Remarks(warnings)] if warnings else []),
            Section("Modules", [*_modules(report, charts)]),
            Section("Kernels", [*_kernels(report, charts)]),
            Section("Profiles", [part for name, one in named for part in _profile(name, one)]),
            Section("Files", [Facts(files)] if (files := [*_files(named)]) else []),
            Section("Machine", [Facts([*facts(report.environment)])]),
        ],
    )


def _modules(report: InductorReport, charts: Charts) -> Iterator[Any]:
    if not report.modules:
        yield Text("No module was measured.", "note")
        return
    if inductor_times.has_times(report):
        drawn, note = _drawn(report, "wall")
        yield charts.draw(drawn, "modules", "Time of a call of each module", _READING + note)
    yield inductor_tables.modules_table(report)
    for name, one in zip(inductor_times.names(report), report.modules, strict=True):
        if one.status != "ok":
            yield Text(visible(f"{name}: {one.status.replace('_', ' ')}: {one.reason or ''}"), "note")
    if inductor_times.has_memory(report):
        drawn, note = _drawn(report, "peak_memory_bytes")
        yield charts.draw(drawn, "memory", "Peak memory of each module", "Peak memory of each module." + note)


def _drawn(report: InductorReport, key: Literal["wall", "peak_memory_bytes"]) -> tuple[InductorReport, str]:
    """Returns the report that a plot of all modules shows, and its caption."""
    known = [place for place, one in enumerate(report.modules) if getattr(one, key) is not None]
    if len(known) <= MOST_MARKS:
        return report, ""
    shown = {*known[:MOST_MARKS]}
    # All modules stay: their names have their places.
    modules = [
        one if place in shown else replace(one, wall=None, peak_memory_bytes=None)
        for place, one in enumerate(report.modules)
    ]
    note = f" The first {MOST_MARKS} of {len(known):,} modules are drawn; the table has all modules."
    return replace(report, modules=modules), note


def _kernels(report: InductorReport, charts: Charts) -> Iterator[Any]:
    drawn = inductor_times.kernel_rows(report)[:_MOST_PLOTS]
    for name, one in zip(inductor_times.names(report), report.modules, strict=True):
        if not one.kernels:
            continue
        inner: list[Any] = []
        if name in drawn:
            timed = sum(kernel.time is not None for kernel in one.kernels)
            most = inductor_times.MOST_KERNELS
            caption = f"{_READING} Slowest {most} of {timed:,} kernels." if timed > most else _READING
            inner.append(charts.draw(report, "kernels", visible(f"Time of each kernel of {name}"), caption, row=name))
        inner.append(inductor_tables.kernels_table(one))
        if any(kernel.assembled for kernel in one.kernels):
            inner.append(inductor_tables.assembled_table(one))
        yield Fold(visible(f"{name}: {counted(len(one.kernels), 'kernel')}"), inner, is_open=name in drawn[:1])
    yield from _rest(report)


def _rest(report: InductorReport) -> Iterator[Any]:
    left = len(inductor_times.kernel_rows(report)) - _MOST_PLOTS
    if left > 0:
        yield Text(f"Kernels of {counted(left, 'module')} have no plot. The tables have all kernels.", "note")


def _profile(name: str, one: ModuleRow) -> Iterator[Any]:
    if one.profile is None:
        return
    inner = [*inductor_tables.profile_tables(one)]
    yield Fold(visible(f"{name}: profile of {counted(one.profile.runs, 'call')}"), inner, is_open=True)


def _files(named: list[tuple[str, ModuleRow]]) -> Iterator[tuple[str, str]]:
    for name, one in named:
        for what, key in _FILES:
            path = getattr(one, key)
            if path is not None:
                yield visible(f"{name}: {what}"), visible(path)


def _shown(text: str | None) -> str | None:
    return None if text is None else visible(text)
