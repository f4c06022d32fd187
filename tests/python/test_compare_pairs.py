"""`ab` is analysed as it was measured: in pairs of processes that ran right after each other."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from commands import run_cli
from run_files import both, exactly

from fastrnns_rs import Comparison, compare, stats

#: Times in ns that drift by 10 %, and the same 2 % slower, with noise of 0.1 %.
BASELINE = [1_000_000 + 11_111 * place for place in range(10)]
NOISE = np.random.default_rng(5).normal(0, 0.001, 10)
CANDIDATE = [round(1.02 * time * math.exp(noise)) for time, noise in zip(BASELINE, NOISE, strict=True)]


def compared(*, missing: int | None = None) -> Comparison:
    first, second = exactly(BASELINE), exactly(CANDIDATE, side="b")
    if missing is not None:
        kept = [one for one in second.processes if one.index != missing]
        second = replace(second, processes=kept)
    return compare(both(first, second))


def test_the_interval_is_that_of_the_differences_of_pairs() -> None:
    [row] = compared().rows
    differences = np.log(CANDIDATE) - np.log(BASELINE)
    expected = scipy.stats.ttest_1samp(differences, 0).confidence_interval(0.95)
    assert row.ratio == pytest.approx(math.exp(differences.mean()))
    assert (row.ratio_ci_low, row.ratio_ci_high) == (
        pytest.approx(math.exp(expected[0])),
        pytest.approx(math.exp(expected[1])),
    )
    assert row.p_value == pytest.approx(scipy.stats.ttest_rel(np.log(CANDIDATE), np.log(BASELINE)).pvalue)
    assert (row.verdict, row.basis) == ("slower", "interleaved")
    assert compared().method.name == "paired_t_log_process_medians"
    # The drift hides the difference from a comparison of all processes.
    assert stats.compare_samples(BASELINE, CANDIDATE).verdict == "inconclusive"


def test_processes_are_paired_by_their_place_and_not_by_their_number() -> None:
    """An interrupted run may have a process without a partner."""
    [row] = compared(missing=3).rows
    differences = np.delete(np.log(CANDIDATE) - np.log(BASELINE), 3)
    assert row.ratio == pytest.approx(math.exp(differences.mean()))
    assert row.baseline is not None
    assert row.baseline.n_processes == 10


def test_the_derivation_shows_the_pairs(tmp_path: Path) -> None:
    path = tmp_path / "ab.json"
    both(exactly(BASELINE), exactly(CANDIDATE, side="b")).save(path)
    done = run_cli("compare", path, "--explain", "cudnn/forward", "--no-history")
    assert "compared in pairs" in done.stdout
    assert "from the differences of 10 pairs" in done.stdout
    assert "9.00 degrees of freedom (Student)" in " ".join(done.stdout.split())


def test_pairs_need_equal_numbers() -> None:
    with pytest.raises(ValueError, match="number of processes of the candidate"):
        stats.compare_samples([1.0, 2.0, 3.0], [1.0, 2.0], paired=True)


def test_two_runs_of_bench_are_not_paired() -> None:
    assert stats.compare_samples(BASELINE, CANDIDATE, paired=True).verdict == "slower"
    [row] = compare(both(exactly(BASELINE), exactly(CANDIDATE, side="b"))).rows
    assert row.p_value is not None
    from run_files import run

    [other] = compare(run([exactly(BASELINE)]), run([exactly(CANDIDATE)]), history=False).rows
    assert other.p_value is not None
    assert other.p_value > 100 * row.p_value


def test_pairs_of_one_ratio_have_no_verdict() -> None:
    """Times that were made from those of the other side vary, and their ratio does not."""
    levels = [1000, 1010, 990, 1030, 1020]
    [row] = compare(both(exactly(levels), exactly([2 * one for one in levels], side="b"))).rows
    assert (row.verdict, row.p_value, row.ratio) == (None, None, pytest.approx(2))
    assert row.reason == "all pairs have the same ratio: no verdict"
    [equal] = compare(both(exactly(levels), exactly(levels, side="b"))).rows
    assert equal.verdict == "equivalent"
