"""Iterations of captures, their statistics and outliers, and which way cuDNN took in them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

import pytest
from conftest import run_cli
from kineto_traces import call, kernel, write
from nsys_exports import STARTED, Export, thread

import fastrnns_rs
from fastrnns_rs.documents.capture_manifest import ArtefactEntry, Capture, ToolEntry
from fastrnns_rs.problem.problem import Problem
from fastrnns_rs.verbs.report.manifests import sequence_length_of

MAIN, AUTOGRAD = thread(100, 1), thread(100, 2)
GEMM, PERSISTENT, STEP = 1, 11, 12
NAMES = {PERSISTENT: "RNN_blockPersist_fp_LSTM", STEP: "void LSTM_elementWise_bp1<float>(int)"}
#: The fourth is far from the rest.
FORWARD = [400, 401, 402, 900, 400, 403, 401, 402]


def capture(path: Path, forward: dict[int, int], backward: dict[int, int]) -> Path:
    """Iterations that launch so many kernels of these names in each phase; the fourth forward launches a copy too."""
    export = Export(path)
    names: list[int] = []

    def launch(at: int, on: int, of: int) -> None:
        names.append(of)
        export.call(at, at + 1, on, len(names))
        export.kernel(at + 2, at + 12, on, len(names))

    for step, took in enumerate(FORWARD):
        at = step * 10_000
        export.range(f"cudnn/forward/{step}", at, at + took, MAIN, kind=STARTED)
        export.range(f"cudnn/backward/{step}", at + 5000, at + 6000, MAIN, kind=STARTED)
        for first, on, kernels in ((at, MAIN, forward), (at + 5000, AUTOGRAD, backward)):
            for place, of in enumerate(of for of, count in kernels.items() for _ in range(count)):
                launch(first + 20 * place, on, of)
        if took == max(FORWARD):
            export.call(at + 300, at + 301, MAIN, 1_000_000, 4)
            export.copy(at + 310, at + 360, MAIN, 1_000_000)
    for number, name in NAMES.items():
        export.text(number, name)
    export.written()
    with closing(sqlite3.connect(path)) as database:
        table = "CUPTI_ACTIVITY_KIND_KERNEL"
        rows = [(of, of, number) for number, of in enumerate(names, start=1)]
        database.executemany(f"UPDATE {table} SET demangledName = ?, shortName = ? WHERE correlationId = ?", rows)
        database.commit()
    return path


def test_iterations_have_statistics_and_outliers_say_what_differs(tmp_path: Path) -> None:
    document = fastrnns_rs.read(capture(tmp_path / "capture.sqlite", {GEMM: 3}, {GEMM: 1})).document
    forward = [row for row in document.iterations if row.phase == "forward"]
    assert [(row.index, row.runner, row.duration_ns) for row in forward] == [
        (i, "cudnn", t) for i, t in enumerate(FORWARD)
    ]
    assert {row.gpu_busy_ns for row in forward if not row.outlier} == {30}
    (outlier,) = [row for row in document.iterations if row.outlier]
    assert (outlier.index, outlier.phase, outlier.gpu_busy_ns) == (3, "forward", 80)
    assert [(one.category, one.delta_ns) for one in outlier.differences] == [("memcpy HtoD", 50)]
    figures = {row.phase: row for row in document.iteration_statistics}
    assert figures.keys() == {"forward", "backward"}
    found = figures["forward"]
    assert (found.count, found.total_ns, found.median_ns, found.outlier_count) == (8, sum(FORWARD), median(FORWARD), 1)
    assert found.mean_ns == pytest.approx(mean(FORWARD))
    assert found.stddev_ns == pytest.approx(stdev(FORWARD))
    assert (found.gpu_busy_median_ns, figures["backward"].gpu_busy_median_ns) == (30, 10)


def test_ranges_of_a_name_mark_iterations_and_one_that_is_not_there_is_said(tmp_path: Path) -> None:
    path = capture(tmp_path / "capture.sqlite", {GEMM: 1}, {})
    found = fastrnns_rs.read(path, iteration_range="cudnn/forward").document.iterations
    assert [(row.index, row.runner, row.duration_ns) for row in found] == [(i, None, t) for i, t in enumerate(FORWARD)]
    done = run_cli("report", str(path), "--iteration-range", "cudnn/foward", "--json")
    assert (done.status, '"cudnn/foward"' in done.stderr) == (0, True), done.stderr
    document = fastrnns_rs.read(path, iteration_range="cudnn/foward").document
    (warning,) = [one for one in document.warnings if one.code == "no_iterations"]
    assert (document.iterations, '"cudnn/forward"' in warning.evidence) == ([], True)


def test_steps_of_torchs_profiler_are_iterations(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = []
    for step in range(4):
        at = step * 100
        events.append({**call(f"ProfilerStep#{step + 2}", at, 90), "cat": "user_annotation"})
        events.append({**call(start=at + 5), "args": {"correlation": step + 1}})
        events.append(kernel(start=at + 95, duration=10 + step, correlation=step + 1))
    found = fastrnns_rs.read(write(tmp_path / "trace.json", events)).document
    assert [(row.index, row.gpu_busy_ns) for row in found.iterations] == [
        (2, 10_000),
        (3, 11_000),
        (4, 12_000),
        (5, 13_000),
    ]
    assert [row.name for row in found.ranges] == ["ProfilerStep"]


def record(path: Path, length: int | None, file: Path) -> Path:
    """A record of a capture of sequences of this length."""
    artefact = ArtefactEntry(path=str(file), kind="nsys_sqlite", size_bytes=0, sha256="")
    Capture(
        tool=ToolEntry(name="nsys", path=None, version=None),
        command=[],
        started_utc="2026-01-01T00:00:00Z",
        duration_ns=1,
        exit_status=0,
        signal=None,
        timed_out=False,
        artefacts=[artefact],
        checks=[],
        profiled_over_unprofiled=None,
        unprofiled_ns=[None],
        warnings=[],
        runners=["cudnn"],
        problem=Problem(seq_length=length, mini_batch=4),
        iterations=len(FORWARD),
        phases=["forward", "backward"],
    ).save(path)
    return path


def test_records_tell_the_length_of_sequences(tmp_path: Path) -> None:
    file = capture(tmp_path / "capture.sqlite", {PERSISTENT: 1}, {STEP: 16})
    eight, nine, none = (record(tmp_path / f"{length}.json", length, file) for length in (8, 9, None))
    assert [sequence_length_of(paths) for paths in ([eight], [eight, eight], [eight, nine])] == [8, 8, None]
    assert [sequence_length_of(paths) for paths in ([none], [eight, file], [file])] == [None, None, None]
    forward, backward = fastrnns_rs.read(eight).document.cudnn_rnn
    assert (forward.kernels_per_step, backward.kernels_per_step) == (1 / 8, 2)
    assert backward.sentence.startswith(
        "cudnn/backward: cuDNN went step by step: 16 kernels for a sequence of 8 steps, 2.0 for each step"
    )
    assert forward.sentence.endswith("1 kernel for a sequence of 8 steps")
