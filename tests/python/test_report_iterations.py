"""Iterations of captures, their statistics and outliers, and which way cuDNN took in them."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path
from statistics import mean, median, stdev

import pytest
from conftest import ROOT, run_cli
from corpus import captures
from hypothesis import given
from hypothesis import strategies as st
from iteration_reading import Iteration, steps
from kineto_traces import Event, annotation, call, kernel, write
from nsys_exports import STARTED, Export, thread

import fastrnns_rs
from fastrnns_rs.documents.capture_manifest import ArtefactEntry, Capture
from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.problem.problem import Problem
from fastrnns_rs.verbs.report.manifests import find_sequence_length

MAIN, AUTOGRAD = thread(100, 1), thread(100, 2)
GEMM, PERSISTENT, STEP = 1, 11, 12
NAMES = {PERSISTENT: "RNN_blockPersist_fp_LSTM", STEP: "void LSTM_elementWise_bp1<float>(int)"}
#: The fourth is far from the rest: its range, and what it does on the devices.
FORWARD = [400, 401, 402, 900, 400, 403, 401, 402, 400, 401]


def capture(path: Path, forward: dict[int, int], backward: dict[int, int]) -> Path:
    """Iterations that launch so many kernels of these names in each phase.

    The fourth forward is without the first of several kernels, and has a copy that overlaps another, and a kernel on
    another device.
    """
    export, correlations = Export(path), count(1)
    for step, took in enumerate(FORWARD):
        at, outlier = step * 10_000, took == max(FORWARD)
        export.range(f"cudnn/forward/{step}", at, at + took, MAIN, kind=STARTED)
        export.range(f"cudnn/backward/{step}", at + 5000, at + 6000, MAIN, kind=STARTED)
        for first, on, kernels in ((at, MAIN, forward), (at + 5000, AUTOGRAD, backward)):
            names = [name for name, times in kernels.items() for _ in range(times)]
            lacks_first = outlier and on == MAIN and len(names) > 1
            for place, name in enumerate(names[lacks_first:]):
                start, correlation = first + 20 * place, next(correlations)
                export.call(start, start + 1, on, correlation)
                export.kernel(start + 2, start + 12, on, correlation, name=name)
        if outlier:
            export.call(at + 300, at + 301, MAIN, 1_000_000, 4)
            export.copy(at + 310, at + 360, MAIN, 1_000_000)
            export.call(at + 302, at + 303, MAIN, 1_000_001)
            export.kernel(at + 320, at + 400, MAIN, 1_000_001, name=GEMM)
            export.call(at + 304, at + 305, MAIN, 1_000_002)
            export.kernel(at + 320, at + 330, MAIN, 1_000_002, name=GEMM, device=1)
    for number, name in NAMES.items():
        export.text(number, name)
    return export.written()


def test_iterations_have_statistics_and_outliers_say_what_differs(tmp_path: Path) -> None:
    document = fastrnns_rs.read(capture(tmp_path / "capture.sqlite", {PERSISTENT: 1, GEMM: 2}, {GEMM: 1})).document
    forward = [row for row in document.iterations if row.phase == "forward"]
    assert [(row.index, row.runner, row.duration_ns) for row in forward] == [
        (i, "cudnn", t) for i, t in enumerate(FORWARD)
    ]
    assert {row.gpu_busy_ns for row in forward if not row.outlier} == {30}
    (outlier,) = [row for row in document.iterations if row.outlier]
    # On the first device 2…12, 22…32 and 310…400, twice at times, on the second beside it.
    assert (outlier.index, outlier.phase) == (3, "forward")
    assert (outlier.gpu_ns, outlier.gpu_busy_ns, outlier.gpu_time_ns) == (398, 110, 160)
    assert outlier.host_ns == outlier.duration_ns == 900
    differences = [(one.category, one.delta_ns) for one in outlier.differences]
    assert differences == [("gemm", 90), ("memcpy HtoD", 50), ("cudnn_rnn_persistent", -10)]
    figures = {row.phase: row for row in document.iteration_statistics}
    assert figures.keys() == {"forward", "backward"}
    found = figures["forward"]
    spans = [row.gpu_ns for row in forward]
    assert sorted(spans) == [50] * 9 + [398]
    assert (found.measure, found.count, found.total_ns, found.median_ns) == ("gpu_ns", 10, sum(spans), median(spans))
    assert found.mean_ns == pytest.approx(mean(spans))
    assert found.stddev_ns == pytest.approx(stdev(spans))
    assert (found.host_median_ns, found.gpu_time_median_ns, found.outlier_count) == (median(FORWARD), 30, 1)
    assert (found.gpu_busy_median_ns, figures["backward"].gpu_busy_median_ns) == (30, 10)


def test_statistics_of_version_1_1_are_of_the_host(tmp_path: Path) -> None:
    steps_alone = [annotation(f"ProfilerStep#{number}", 20 * number, 10) for number in range(3)]
    plain = fastrnns_rs.read(write(tmp_path / "trace.json", steps_alone)).document.to_dict()
    (figures,) = plain["iteration_statistics"]
    for key in ("measure", "host_median_ns", "gpu_median_ns", "gpu_time_median_ns", "name"):
        del figures[key]
    for row in plain["iterations"]:
        for key in ("host_ns", "gpu_ns", "gpu_time_ns", "parts"):
            del row[key]
    assert "3 iterations, median: host 10.00 µs" in SummaryDocument.from_dict(plain).render()


def figures_of(path: Path) -> list[Iteration]:
    rows = fastrnns_rs.read(path).iterations
    return [Iteration(row.index, row.host_ns, row.gpu_ns, row.gpu_busy_ns, row.gpu_time_ns) for row in rows]


@pytest.mark.parametrize("path", captures("kineto/*.json.gz"))
def test_steps_own_what_an_independent_reading_says(path: Path) -> None:
    assert figures_of(path) == steps(path)


PLACES = st.integers(0, 60)


@given(
    st.lists(st.tuples(st.integers(0, 1), PLACES, st.integers(0, 40)), max_size=6),
    st.lists(
        st.tuples(st.integers(0, 1), st.integers(0, 2), PLACES, PLACES, st.integers(0, 30)), min_size=1, max_size=20
    ),
)
def test_steps_of_processes_threads_and_gpus(
    tmp_path_factory: pytest.TempPathFactory,
    marks: list[tuple[int, int, int]],
    launches: list[tuple[int, int, int, int, int]],
) -> None:
    """Steps nest and overlap; two processes launch from three threads each, every process on a GPU of its own."""
    events: list[Event] = [call(process=100), call(process=101)]
    for number, (process, start, length) in enumerate(marks):
        events.append(
            {**annotation(f"ProfilerStep#{number}", start, length), "pid": 100 + process, "tid": 100 + process}
        )
    for correlation, (process, on, at, start, length) in enumerate(launches, 2):
        launch = call("cudaLaunchKernel", at, 1, 100 + process)
        events.append({**launch, "tid": 200 + on, "args": {"correlation": correlation}})
        events.append(kernel("k", start, length, device=process, correlation=correlation))
    path = write(tmp_path_factory.mktemp("steps") / "trace.json", events)
    # Steps that begin together come in the order of the file from the extension, by number from the reading.
    assert sorted(figures_of(path)) == sorted(steps(path))


def test_steps_of_several_processes_stay_theirs(tmp_path: Path) -> None:
    """Though one process alone calls: only the steps of a single one can be those of a container."""
    work = [call(start=10), kernel("k", 20, 5)]

    def times(*processes: int) -> list[int]:
        marks = [{**annotation("ProfilerStep#1", 0, 90), "pid": process, "tid": process} for process in processes]
        return sorted(row.gpu_time_ns for row in figures_of(write(tmp_path / "trace.json", work + marks)))

    assert times(7) == [5000]
    assert times(100, 7) == [0, 5000]
    assert times(7, 8) == [0, 0]


def test_ranges_of_a_name_mark_iterations_and_one_that_is_not_there_is_said(tmp_path: Path) -> None:
    path = capture(tmp_path / "capture.sqlite", {GEMM: 1}, {})
    found = fastrnns_rs.read(path, iteration_range="cudnn/forward").document.iterations
    assert [(row.index, row.runner, row.duration_ns) for row in found] == [(i, None, t) for i, t in enumerate(FORWARD)]
    done = run_cli("report", str(path), "--iteration-range", "cudnn/foward", "--json")
    assert (done.status, '"cudnn/foward"' in done.stderr) == (0, True), done.stderr
    document = fastrnns_rs.read(path, iteration_range="cudnn/foward").document
    (warning,) = [one for one in document.warnings if one.code == "no_iterations"]
    assert (document.iterations, '"cudnn/forward"' in warning.evidence) == ([], True)


def record(path: Path, length: int | None, file: Path) -> Path:
    """A record of a capture of sequences of this length."""
    made = Capture.load(ROOT / "tests" / "data" / "documents" / "capture_3_4cc6066.json")
    artefacts = [ArtefactEntry(path=str(file), kind="nsys_sqlite", size_bytes=file.stat().st_size, sha256="")]
    replace(made, artefacts=artefacts, problem=Problem(seq_length=length, mini_batch=4)).save(path)
    return path


def test_records_tell_the_length_of_sequences(tmp_path: Path) -> None:
    file = capture(tmp_path / "capture.sqlite", {PERSISTENT: 1}, {STEP: 16})
    eight, nine, none = (record(tmp_path / f"{length}.json", length, file) for length in (8, 9, None))
    assert [find_sequence_length(paths) for paths in ([eight], [eight, eight], [eight, nine])] == [8, 8, None]
    assert [find_sequence_length(paths) for paths in ([none], [eight, file], [file])] == [None, None, None]
    forward, backward = fastrnns_rs.read(eight).document.cudnn_rnn
    assert (forward.path, forward.kernels_per_step, forward.iterations) == ("persistent", 1 / 8, len(FORWARD))
    assert (backward.path, backward.kernels_per_step, backward.kernel_count) == ("stepwise", 2, 16 * len(FORWARD))
    assert backward.sentence.startswith("cudnn/backward: ")
    assert "16 kernels for a sequence of 8 steps, 2.0 per step" in backward.sentence
    assert forward.sentence.endswith("1 kernel for a sequence of 8 steps")
