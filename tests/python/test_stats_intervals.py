"""Intervals against implementations of their own, made of scipy and brute force."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_samples import autoregressive
from test_stats_dependence import geyer

from fastrnns_rs import stats

SAMPLES = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=200)
TIED = st.lists(st.integers(0, 4).map(float), min_size=1, max_size=200)
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)


def below(k: float, n: float) -> float:
    """P(X <= k) for a binomial X of n fair trials; n need not be whole."""
    return 0.0 if k < 0 else float(scipy.special.betainc(n - k, k + 1, 0.5))


def lower_end(n: float, level: float) -> float | None:
    """Where the lower end stands, counted from 0, as the paper has it: by confidences of neighbouring pairs."""

    def confidence(k: int) -> float:
        return 1 - 2 * below(k - 1, n)

    enough = [k for k in range(1, int((n + 1) / 2) + 1) if confidence(k) >= level]
    if not enough:
        return None
    k = enough[-1]
    share = (confidence(k) - level) / (confidence(k) - confidence(k + 1))
    weight = (n - k) * share / (k + (n - 2 * k) * share)
    return min(k - 1 + weight, (n - 1) / 2)


def between(values: np.ndarray, place: float) -> float:
    whole = int(place)
    after = min(whole + 1, len(values) - 1)
    return (1 - (place - whole)) * values[whole] + (place - whole) * values[after]


def median_interval(samples: np.ndarray, level: float, time: float) -> tuple[float, float] | None:
    values, n = np.sort(samples), len(samples)
    end = lower_end(n / time, level)
    if end is None:
        return None if lower_end(n, level) is None else (values[0], values[-1])
    from_middle = ((n / time - 1) / 2 - end) * time
    place = max(0.0, (n - 1) / 2 - from_middle)
    return between(values, place), between(values, n - 1 - place)


def memory(samples: np.ndarray) -> float:
    """The autocorrelation time that a median's interval takes: the larger one of signs and of octiles."""
    n = len(samples)
    ordered = np.sort(samples)
    octiles = sum(np.sign(samples - ordered[min(n - 1, cut * n // 8)]) for cut in range(1, 8))
    return max(geyer(np.sign(samples - np.median(samples)))[0], geyer(octiles)[0])


def check(samples: np.ndarray, level: float, *, independent: bool) -> None:
    found = stats.median_ci(samples, confidence_level=level, independent=independent)
    expected = median_interval(samples, level, 1.0 if independent else memory(samples))
    assert found.estimate == pytest.approx(np.median(samples), rel=1e-14)
    assert (found.count, found.confidence_level, found.within_one_process) == (len(samples), level, True)
    if expected is None:
        assert (found.ci_low, found.ci_high, found.ci_method) == (None, None, None)
        return
    scale = float(np.abs(samples).max())
    assert (found.ci_low, found.ci_high) == pytest.approx(expected, rel=1e-9, abs=scale * 1e-10)
    assert found.ci_low <= found.estimate <= found.ci_high


@settings(deadline=None)
@given(SAMPLES | TIED, st.sampled_from(LEVELS))
def test_independent_medians_follow_the_paper(samples: list[float], level: float) -> None:
    check(np.array(samples), level, independent=True)


@pytest.mark.parametrize("level", LEVELS)
def test_every_count_follows_the_paper(level: float) -> None:
    for n in [*range(1, 120), 999, 1000, 4096, 4097, 20_000]:
        check(np.random.default_rng(n).lognormal(size=n), level, independent=True)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.8, 0.97])
@pytest.mark.parametrize("size", [6, 10, 30, 100, 1000, 5000])
def test_dependent_medians_count_for_fewer(size: int, rho: float) -> None:
    for samples in autoregressive(rho).draw(np.random.default_rng(size), 5, size):
        check(samples, 0.95, independent=False)
        check(np.round(samples * 2), 0.95, independent=False)


def test_the_method_is_named() -> None:
    generator = np.random.default_rng(1)
    samples = generator.normal(size=100)
    assert stats.median_ci(samples, independent=True).ci_method == "hettmansperger_sheather"
    assert stats.median_ci(samples).ci_method == "hettmansperger_sheather_effective"
    slope = stats.median_ci(np.arange(100))
    assert (slope.ci_method, slope.ci_low, slope.ci_high) == ("sample_range", 0, 99)
    assert stats.median_ci([1, 2, 3, 4, 5]).ci_method is None
    assert stats.median_ci([1, 2, 3, 4, 5, 6], independent=True).ci_low is not None


@settings(deadline=None)
@given(SAMPLES | TIED, st.sampled_from(LEVELS))
def test_means_follow_student(samples: list[float], level: float) -> None:
    found = stats.mean_ci(samples, confidence_level=level)
    values = np.array(samples)
    scale = max(1.0, float(np.abs(values).max()))
    assert found.estimate == pytest.approx(values.mean(), rel=1e-12, abs=scale * 1e-13)
    assert (found.count, found.within_one_process) == (len(samples), True)
    if len(samples) == 1:
        assert (found.ci_low, found.ci_high, found.ci_method, found.stddev) == (None, None, None, None)
        return
    half = scipy.stats.t.ppf((1 + level) / 2, len(samples) - 1) * values.std(ddof=1) / len(samples) ** 0.5
    expected = (values.mean() - half, values.mean() + half)
    assert (found.ci_low, found.ci_high) == pytest.approx(expected, rel=1e-12, abs=scale * 1e-12)
    assert found.ci_method == "t"


def test_nasty_samples() -> None:
    for function in (stats.median_ci, stats.mean_ci):
        constant = function([7.5] * 50)
        assert (constant.estimate, constant.ci_low, constant.ci_high) == (7.5, 7.5, 7.5)
        assert constant.within_one_process is True
    with pytest.raises(ValueError, match="the range of samples overflows"):
        stats.mean_ci([1e308, -1e308])
    # The widest that there is: squares of larger distances overflow.
    assert np.isfinite(stats.mean_ci([1e153, 2e153], confidence_level=1 - 1e-16).ci_high)
    extreme = stats.mean_ci([1, 2, 3, 4], confidence_level=1 - 1e-16)
    assert -1e6 < extreme.ci_low < extreme.ci_high < 1e6
    for level in (1e-300, 1 - 1e-16):
        assert stats.mean_ci([2, 2, 2], confidence_level=level).ci_high == 2
        assert stats.process_ci([2, 2, 2], confidence_level=level).ci_high == 2
        assert stats.median_ci([2] * 100, confidence_level=level).ci_high == 2
    huge = stats.median_ci([1.7e308, -1.7e308] * 50)
    assert -1.7e308 <= huge.ci_low <= huge.ci_high <= 1.7e308
    tiny = stats.median_ci([0.0, 5e-324] * 50, independent=True)
    assert 0 <= tiny.ci_low <= tiny.ci_high <= 5e-324
    spiked = stats.median_ci([*range(100, 200), 1e300], independent=True)
    assert 130 < spiked.ci_low < spiked.ci_high < 170
