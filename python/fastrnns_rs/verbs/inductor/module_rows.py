"""Conversion of child results to the rows of a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents import codec
from fastrnns_rs.documents.inductor_report import InductorReport, KernelTiming, ModuleRow, label
from fastrnns_rs.documents.inductor_soundness import check_module
from fastrnns_rs.documents.soundness import check_numbers
from fastrnns_rs.errors import FastrnnsError, failure_text
from fastrnns_rs.machine.warnings import few_processes
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.verbs.bench.phase_summary import summary

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.documents.inductor_report import Status
    from fastrnns_rs.documents.run_file import Environment, PhaseSummary
    from fastrnns_rs.verbs.inductor.module_files import Generated
    from fastrnns_rs.verbs.inductor.output_files import Places
    from fastrnns_rs.verbs.inductor.request import InductorOptions

#: A module may find the pipe of its worker, and write anything to it, also lists in lists a thousand deep.
_ODD = (TypeError, ValueError, AttributeError, KeyError, ArithmeticError, RecursionError)
_UNCLEAR = "what its process told cannot be understood"
_MORE_PROCESSES = "Measure a module in 5 processes: fastrnns-rs inductor --processes 5 MODULE.py"


def described(processes: Sequence[Sequence[int]]) -> PhaseSummary:
    """Summarises the samples of several processes, in nanoseconds."""
    return summary([[samples] for samples in processes])


def row(one: Generated, asked: InductorOptions, answer: Answer, parts: Sequence[dict[str, Any]]) -> ModuleRow:
    """Returns the row of a module from the results of its processes.

    Args:
        one: Module.
        asked: Requested measurements.
        answer: End of the last process; the earlier processes ended well.
        parts: Results of each process; the first has all requested measurements.
    """
    try:
        return _row(one, asked, answer, parts)
    except (*_ODD, FastrnnsError):
        return _row(one, asked, Answer({}, "died", _UNCLEAR, ""), [{}])


def _row(one: Generated, asked: InductorOptions, answer: Answer, parts: Sequence[dict[str, Any]]) -> ModuleRow:
    failed: Status = "timed_out" if answer.ended == "timed_out" else "failed"
    ok = answer.content.get("status") == "ok"
    samples = [found["samples_ns"] for found in parts if "samples_ns" in found]
    first = parts[0]
    names = ("timing_mode", "first_call_ns", "upstream_ms", "peak_memory_bytes")
    facts: dict[str, Any] = {name: first.get(name) for name in names}
    made = ModuleRow(
        path=str(one.path),
        runner=one.runner,
        graph=one.graph,
        graph_id=one.graph_id,
        device=one.device,
        status="ok" if ok else failed,
        reason=None if ok else _reason(answer, len(parts)),
        times=asked.times,
        repeat=asked.repeat,
        samples_ns=samples,
        wall=described(samples) if samples else None,
        **facts,
        kernels=[kernel_timing(one) for one in first.get("kernels", [])],
    )
    return _checked(made)


def _checked(made: ModuleRow) -> ModuleRow:
    """Returns the row if a document may have it.

    Raises:
        ValueError: If a value has another type, is out of its range, or contradicts others.
    """
    try:
        # The round trip checks the types.
        found = codec.from_plain(ModuleRow, codec.to_plain(made))
        check_numbers(found)
        check_module("module", found)
    except FastrnnsError as error:
        raise ValueError(str(error)) from error
    return found


def _reason(answer: Answer, count: int) -> str:
    reason = answer.reason or "it was not measured"
    return reason if count == 1 else f"process {count}: {reason}"


def kernel_timing(facts: dict[str, Any]) -> KernelTiming:
    """Converts a kernel result of the child process, and summarises its samples."""
    facts = dict(facts)
    samples = facts.pop("samples_ns")
    time = described([samples]) if samples else None
    bandwidth = None
    if facts["num_gb"] is not None and not 0 <= facts["num_gb"] < math.inf:
        facts["num_gb"] = None
    if time is not None and facts["num_gb"] is not None and time.median_ns > 0:
        bandwidth = facts["num_gb"] * 1e9 / time.median_ns
    device_bandwidth = facts.pop("device_gb_per_s")
    return codec.from_plain(
        KernelTiming,
        {
            **facts,
            "time": None if time is None else codec.to_plain(time),
            "bandwidth_gb_per_s": bandwidth,
            "bandwidth_fraction": None if bandwidth is None or not device_bandwidth else bandwidth / device_bandwidth,
        },
    )


def interrupted(measured: ModuleRow) -> ModuleRow:
    """Returns the row of a module that Ctrl-C interrupted."""
    return replace(measured, status="interrupted", reason="interrupted")


def finished(measured: ModuleRow, asked: InductorOptions, places: Places, found: dict[str, Any]) -> ModuleRow:
    """Completes a row with the files of its process and of other tools."""
    try:
        if places.trace is not None and "top" in found:
            from fastrnns_rs.verbs.inductor import module_profiles

            measured = _checked(replace(measured, **module_profiles.parts(measured, places.trace, found)))
        if places.memory_snapshot is not None and found.get("memory_snapshot"):
            measured = replace(measured, memory_snapshot_path=str(places.memory_snapshot))
        # A module that failed or timed out would fail under ncu too.
        if places.ncu_report is not None and measured.wall is not None:
            from fastrnns_rs.verbs.inductor import ncu

            measured = replace(measured, ncu_report_path=ncu.run(measured, asked, places.ncu_report))
    except (FastrnnsError, OSError) as error:
        return replace(measured, status="failed", reason=measured.reason or failure_text(error))
    except _ODD:
        return replace(measured, status="failed", reason=measured.reason or _UNCLEAR)
    finally:
        places.drop_empty()
    return measured


def report(environment: Environment, rows: list[ModuleRow], warnings: Sequence[RunWarning] = ()) -> InductorReport:
    """Returns the report document.

    Args:
        environment: Machine and software.
        rows: Row of each module.
        warnings: Earlier warnings.
    """
    counts = {f"{label(one)}": one.wall.n_processes for one in rows if one.wall is not None}
    return InductorReport(
        warnings=[*warnings, *few_processes.check_counts(counts, "every module", _MORE_PROCESSES)],
        environment=environment,
        modules=rows,
    )
