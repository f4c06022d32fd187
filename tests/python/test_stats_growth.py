"""`growth` against numpy and scipy, and how often its interval holds the exponent."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from fastrnns_rs import stats

SIZES = [64.0, 128.0, 256.0, 512.0, 1024.0]


def times(rng: np.random.Generator, exponent: float, processes: int, spread: float = 0.01) -> np.ndarray:
    """Process medians, (sizes, processes), around a power law."""
    return (3.0 * np.array(SIZES) ** exponent)[:, None] * rng.lognormal(0, spread, (len(SIZES), processes))


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("processes", [1, 2])
def test_few_processes_are_a_regression_of_the_means(processes: int, level: float) -> None:
    made = times(np.random.default_rng(processes), 1.7, processes, 0.1)
    found = stats.growth(SIZES, made, confidence_level=level)
    expected = scipy.stats.linregress(np.log(SIZES), np.log(made).mean(axis=1))
    half = scipy.stats.t.ppf((1 + level) / 2, len(SIZES) - 2) * expected.stderr
    assert found.exponent == pytest.approx(expected.slope, rel=1e-12)
    assert [found.ci_low, found.ci_high] == pytest.approx([expected.slope - half, expected.slope + half], rel=1e-10)
    assert (found.ci_method, found.degrees_of_freedom, found.lack_of_fit_p) == ("t_residuals", 3.0, None)
    assert found.typical_time == pytest.approx(scipy.stats.gmean(scipy.stats.gmean(made, axis=1)))


@pytest.mark.parametrize("processes", [3, 5, 20])
def test_many_processes_give_the_interval_and_the_lack_of_fit(processes: int) -> None:
    made = times(np.random.default_rng(processes), 0.4, processes)
    made[0] *= 1.02
    found = stats.growth(SIZES, made)
    x, y = np.log(SIZES), np.log(made)
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    parts = weights**2 * y.var(axis=1, ddof=1) / processes
    degrees = parts.sum() ** 2 / (parts**2 / (processes - 1)).sum()
    half = scipy.stats.t.ppf(0.975, degrees) * math.sqrt(parts.sum())
    line = scipy.stats.linregress(x, y.mean(axis=1))
    assert (found.ci_method, found.typical_size) == ("t_process_medians", pytest.approx(256.0))
    assert found.degrees_of_freedom == pytest.approx(degrees, rel=1e-9)
    assert [found.ci_low, found.ci_high] == pytest.approx([line.slope - half, line.slope + half], rel=1e-9)
    residuals = y.mean(axis=1) - line.intercept - line.slope * x
    assert found.largest_deviation == pytest.approx(np.expm1(np.abs(residuals).max()), rel=1e-6)
    noise = y.var(axis=1, ddof=1).mean()
    statistic = processes * (residuals**2).sum() / (len(SIZES) - 2) / noise
    expected = scipy.stats.f.sf(statistic, len(SIZES) - 2, len(SIZES) * (processes - 1))
    assert found.lack_of_fit_p == pytest.approx(expected, rel=1e-7)
    assert found.local_exponents == pytest.approx(list(np.diff(y.mean(axis=1)) / np.diff(x)), rel=1e-9)


@pytest.mark.parametrize("processes", [1, 3, 5])
@pytest.mark.parametrize("uneven", [False, True])
def test_the_interval_holds_the_exponent_as_often_as_it_says(processes: int, uneven: bool) -> None:
    """Also where the smallest size varies five times as much; of one process that is not promised."""
    if uneven and processes == 1:
        pytest.skip("an interval from residuals takes sizes to vary alike")
    rng, trials = np.random.default_rng(7), 2000
    spread = np.full((len(SIZES), 1), 0.01)
    spread[0] *= 5 if uneven else 1
    made = np.exp(rng.normal(0, spread, (trials, len(SIZES), processes))) * np.array(SIZES)[:, None] ** 1.3
    held = np.mean([one.ci_low <= 1.3 <= one.ci_high for one in (stats.growth(SIZES, trial) for trial in made)])
    assert 0.925 <= held <= 0.975


def test_the_test_of_the_line_is_right_as_often_as_it_says() -> None:
    rng = np.random.default_rng(8)
    rejected = np.mean([stats.growth(SIZES, times(rng, 2.0, 5)).lack_of_fit_p < 0.05 for _ in range(2000)])
    assert 0.035 <= rejected <= 0.065


def test_times_that_are_flat_at_first_are_no_line() -> None:
    made = [[100.0 + size**2 / 1000, 100.5 + size**2 / 1000, 99.5 + size**2 / 1000] for size in SIZES]
    found = stats.growth(SIZES, made)
    assert found.lack_of_fit_p is not None
    assert found.lack_of_fit_p < 1e-6
    assert found.largest_deviation > 0.3
    assert found.local_exponents[0] < 0.2
    assert found.local_exponents[-1] > 1.5


def test_order_and_units_do_not_matter() -> None:
    made = times(np.random.default_rng(3), 1.1, 4)
    found, turned = stats.growth(SIZES, made), stats.growth(SIZES[::-1], made[::-1] * 1e6)
    assert turned.exponent == pytest.approx(found.exponent, rel=1e-9)
    assert turned.ci_low == pytest.approx(found.ci_low, rel=1e-9)
    assert turned.local_exponents == pytest.approx(found.local_exponents, rel=1e-9)
    assert found.to_dict()["n_processes"] == 4
