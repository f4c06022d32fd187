"""Lines of documents that have no table at a Python prompt, and of their parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fastrnns_rs.documents import capture_manifest as capture
from fastrnns_rs.documents import diagnosis, history, inductor_report, listing, noise_floor, verification
from fastrnns_rs.documents.codec import RunWarning
from fastrnns_rs.documents.run_file import Problem
from fastrnns_rs.documents.summary import SummaryWarning
from fastrnns_rs.views.figures import percent_decimals
from fastrnns_rs.views.prompt.line import count, duration, file_name, prompt_line
from fastrnns_rs.views.prose import start_time
from fastrnns_rs.views.run.run_head import SIZES

_MOST_NAMES = 3


def _problem(one: Problem) -> str:
    sizes = [f"{word} {getattr(one, key)}" for key, word in SIZES.items() if getattr(one, key) is not None]
    mode = None if one.training else one.mode
    return prompt_line("Problem", [*sizes, "bidirectional" if one.bidirectional else None, one.device, one.dtype, mode])


def _warning(one: RunWarning | SummaryWarning) -> str:
    return prompt_line(
        type(one).__name__, [f"{one.message}: {one.evidence}" if one.evidence else one.message], one.code, sentence=True
    )


def _names(names: Sequence[str]) -> str:
    left = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {left:,} more" if left > 0 else "")


def _statuses(found: Sequence[Any]) -> str:
    """Returns the number of results with each status, as `4 ok, 1 failed`."""
    statuses = [one.status.replace("_", " ") for one in found]
    return ", ".join(f"{statuses.count(one):,} {one}" for one in dict.fromkeys(statuses))


def _verification(one: verification.Verification) -> str:
    return prompt_line("Verification", [count(len(one.results), "runner"), _statuses(one.results)])


def _verified(one: verification.Verified) -> str:
    passed = sum(check.ok for check in one.checks)
    checks = f"{passed:,} of {count(len(one.checks), 'check')} passed" if one.checks else None
    return prompt_line("Verified", [one.status, one.reason or checks], one.runner, sentence=True)


def _check(one: verification.Check) -> str:
    error = None if one.max_absolute is None else f"largest error {one.max_absolute:.3g}"
    return prompt_line("Check", ["ok" if one.ok else "failed", error], one.name)


def _capture(one: capture.Capture) -> str:
    passed = sum(check.ok for check in one.checks)
    parts = [
        one.tool.name,
        count(one.iterations, "iteration"),
        count(len(one.artefacts), "file"),
        f"{passed:,} of {count(len(one.checks), 'check')} passed",
    ]
    return prompt_line("Capture", parts, _names(one.runners))


def _file(one: capture.ArtefactEntry) -> str:
    return prompt_line("ArtefactEntry", [one.kind, count(one.size_bytes, "byte")], file_name(one.path))


def _capture_check(one: capture.CheckEntry) -> str:
    return prompt_line("CheckEntry", [f"{'ok' if one.ok else 'failed'}, found {one.found}"], one.id, sentence=True)


def _history(one: history.History) -> str:
    last = f"last {start_time(one.runs[-1].created_utc)}" if one.runs else None
    return prompt_line("History", [count(len(one.runs), "run"), last], one.folder)


def _kept_run(one: history.KeptRun) -> str:
    parts = [
        f"{one.verb} of {_names(one.runners)}",
        start_time(one.created_utc),
        None if one.status == "complete" else one.status,
        *one.tags,
    ]
    return prompt_line("KeptRun", parts, one.run_id[:12])


def _inductor(one: inductor_report.InductorReport) -> str:
    return prompt_line("InductorReport", [count(len(one.modules), "module"), _statuses(one.modules)])


def _module(one: inductor_report.ModuleRow) -> str:
    time = None if one.wall is None else duration(one.wall.estimate_ns)
    kernels = count(len(one.kernels), "kernel") if one.kernels else None
    parts = [one.device, time, kernels, None if one.status == "ok" else one.reason or one.status]
    return prompt_line("ModuleRow", parts, inductor_report.label(one), sentence=True)


def _kernel_timing(one: inductor_report.KernelTiming) -> str:
    time = None if one.time is None else duration(one.time.estimate_ns)
    speed = None if one.bandwidth_gb_per_s is None else f"{one.bandwidth_gb_per_s:,.4g} GB/s"
    return prompt_line("KernelTiming", [time, speed, one.reason], one.name, sentence=True)


def _top_row(one: inductor_report.TopRow) -> str:
    parts = [duration(one.self_device_ns, "GPU"), duration(one.self_cpu_ns, "CPU"), f"{one.count:,} times"]
    return prompt_line("TopRow", parts, one.name)


def _catalogue(one: listing.Catalogue) -> str:
    return prompt_line("Catalogue", [count(len(one.runners), "runner"), count(len(one.groups), "group")])


def _runner(one: listing.RunnerEntry) -> str:
    return prompt_line("RunnerEntry", [one.description], one.name, sentence=True)


def _group(one: listing.GroupEntry) -> str:
    return prompt_line("GroupEntry", [_names(one.runners)], one.name)


def _diagnosis(one: diagnosis.Diagnosis) -> str:
    return prompt_line("Diagnosis", [count(len(one.checks), "check"), _statuses(one.checks)])


def _diagnosis_check(one: diagnosis.Check) -> str:
    return prompt_line("Check", [f"{one.status}, {one.message}"], one.id, sentence=True)


def _profiler(one: diagnosis.ProfilerEntry) -> str:
    return prompt_line("ProfilerEntry", [one.version, one.status, one.reason], one.name, sentence=True)


def _noise(one: noise_floor.NoiseFloor) -> str:
    percent = 100 * one.minimum_detectable_change
    parts = [
        f"{percent:.{percent_decimals(percent)}f} % detectable with {one.processes_per_side:,} processes per side",
        one.device,
    ]
    return prompt_line("NoiseFloor", parts)


#: Functions that return the text of an object, by its class.
MAKERS: dict[type, Callable[[Any], str]] = {
    Problem: _problem,
    RunWarning: _warning,
    SummaryWarning: _warning,
    verification.Verification: _verification,
    verification.Verified: _verified,
    verification.Check: _check,
    capture.Capture: _capture,
    capture.ArtefactEntry: _file,
    capture.CheckEntry: _capture_check,
    history.History: _history,
    history.KeptRun: _kept_run,
    inductor_report.InductorReport: _inductor,
    inductor_report.ModuleRow: _module,
    inductor_report.KernelTiming: _kernel_timing,
    inductor_report.TopRow: _top_row,
    listing.Catalogue: _catalogue,
    listing.RunnerEntry: _runner,
    listing.GroupEntry: _group,
    diagnosis.Diagnosis: _diagnosis,
    diagnosis.Check: _diagnosis_check,
    diagnosis.ProfilerEntry: _profiler,
    noise_floor.NoiseFloor: _noise,
    noise_floor.NoiseFloorDocument: lambda one: _noise(one.noise_floor).replace("NoiseFloor", "NoiseFloorDocument", 1),
}
