"""The geometric mean of a comparison: whose it is, and how often its interval is wrong."""

from __future__ import annotations

import math
import random
import statistics

import pytest
import scipy.stats
from parts import few
from run_files import PROBLEM, exactly, failed, result, run, series

from fastrnns_rs import compare
from fastrnns_rs.documents.comparison import GeometricMean
from fastrnns_rs.verbs.compare.run_comparison import geometric_mean, judge_sides
from fastrnns_rs.verbs.compare.side import Side


def simulated(generator: random.Random, runners: int, correlation: float, level: float, processes: int = 10) -> Side:
    """Runners whose processes spread by 1 %, and whose phases share as much of that as is asked."""
    found = []
    for runner in range(runners):
        pairs = []
        for _ in range(processes):
            common = generator.gauss(0, 1)
            own = [math.sqrt(correlation) * common + math.sqrt(1 - correlation) * generator.gauss(0, 1) for _ in "fb"]
            pairs.append([level * math.exp(0.01 * one) for one in own])
        for phase, medians in zip(("forward", "backward"), zip(*pairs, strict=True), strict=True):
            known = {"phase": phase, "problem": PROBLEM, "timing_mode": "cpu_wall", "mode": "train"}
            found.append(series(f"r{runner}", medians, **known))
    return Side(label="x", files=["x"], series=found, environment={}, warnings=[])


def found(generator: random.Random, runners: int, correlation: float, ratio: float = 1.0) -> GeometricMean:
    sides = [simulated(generator, runners, correlation, level) for level in (1e6, 1e6 * ratio)]
    mean = geometric_mean(judge_sides(*sides, margin=0.01))
    assert mean is not None
    assert mean.n == runners
    return mean


@pytest.mark.parametrize("correlation", few([0.9], [0.0, 0.9], "simulations"))
@pytest.mark.parametrize(
    ("runners", "trials", "ratio"),
    few(
        [(1, 1000, 1), (5, 400, 1), (5, 200, 1.05)],
        [(1, 1000, 1), (5, 400, 1), (10, 250, 1), (5, 200, 1.05)],
        "simulations",
    ),
)
def test_the_interval_is_seldom_wrong(runners: int, trials: int, ratio: float, correlation: float) -> None:
    generator = random.Random(4)
    means = [found(generator, runners, correlation, ratio) for _ in range(trials)]
    assert sum(not one.ratio_ci_low <= ratio <= one.ratio_ci_high for one in means) / trials <= 0.07
    assert ratio == 1 or all(one.ratio_ci_low > 1 for one in means)
    # And no wider than it takes: the root of two sides of ten processes, for each runner.
    width = statistics.fmean(math.log(one.ratio_ci_high / one.ratio_ci_low) / 2 for one in means)
    exact = scipy.stats.t.ppf(0.975, 18) * 0.01 * math.sqrt(2 / 10 / runners)
    assert width == pytest.approx(exact, rel=0.15)


def test_of_one_phase_it_is_the_interval_of_the_row() -> None:
    comparison = compare(run([exactly([1000, 1010, 1030, 990])]), run([exactly([1100, 1110, 1150, 1090])]))
    row, mean = comparison.rows[0], comparison.geometric_mean
    assert (mean.ratio, mean.ratio_ci_low, mean.ratio_ci_high) == pytest.approx(
        (row.ratio, row.ratio_ci_low, row.ratio_ci_high), rel=1e-12
    )
    assert mean.n == 1


def test_rows_without_a_p_value_and_forced_ones_have_no_part_in_it() -> None:
    first = [result(), result("few"), result("other"), failed("broken")]
    second = [
        result(seed=1),
        result("few", processes=2, level_ns=9e6),
        result("other", level_ns=9e6, timing_mode="cuda_events"),
        result("broken"),
    ]
    mean = compare(run(first), run(second), force=True).geometric_mean
    assert mean == compare(run(first[:1]), run(second[:1])).geometric_mean
    assert mean.n == 1
    assert compare(run(first[1:]), run(second[1:]), force=True).geometric_mean is None


def test_each_runner_counts_once_whatever_its_phases_and_each_problem_by_itself() -> None:
    first = [exactly([1000, 1001, 1002]), result("two", processes=3)]
    second = [exactly([4000, 4001, 4002]), result("two", processes=3)]
    mean = compare(run(first), run(second)).geometric_mean
    assert mean.ratio == pytest.approx(2.0, rel=0.01)
    sizes = [exactly([1000, 1001, 1002], problem=PROBLEM), exactly([1000, 1001, 1002], mode="inference")]
    assert compare(run(sizes), run(sizes)).geometric_mean.n == 2
