"""Autocorrelation and effective sample sizes against numpy, scipy and brute force."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.signal
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_samples import autoregressive

from fastrnns_rs import stats

SAMPLES = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=300)
#: Few distinct values, as a coarse clock gives.
TIED = st.lists(st.integers(0, 4).map(float), min_size=1, max_size=300)


def correlations(samples: np.ndarray) -> np.ndarray:
    """All of them, by the definition."""
    n = len(samples)
    if np.ptp(samples) == 0:
        return np.eye(1, n)[0]
    deviations = samples / np.abs(samples).max()
    deviations -= deviations[0]  # keeps the digits of samples that are large and close together
    deviations -= deviations.mean()
    sums = np.array([deviations[: n - lag] @ deviations[lag:] for lag in range(n)])
    return sums / sums[0]


def geyer(samples: np.ndarray) -> tuple[float, int]:
    """Autocorrelation time and last lag of the initial monotone sequence."""
    found = correlations(samples)
    if np.ptp(samples) == 0:
        return 1.0, 0
    padded = np.append(found, [0.0] * (len(found) % 2))
    pairs = padded.reshape(-1, 2).sum(axis=1)
    positive = len(pairs) if (pairs > 0).all() else int((pairs <= 0).argmax())
    time_ = 2 * np.minimum.accumulate(pairs[:positive]).sum() - 1
    return float(np.clip(time_, 1, len(samples))), min(2 * positive - 1, len(samples) - 1)


@settings(deadline=None)
@given(SAMPLES | TIED)
def test_autocorrelation_is_what_defines_it(samples: list[float]) -> None:
    found = stats.autocorrelation(samples, max_lag=len(samples) - 1)
    assert found[0] == 1
    assert found == pytest.approx(correlations(np.array(samples)).tolist(), abs=1e-9)


@pytest.mark.parametrize("size", [2, 255, 256, 257, 4096, 4097, 50_000])
def test_autocorrelation_agrees_with_scipy_on_both_its_ways(size: int) -> None:
    """Up to 255 lags it sums products, from 256 on it transforms."""
    generator = np.random.default_rng(size)
    for samples in (generator.lognormal(0, 1, size), 1e6 + np.cumsum(generator.normal(size=size))):
        deviations = samples - samples[0]  # keeps the digits of samples that are large and close together
        deviations -= deviations.mean()
        expected = scipy.signal.correlate(deviations, deviations, method="fft")[size - 1 :]
        expected /= expected[0]
        for lags in {min(200, size - 1), min(255, size - 1), size - 1}:
            found = np.array(stats.autocorrelation(samples, max_lag=lags))
            assert np.abs(found - expected[: lags + 1]).max() < 1e-12


@pytest.mark.parametrize(
    ("size", "lags"), [(1, 0), (2, 1), (5, 4), (10, 9), (20, 13), (100, 20), (1000, 30), (12_345, 40)]
)
def test_the_last_lag_is_that_of_r(size: int, lags: int) -> None:
    assert len(stats.autocorrelation(np.random.default_rng(0).normal(size=size))) == lags + 1


def test_nasty_samples_have_correlations() -> None:
    generator = np.random.default_rng(2)
    ordinary = generator.integers(0, 2, 500)
    expected = correlations(ordinary.astype(float))[:27].tolist()
    assert stats.autocorrelation(ordinary) == pytest.approx(expected, abs=1e-13)
    assert stats.autocorrelation(np.where(ordinary, 1.7e308, -1.7e308)) == pytest.approx(expected, abs=1e-13)
    assert stats.autocorrelation(ordinary * 5e-324) == pytest.approx(expected, abs=1e-13)
    assert stats.autocorrelation(ordinary + 1e15) == pytest.approx(expected, abs=1e-13)
    assert stats.autocorrelation([3.5] * 10, max_lag=3) == [1, 0, 0, 0]
    assert stats.autocorrelation([3.5]) == [1]


@settings(deadline=None)
@given(SAMPLES | TIED)
def test_effective_size_is_geyers(samples: list[float]) -> None:
    values = np.array(samples)
    for of, series in (("mean", values), ("median", np.sign(values - np.median(values)))):
        found = stats.effective_sample_size(samples, of=of)
        assert found.count == len(samples)
        assert 1 <= found.n_effective <= found.count
        assert found.n_effective * found.autocorrelation_time == pytest.approx(found.count)
        assert (found.of, found.within_one_process) == (of, True)
        # Pairs that rounding puts on either side of 0 end the sequence here or there.
        nearest = np.abs(correlations(series)[: len(series) // 2 * 2].reshape(-1, 2).sum(axis=1))
        if len(nearest) == 0 or nearest.min() > 1e-9:
            time_, lags = geyer(series)
            assert found.lags == lags
            assert found.autocorrelation_time == pytest.approx(time_, rel=1e-9)


@pytest.mark.parametrize("size", [100, 1000, 8_000])
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.95, 0.999])
def test_effective_size_agrees_however_many_lags_it_takes(size: int, rho: float) -> None:
    samples = autoregressive(rho).draw(np.random.default_rng(size), 1, size)[0]
    found = stats.effective_sample_size(samples)
    time_, lags = geyer(samples)
    assert (found.lags, found.autocorrelation_time) == (lags, pytest.approx(time_, rel=1e-9))


def test_effective_sizes_of_the_ends() -> None:
    assert stats.effective_sample_size([3.0] * 50).n_effective == 50
    assert stats.effective_sample_size([0, 1] * 50).n_effective == 100
    assert stats.effective_sample_size([1], of="median").n_effective == 1
    assert stats.effective_sample_size(np.arange(10_000)).n_effective < 4
    shown = repr(stats.effective_sample_size([1, 2, 3, 2, 1]))
    assert "within_one_process=True" in shown
    assert stats.effective_sample_size([1, 2, 3]).to_dict()["within_one_process"] is True
