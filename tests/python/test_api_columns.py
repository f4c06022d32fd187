"""Samples, rows and kernels as columns for data frames."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import run_files
import screen_data
from kineto_traces import kernel, write

import fastrnns_rs
from fastrnns_rs import Comparison, Run, UsageError
from fastrnns_rs.documents.columns import collect_columns
from fastrnns_rs.documents.summary import TABLES
from fastrnns_rs.documents.sweep import Sweep, SweepAxis


@pytest.fixture
def run() -> Run:
    return screen_data.candidate()


@pytest.fixture
def comparison(tmp_path: Path) -> Comparison:
    return fastrnns_rs.compare(screen_data.baseline(), screen_data.candidate(), history=False)


def columns(kind: str, run: Run, comparison: Comparison, folder: Path) -> list[dict[str, Any]]:
    if kind == "samples":
        return [run.samples(), replace(run, results=[]).samples()]
    if kind == "comparison":
        return [comparison.columns(), comparison.columns("kernels")]
    summary = fastrnns_rs.load(write(folder / "x.json", [kernel("scan", 5, 2), kernel("gemm", 9, 2)]))
    return [summary.columns(), *(summary.columns(name) for name in TABLES)]


@pytest.mark.parametrize("kind", ["samples", "comparison", "summary"])
def test_columns_are_arrays_of_one_length(kind: str, run: Run, comparison: Comparison, tmp_path: Path) -> None:
    for found in columns(kind, run, comparison, tmp_path):
        assert all(isinstance(column, np.ndarray) and column.ndim == 1 for column in found.values())
        assert len({len(column) for column in found.values()}) == 1


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("kind", ["samples", "comparison", "summary"])
def test_data_frames_take_the_columns(
    library: str, kind: str, run: Run, comparison: Comparison, tmp_path: Path
) -> None:
    frames = pytest.importorskip(library)
    for found in columns(kind, run, comparison, tmp_path):
        frame = frames.DataFrame(found)
        assert frame.shape == (len(next(iter(found.values()))), len(found))
        assert [*frame.columns] == [*found]
    assert frames.DataFrame(comparison.rows).shape[0] == len(comparison)


def test_every_sample_is_a_row(run: Run) -> None:
    found = run.samples()
    for result in run.results:
        for process in result.processes:
            for phase in ("forward", "backward"):
                here = (found["runner"] == result.runner) & (found["phase"] == phase)
                here &= found["process"] == process.index
                assert found["time_ns"][here].tolist() == getattr(process, f"{phase}_ns")
                assert found["iteration"][here].tolist() == [*range(len(process.forward_ns))]
                assert found["timed"][here].sum() == len(process.forward_ns) - (process.steady_from or 0)
    assert found["time_ns"].dtype == found["process"].dtype == np.int64
    assert np.isnan(found["rank"]).all(), "without torchrun"
    assert {*found["side"]} == {""}


def test_samples_name_the_side_the_axes_and_the_ranks() -> None:
    one = run_files.exactly([1000, 1002])
    sides = run_files.both(one, one)
    assert {*sides.samples()["side"]} == {"a", "b"}
    pointed = [
        replace(one, point={"hidden-size": 64, "dtype": "float64"}),
        replace(one, point={"hidden-size": 32}),
        replace(one, processes=[replace(process, rank=3) for process in one.processes], point={}),
    ]
    axes = [SweepAxis(name="hidden-size", values=[64, 32]), SweepAxis(name="dtype", values=["float64"])]
    found = replace(sides, sides=[], results=pointed, sweep=Sweep(axes=axes, cells=[], growth=[])).samples()
    assert [*found][3:5] == ["hidden_size", "dtype"]
    sizes = found["hidden_size"]
    assert [*dict.fromkeys(sizes[~np.isnan(sizes)])] == [64, 32]
    assert {*found["dtype"]} == {"float64", ""}
    assert [*dict.fromkeys(found["rank"][~np.isnan(found["rank"])])] == [3]


def test_a_process_that_ended_before_its_timed_samples_has_none() -> None:
    one = run_files.exactly([1000, 1002])
    early = replace(one, processes=[replace(one.processes[0], steady_from=None, status="failed")])
    assert not replace(screen_data.candidate(), results=[early]).samples()["timed"].any()


def test_samples_of_processes_that_do_not_count_are_not_timed() -> None:
    made = run_files.run([run_files.exactly([1000, 1002, 1004, 1006])])
    [row] = made.results
    stopped = [replace(row.processes[0], status="interrupted"), *row.processes[1:]]
    found = replace(made, results=[replace(row, processes=stopped)])
    assert {*found.samples()["process"][found.samples()["timed"]]} == {1, 2, 3}
    assert len(found.render("pep").splitlines()) == 9
    # Ranks count together.
    ranks = [replace(one, rank=place % 2, index=place // 2) for place, one in enumerate(stopped)]
    found = replace(made, results=[replace(row, processes=ranks)])
    assert {*found.samples()["process"][found.samples()["timed"]]} == {1}


def test_rows_of_a_comparison_are_flat(comparison: Comparison) -> None:
    found = comparison.columns()
    assert found["runner"].tolist() == [row.runner for row in comparison.rows]
    assert found["ratio"].tolist() == [row.ratio for row in comparison.rows]
    assert found["baseline_estimate_ns"].tolist() == [
        row.baseline.estimate_ns for row in comparison.rows if row.baseline
    ]
    assert found["problem_hidden_size"].tolist() == [256.0] * len(comparison)
    assert np.isnan(found["problem_image_size"]).all()
    failed = replace(comparison.rows[0], baseline=None, verdict=None)
    one = replace(comparison, rows=[failed]).columns()
    assert np.isnan(one["baseline_n_processes"]).all()
    assert one["verdict"].tolist() == [""]
    with pytest.raises(UsageError, match="unknown table: 'row' \\(table\\). Use 'rows'"):
        comparison.columns("row")


def test_integers_of_64_bits_are_numbers_too() -> None:
    """Documents may have them, and int64 may not."""

    @dataclass
    class Row:
        count: int

    for large, kind in ((2**63 - 1, np.int64), (2**63, np.float64), (2**64 - 1, np.float64)):
        found = collect_columns([Row(1), Row(large)], Row)["count"]
        assert found.dtype == kind
        assert float(found[1]) == float(large)
