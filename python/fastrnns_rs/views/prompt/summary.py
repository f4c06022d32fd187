"""Summaries of captures and their rows as they are shown at a Python prompt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastrnns_rs.documents import summary as document
from fastrnns_rs.documents import summary_inductor
from fastrnns_rs.documents import summary_ranges as ranges
from fastrnns_rs.documents.summary_captures import CaptureEntry, SkippedEntry
from fastrnns_rs.views.figures import share_percent
from fastrnns_rs.views.prompt.line import count, duration, file_name, prompt_line
from fastrnns_rs.views.prose import WIDTH
from fastrnns_rs.views.summary.activities import sums
from fastrnns_rs.views.summary.budget import CAUSES, gpu_count, share
from fastrnns_rs.views.summary.glance import tables
from fastrnns_rs.views.summary.plain import known

_GIGA = 1e9
_LEAST_GIGA = 0.01


def summary_text(kind: str, plain: dict[str, Any]) -> str:
    """Returns a line about a summary, then the first table of its report.

    Args:
        kind: Name of the class.
        plain: Summary as plain dictionaries and lists.
    """
    head = prompt_line(kind, _figures(plain), _name(plain["captures"]))
    if not plain["captures"] or any(device["budget"] is None for device in plain["devices"]):
        # Documents of older builds have no budget.
        return head
    lines = next(iter(tables(plain, None, WIDTH)), [])
    return "\n".join([head, *lines]).rstrip("\n")


def _name(captures: list[dict[str, Any]]) -> str:
    if not captures:
        return "no captures"
    path = captures[0]["path"]
    more = len(captures) - 1
    return f"{file_name(path)}{f' and {more:,} more' if more else ''}"


def _figures(plain: dict[str, Any]) -> list[str | None]:
    devices = [one for one in plain["devices"] if one["span_ns"]]
    kernels = sums(plain["kernels"])
    launches = [count(sum(one.count for one in kernels), "launch", "launches"), count(len(kernels), "kernel")]
    if not devices:
        events = sum(one["events_read"] for one in plain["captures"])
        return launches if kernels else ["no GPU activity", count(events, "event")]
    span, busy = (sum(one[key] for one in devices) for key in ("span_ns", "busy_ns"))
    return [count(gpu_count(plain), "GPU"), f"{share(busy, span)} busy", *launches]


def _fraction(fraction: float | None, whole: str) -> str | None:
    return None if fraction is None else f"{share_percent(fraction)} of {whole}"


def _kernel(row: document.KernelRow) -> str:
    whole = _fraction(row.span_fraction, "span") or _fraction(row.kernel_time_fraction, "kernel time")
    parts = [duration(row.total_ns), count(row.count, "launch", "launches"), whole]
    return prompt_line("KernelRow", parts, row.name, row.short_name)


def _category(row: document.CategoryRow) -> str:
    whole = _fraction(row.kernel_time_fraction, "kernel time")
    return prompt_line("CategoryRow", [duration(row.total_ns), count(row.count, "launch", "launches"), whole], row.name)


def _device(row: document.DeviceRow) -> str:
    parts = [
        row.name,
        f"{share(row.busy_ns, row.span_ns)} of {duration(row.span_ns)} busy",
        count(row.kernel_count, "launch", "launches"),
    ]
    return prompt_line("DeviceRow", parts, "-" if row.device_id is None else f"{row.device_id}")


def _memory(row: document.MemoryRow) -> str:
    speed = None if row.bandwidth_gb_per_s is None else f"{row.bandwidth_gb_per_s:,.3g} GB/s"
    size = None if row.total_bytes is None else _size(row.total_bytes)
    return prompt_line("MemoryRow", [duration(row.total_ns), count(row.count, "call"), size, speed], row.kind)


def _size(count: int) -> str:
    return f"{count / _GIGA:,.3g} GB" if count >= _LEAST_GIGA * _GIGA else f"{count:,} bytes"


def _stream(row: document.StreamRow) -> str:
    parts = [duration(row.busy_ns, "busy"), count(row.kernel_count, "launch", "launches")]
    device = "" if row.device_id is None else f" of GPU {row.device_id}"
    return prompt_line("StreamRow", parts, f"{'-' if row.stream_id is None else row.stream_id}{device}")


def _calls(row: document.ApiRow) -> str:
    return prompt_line("ApiRow", [duration(row.total_ns), count(row.count, "call")], row.name)


def _operator(row: document.OperatorRow) -> str:
    parts = [duration(row.self_ns, "self"), duration(row.total_ns, "total"), count(row.count, "call")]
    return prompt_line("OperatorRow", parts, row.name)


def _idle(row: document.IdleRow) -> str:
    name = CAUSES.get(row.cause, row.cause)
    return prompt_line("IdleRow", [duration(row.total_ns), count(row.count, "gap")], name)


def _sum(row: Any) -> str:
    return prompt_line(type(row).__name__, [duration(row.total_ns), f"{row.count:,} times"], row.name)


def _launches(row: document.LaunchesEntry) -> str:
    parts = [
        f"{row.matched_count:,} matched",
        f"{row.unmatched_kernel_count:,} unmatched",
        duration(row.latency_median_ns, "median latency"),
        duration(row.queue_median_ns, "queue"),
    ]
    return prompt_line("LaunchesEntry", parts)


def _capture(row: CaptureEntry) -> str:
    skipped = f"{'at least ' if row.cut_short else ''}{row.events_skipped:,} skipped" if row.events_skipped else None
    return prompt_line("CaptureEntry", [row.format, count(row.events_read, "event"), skipped], file_name(row.path))


def _skipped(row: SkippedEntry) -> str:
    return prompt_line("SkippedEntry", [count(row.count, "event"), row.reason])


def _rank(row: document.RankRow) -> str:
    busy = f"{share(row.busy_ns, row.span_ns)} of {duration(row.span_ns)} busy"
    parts = [busy, "slowest" if row.slowest else None]
    return prompt_line("RankRow", parts, row.path if row.rank is None else f"{row.rank}")


def _metric(row: document.MetricRow) -> str:
    average = None if row.avg is None else f"average {row.avg:,.4g}{f' {row.unit}' if row.unit else ''}"
    return prompt_line("MetricRow", [average, count(row.invocations, "launch", "launches")], f"{row.name}")


def _cudnn(row: document.CudnnRnnRow) -> str:
    return prompt_line("CudnnRnnRow", [row.path, count(row.kernel_count, "kernel")], _phase(row.runner, row.phase))


def _inductor(row: summary_inductor.InductorEntry) -> str:
    busy = f"GPU busy {share_percent(row.busy_fraction)}"
    return prompt_line("InductorEntry", [duration(row.wall_time_ns, "wall time"), count(row.runs, "run"), busy])


def _budget(row: document.Budget) -> str:
    kernels, copies, idle = (sum(one.total_ns for one in part) for part in (row.kernels, row.copies, row.idle))
    return prompt_line("Budget", [duration(kernels, "kernels"), duration(copies, "copies"), duration(idle, "idle")])


def _phase(runner: str | None, phase: str | None) -> str:
    return " ".join(filter(None, (runner, phase)))


def _range(row: ranges.RangeRow) -> str:
    parts = [
        count(row.count, "range"),
        duration(row.host_total_ns, "host"),
        duration(row.gpu_inclusive_ns, "GPU"),
        count(row.kernel_count, "launch", "launches"),
    ]
    return prompt_line("RangeRow", parts, row.name)


def _iteration(row: ranges.IterationRow) -> str:
    parts = [
        duration(row.duration_ns, "host"),
        duration(row.gpu_ns, "GPU"),
        duration(row.gpu_busy_ns, "busy"),
        "outlier" if row.outlier else None,
    ]
    return prompt_line("IterationRow", parts, f"{_phase(row.runner, row.phase)} {row.index}".strip())


def _part(row: ranges.IterationPart) -> str:
    parts = [duration(row.host_ns, "host"), duration(row.gpu_ns, "GPU"), duration(row.gpu_busy_ns, "busy")]
    return prompt_line("IterationPart", parts, _phase(row.runner, row.phase))


def _statistics(row: ranges.IterationStatistics) -> str:
    parts = [
        count(row.count, "iteration"),
        duration(row.median_ns, f"median {'GPU' if row.measure == 'gpu_ns' else 'host'} time"),
        count(row.outlier_count, "outlier") if row.outlier_count else None,
    ]
    return prompt_line("IterationStatistics", parts, _phase(row.runner, row.phase) or row.name or "")


def _difference(row: ranges.Difference) -> str:
    sign = "-" if row.delta_ns < 0 else "+"
    return prompt_line("Difference", [f"{sign}{duration(abs(row.delta_ns))}"], row.category)


#: Functions that return the text of an object, by its class.
MAKERS: dict[type, Callable[[Any], str]] = {
    document.SummaryDocument: lambda found: summary_text("SummaryDocument", known(found)),
    document.KernelRow: _kernel,
    document.CategoryRow: _category,
    document.DeviceRow: _device,
    document.MemoryRow: _memory,
    document.StreamRow: _stream,
    document.ApiRow: _calls,
    document.OperatorRow: _operator,
    document.IdleRow: _idle,
    document.BudgetRow: _sum,
    document.Budget: _budget,
    document.LaunchesEntry: _launches,
    CaptureEntry: _capture,
    SkippedEntry: _skipped,
    document.RankRow: _rank,
    document.MetricRow: _metric,
    document.CudnnRnnRow: _cudnn,
    summary_inductor.InductorEntry: _inductor,
    summary_inductor.InductorCategory: _sum,
    summary_inductor.InductorKernel: _sum,
    ranges.RangeRow: _range,
    ranges.IterationRow: _iteration,
    ranges.IterationPart: _part,
    ranges.IterationStatistics: _statistics,
    ranges.Difference: _difference,
}
