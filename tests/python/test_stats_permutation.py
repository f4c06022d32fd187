"""`permutation_test` against scipy and against every division."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from fastrnns_rs import stats

STATISTICS = {"mean": np.mean, "median": np.median}
SMALL = st.lists(st.integers(-20, 20).map(lambda value: value / 8) | st.floats(-1e6, 1e6), min_size=1, max_size=6)


def of_all_divisions(baseline: list[float], candidate: list[float], statistic: str) -> float:
    """The share of divisions at least as far apart, equal but for rounding included."""
    pool, centre = np.array([*baseline, *candidate]), STATISTICS[statistic]
    observed = abs(centre(candidate) - centre(baseline))
    scale = np.abs(pool - pool[0]).max()
    found = []
    for chosen in itertools.combinations(range(len(pool)), len(candidate)):
        rest = np.delete(pool, chosen)
        found.append(abs(centre(pool[list(chosen)]) - centre(rest)) >= observed - 1e-13 * scale)
    return float(np.mean(found))


@settings(deadline=None, max_examples=60)
@given(SMALL, SMALL, st.sampled_from(["mean", "median"]))
def test_all_divisions_of_small_sides(baseline: list[float], candidate: list[float], statistic: str) -> None:
    found = stats.permutation_test(baseline, candidate, statistic=statistic)
    n, m = len(baseline), len(candidate)
    assert (found.exact, found.resamples) == (True, math.comb(n + m, n))
    assert found.p_value == of_all_divisions(baseline, candidate, statistic)
    centre = STATISTICS[statistic]
    scale = np.abs([*baseline, *candidate]).max()
    assert found.difference == pytest.approx(centre(candidate) - centre(baseline), rel=1e-12, abs=1e-15 * scale)


def scipys(baseline: np.ndarray, candidate: np.ndarray, statistic: str, resamples: float) -> object:
    centre = STATISTICS[statistic]
    return scipy.stats.permutation_test(
        (candidate, baseline),
        lambda one, other, axis: centre(one, axis=axis) - centre(other, axis=axis),
        vectorized=True,
        n_resamples=resamples,
        batch=10_000,
        rng=np.random.default_rng(0),
    )


@pytest.mark.parametrize("statistic", ["mean", "median"])
@pytest.mark.parametrize(("n", "m"), [(2, 2), (2, 9), (9, 2), (6, 6), (7, 8), (2, 60)])
def test_exact_tests_are_scipy_s(statistic: str, n: int, m: int) -> None:
    generator = np.random.default_rng(n + 10 * m)
    for shift in (0, 1, 4):
        baseline, candidate = generator.lognormal(size=n), generator.lognormal(size=m) + shift
        found = stats.permutation_test(baseline, candidate, statistic=statistic)
        expected = scipys(baseline, candidate, statistic, np.inf)
        assert found.exact
        assert found.difference == pytest.approx(expected.statistic, rel=1e-12)
        # scipy's p-value doubles the smaller tail; its distribution gives ours.
        law, observed = expected.null_distribution, abs(expected.statistic)
        assert found.resamples == len(law)
        assert found.p_value == np.mean(np.abs(law) >= observed * (1 - 1e-12))
        if n == m:
            assert found.p_value == pytest.approx(expected.pvalue, rel=1e-12)


@pytest.mark.parametrize("statistic", ["mean", "median"])
@pytest.mark.parametrize(("n", "m"), [(30, 30), (12, 50), (100, 65), (300, 2)])
def test_random_tests_agree_with_scipy_s_but_for_chance(statistic: str, n: int, m: int) -> None:
    generator = np.random.default_rng(n * m)
    baseline, candidate = generator.normal(size=n), generator.normal(0.4, 1, m)
    resamples = 40_000
    found = stats.permutation_test(baseline, candidate, statistic=statistic, resamples=resamples, seed=3)
    expected = scipys(baseline, candidate, statistic, 20_000)
    share = np.mean(np.abs(expected.null_distribution) >= abs(expected.statistic) * (1 - 1e-12))
    error = math.sqrt(share * (1 - share) * (1 / resamples + 1 / 20_000))
    assert found.p_value == pytest.approx(share, abs=5 * error + 1e-4)
    assert found.exact == (math.comb(n + m, n) <= resamples)


def test_p_is_never_zero_and_keeps_its_level() -> None:
    found = stats.permutation_test(np.arange(40), np.arange(40) + 1000, resamples=999)
    assert found.p_value == 1 / 1000
    generator = np.random.default_rng(21)
    p_values = np.array(
        [
            stats.permutation_test(
                generator.exponential(size=12), generator.exponential(size=20), resamples=199, seed=seed
            ).p_value
            for seed in range(4000)
        ]
    )
    for level in (0.01, 0.05, 0.2):
        assert np.mean(p_values <= level) == pytest.approx(level, abs=4 * math.sqrt(level * (1 - level) / 4000))


def test_the_seed_alone_decides() -> None:
    generator = np.random.default_rng(2)
    baseline, candidate = generator.normal(size=90), generator.normal(0.2, 1, 70)
    for statistic in STATISTICS:
        found = {
            stats.permutation_test(baseline, candidate, statistic=statistic, seed=7, threads=threads).p_value
            for threads in range(1, 17)
        }
        assert len(found) == 1
    others = {stats.permutation_test(baseline, candidate, seed=seed).p_value for seed in (0, 1, 2, 2**64 - 1)}
    assert len(others) > 1


def test_nasty_values() -> None:
    # Every division lies as far apart: 0.1 + 0.2 is not 0.3.
    assert stats.permutation_test([0.3, 0.3], [0.1 + 0.2, 0.3]).p_value == 1
    assert stats.permutation_test([3.0] * 50, [3.0] * 60).p_value == 1
    assert stats.permutation_test([1.7e308] * 3, [1.7e308] * 4).difference == 0
    assert stats.permutation_test([0.0], [5e-324]).difference == 5e-324
    assert stats.permutation_test([0.0] * 3, [1.7e308] * 3).p_value == 0.1
    assert stats.permutation_test([1.0], [2.0], resamples=1).p_value == pytest.approx(1, abs=0.5)
    with pytest.raises(ValueError, match="the range of baseline and candidate overflows a 64-bit float; rescale"):
        stats.permutation_test([-1.7e308], [1.7e308])


@pytest.mark.parametrize("resamples", [0, 10**8 + 1, 2**62])
def test_a_number_of_resamples_has_the_limits_of_the_bootstrap(resamples: int) -> None:
    said = "from 1 to 100000000"
    with pytest.raises(ValueError, match=said):
        stats.bootstrap_ci([1.0, 2.0], resamples=resamples)
    with pytest.raises(ValueError, match=said):
        stats.permutation_test([1.0], [2.0], resamples=resamples)
