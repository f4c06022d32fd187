"""Values that can be changed alone in a document are measured, named or chosen; others are listed in the manual."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import plotted_captures
import pytest
from comparison_documents import of_captures, of_runs
from conftest import ROOT
from free_values import find_free
from noise_floors import floor_of_sessions
from page_documents import history, sweep
from run_files import both, of_other_session, result, run
from summary_documents import inductor_of
from verb_documents import verification

import fastrnns_rs
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.documents.document import Document
from fastrnns_rs.documents.history import History
from fastrnns_rs.documents.inductor_report import InductorReport
from fastrnns_rs.documents.noise_floor import NoiseFloorDocument
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.documents.verification import Verification


def runs(_folder: Path) -> list[Document]:
    few = result(count=4)
    return [run([few, result("jit", count=4, backward=False)]), both(few, result(seed=1, count=4)), sweep()]


def comparisons(folder: Path) -> list[Document]:
    """Of runs, of `ab`, of three sessions per side, and of captures."""
    sides = [[of_other_session(run([result(seed=seed)]), f"{side}{seed}") for seed in range(3)] for side in "ab"]
    pairs = fastrnns_rs.compare(both(result(), result(seed=1, level_ns=1.1e6)))
    return [of_runs(), pairs, fastrnns_rs.compare(*sides, history=False), of_captures(folder)]


def summaries(folder: Path) -> list[Document]:
    found = [plotted_captures.summary(folder), plotted_captures.ranks(folder, 3)]
    return [SummaryDocument.from_dict(one.to_dict()) for one in found]


MADE: dict[type[Document], Callable[[Path], list[Document]]] = {
    Run: runs,
    Comparison: comparisons,
    SummaryDocument: summaries,
    InductorReport: lambda _: [InductorReport.from_dict(inductor_of(lambda: "some text"))],
    Verification: lambda _: [verification()],
    History: lambda _: [history()],
    NoiseFloorDocument: lambda folder: [floor_of_sessions(folder, 9)],
}

#: What is measured, named or chosen by somebody: no other value of the document gives it.
FACTS: dict[type[Document], str] = {
    Run: """
        run_id created_utc command[] tool.* environment.* plan.* sessions[].started_utc
        sides[].label sides[].python sides[].environment.*
        results[].runner results[].group results[].mode results[].problem.* results[].timing_mode
        results[].timer_resolution_ns results[].processes[].index results[].processes[].order
        results[].processes[].first_call.forward_ns results[].processes[].forward_ns[]
        results[].processes[].backward_ns[] sweep.axes[].name sweep.axes[].values[]
    """,
    Comparison: """
        *.created_utc *.files[] *.label *.span_ns *warnings[].* method.false_discovery_rate method.margin
        method.margin_source method.forced rows[].runner rows[].phase rows[].group rows[].label
        rows[].problem.seed rows[].*.n_samples kernels[].short_name *.idle_times[].cause device_time.name
    """,
    SummaryDocument: """
        captures[].* warnings[].* *.name *.short_name *.rank ranges[].kind devices[].process_id devices[].end_ns
        kernels[].grid[] kernels[].block[] streams[].stream_id *.bounds_ns[] devices[].activity.bin_ns
        iterations[].index iterations[].start_ns iterations[].differences[].category
    """,
    InductorReport: """
        environment.* warnings[].* modules[].*_path modules[].path modules[].device modules[].runner modules[].graph
        modules[].graph_id modules[].first_call_ns modules[].peak_memory_bytes modules[].upstream_ms *.timing_mode
        *.host_ns *.name modules[].categories[].count modules[].categories[].total_ns modules[].top[].*
        modules[].kernels[].assembled[].* modules[].kernels[].category modules[].kernels[].chosen
        modules[].kernels[].config modules[].kernels[].key modules[].kernels[].reason modules[].kernels[].registers
        modules[].kernels[].shared_memory_bytes modules[].kernels[].spills modules[].kernels[].bandwidth_fraction
    """,
    Verification: """
        results[].runner results[].reference results[].dtype
        results[].checks[].name results[].checks[].max_absolute results[].checks[].tolerance_absolute
        results[].checks[].worst_index[]
    """,
    History: """
        folder runs[].* trends[].device trends[].points[].n_processes trends[].n_sessions
    """,
    NoiseFloorDocument: """
        *.cpu_model *.device *.device_name *.measured_utc *.phase *.runner *.seed *.torch_version
    """,
}
#: What other values would give, or limit more than the checks do.
DERIVED: dict[type[Document], str] = {
    Run: """
        status results[].*.n_effective sweep.cells[].samples_per_second sweep.growth[].ci_method
        sweep.growth[].lack_of_fit_p
    """,
    Comparison: """
        *.sessions *.reason *.delta_ci_low_ns *.delta_ci_high_ns *.ratio_ci_low *.ratio_ci_high *.p_value
        rows[].*.p_value_adjusted rows[].shift_ns method.name method.statistic method.confidence_level
    """,
    SummaryDocument: """
        *.stddev_ns *.p95_ns *.min_ns *.max_ns devices[].overlap_ns devices[].exposed_communication_ns
        iterations[].gpu_busy_ns iterations[].gpu_time_ns streams[].busy_ns *.span_fraction
        ranges[].count ranges[].gpu_inclusive_ns ranges[].gpu_other_threads_ns ranges[].host_total_ns
        nested_ranges[].count nested_ranges[].folded_count nested_ranges[].kernel_count
    """,
    InductorReport: """
        *.n_effective *.confidence_level modules[].kernels[].time.ci_low_ns modules[].kernels[].time.ci_high_ns
        modules[].kernels[].time.min_ns modules[].kernels[].time.max_ns modules[].kernels[].time.n_samples
    """,
    Verification: "results[].reason results[].checks[].max_relative",
    History: "trends[].session_stddev trends[].points[].ci_low_ns trends[].points[].ci_high_ns",
    NoiseFloorDocument: """
        *.between_sessions_change *.session_log_stddev *.log_stddev *.n_processes *.processes_per_side
        *.checks[].p_value *.checks[].ratio *.checks[].ratio_ci_high *.checks[].ratio_ci_low
    """,
}


@pytest.mark.parametrize("kind", MADE)
def test_it_is_known_what_no_other_value_gives(kind: type[Document], tmp_path: Path) -> None:
    free = {name for one in MADE[kind](tmp_path) for name in find_free(kind, one.to_dict())}
    used = {name: [one for one in FACTS[kind].split() + DERIVED[kind].split() if is_of(name, one)] for name in free}
    assert sorted(name for name, patterns in used.items() if not patterns) == []
    assert {*FACTS[kind].split(), *DERIVED[kind].split()} == {one for patterns in used.values() for one in patterns}


def is_of(name: str, pattern: str) -> bool:
    """Returns True if a value has such a name, whatever other value is null."""
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), name.partition(" without ")[0]) is not None


def test_the_manual_lists_what_is_not_checked() -> None:
    text = (ROOT / "docs" / "reference" / "documents.md").read_text(encoding="utf-8")
    listed = text.partition("## Values without a rule")[2].partition("\n## ")[0]
    names = {one.rpartition(".")[2] for every in DERIVED.values() for one in every.split()} - {"*"}
    assert sorted(one for one in names if f"`{one}`" not in listed) == []
