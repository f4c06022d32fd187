"""`bootstrap_ci` by percentiles and BCa, against numpy and scipy."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from fastrnns_rs import stats

STATISTICS = {"mean": np.mean, "median": np.median}
SAMPLES = {
    "lognormal": np.random.default_rng(1).lognormal(size=200),
    "normal": np.random.default_rng(2).normal(100.0, 1.0, size=101),
    "long": np.random.default_rng(8).lognormal(size=2500),
    "few": np.array([0.1, 0.7, 0.3]),
    "tied": np.random.default_rng(3).integers(0, 4, size=60).astype(float),
    "two values": np.array([1.0] * 5 + [2.0] * 4),
    "tiny": np.random.default_rng(4).normal(size=30) * 1e-300,
    "huge": np.random.default_rng(5).normal(size=30) * 1e100,
    "offset": 1e9 + np.random.default_rng(6).exponential(size=40),
    "negative": -np.random.default_rng(7).lognormal(size=33),
}


def draw(n: int, resamples: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, n, size=(resamples, n))


def scipy_interval(samples: np.ndarray, theta: np.ndarray, statistic: str, method: str, level: float) -> Any:
    """What scipy makes of the same resampled statistics."""
    return scipy.stats.bootstrap(
        (samples,),
        STATISTICS[statistic],
        n_resamples=0,
        bootstrap_result=SimpleNamespace(bootstrap_distribution=theta),
        method=method,
        confidence_level=level,
    )


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("name", SAMPLES)
def test_equals_scipy_on_given_indices(name: str, statistic: str, level: float) -> None:
    samples = SAMPLES[name]
    n = len(samples)
    indices = draw(n, 500)
    compute = STATISTICS[statistic]
    theta = compute(samples[indices], axis=-1)
    # Where the samples' mean is 0 or nearly, what is lost is a part of their range.
    approx = {"rel": 1e-12, "abs": np.ptp(samples) * 1e-12}

    found = stats.bootstrap_ci(
        samples, statistic=statistic, method="percentile", indices=indices, confidence_level=level
    )
    expected = scipy_interval(samples, theta, statistic, "percentile", level)
    assert (found.ci_low, found.ci_high) == pytest.approx(tuple(expected.confidence_interval), **approx)
    assert found.estimate == pytest.approx(compute(samples), rel=1e-14)
    spread = np.ptp(theta)  # whose square vanishes where samples are tiny
    assert found.standard_error == pytest.approx(np.std((theta - theta[0]) / spread, ddof=1) * spread, rel=1e-9)
    assert (found.resamples, found.seed, found.count) == (500, None, n)
    assert (found.bias_correction, found.acceleration) == (None, None)

    found = stats.bootstrap_ci(samples, statistic=statistic, method="bca", indices=indices, confidence_level=level)
    share = scipy.stats.percentileofscore(theta, compute(samples), kind="mean") / 100
    assert found.bias_correction == pytest.approx(scipy.special.ndtri(share), rel=1e-12, abs=1e-14)
    # Near 0, as exact differences, so that the jackknife loses nothing.
    near = samples - samples[0] if name == "offset" else samples
    left_out = np.array([compute(np.delete(near, i)) for i in range(n)])
    if np.ptp(left_out) == 0:
        assert found.acceleration == 0  # where scipy has a NaN, and no interval
        return
    distances = (left_out.mean() - left_out) / np.ptp(left_out)
    acceleration = (distances**3).sum() / (6 * (distances**2).sum() ** 1.5)
    assert found.acceleration == pytest.approx(acceleration, rel=1e-12, abs=1e-12)
    if name == "tiny":
        return  # whose squares vanish in scipy
    expected = scipy_interval(samples, theta, statistic, "BCa", level).confidence_interval
    if name == "offset":  # scipy's jackknife loses seven digits, and so its acceleration
        approx["abs"] = np.ptp(samples) * 1e-5
    assert (found.ci_low, found.ci_high) == pytest.approx(tuple(expected), **approx)


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_agrees_with_scipy_on_resamples_of_its_own(statistic: str, method: str) -> None:
    samples = SAMPLES["lognormal"]
    found = stats.bootstrap_ci(samples, statistic=statistic, method=method, resamples=40_000, seed=5)
    expected = scipy.stats.bootstrap(
        (samples,), STATISTICS[statistic], n_resamples=40_000, method=method, rng=5, batch=1000
    )
    # An end at 2.5 % has a standard deviation of about 1 % of the standard error with as many resamples.
    tolerance = 0.08 * float(expected.standard_error)
    assert (found.ci_low, found.ci_high) == pytest.approx(tuple(expected.confidence_interval), abs=tolerance)
    assert found.standard_error == pytest.approx(float(expected.standard_error), rel=0.03)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 16, 17, 127, 129, 2047, 2049, 70_000])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_any_number_of_samples_is_resampled_whole(n: int, statistic: str) -> None:
    samples = np.random.default_rng(n).normal(size=n)
    found = stats.bootstrap_ci(samples, statistic=statistic, resamples=2000 if n < 10_000 else 300)
    assert found.estimate == pytest.approx(STATISTICS[statistic](samples), rel=1e-12, abs=1e-15)
    if statistic == "mean":
        assert found.standard_error == pytest.approx(samples.std() / math.sqrt(n), rel=0.15, abs=1e-300)
    assert found.ci_low <= found.estimate <= found.ci_high


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.floats(-1e300, 1e300) | st.sampled_from([0.0, -0.0, 5e-324, 1e150]), min_size=1, max_size=20),
    st.sampled_from(["percentile", "bca", "exact", "block"]),
    st.sampled_from(sorted(STATISTICS)),
    st.integers(1, 50),
)
def test_no_result_is_nan(samples: list[float], method: str, statistic: str, resamples: int) -> None:
    if method == "exact":
        statistic = "median"
    try:
        found = stats.bootstrap_ci(samples, method=method, statistic=statistic, resamples=resamples)
    except ValueError as error:
        assert "overflows" in str(error)  # noqa: PT017
        assert max(map(abs, samples)) > 1e140
        return
    numbers = [value for value in found.to_dict().values() if isinstance(value, float)]
    assert all(map(math.isfinite, numbers)), found
    assert found.ci_low <= found.ci_high


def test_an_infinite_bias_is_held_at_half_a_resample() -> None:
    samples = [1.0, 2.0, 4.0]
    low = stats.bootstrap_ci(samples, method="bca", indices=[[0, 0, 0]] * 10)
    assert low.bias_correction == pytest.approx(-scipy.special.ndtri(0.5 / 10), rel=1e-12)
    assert (low.ci_low, low.ci_high) == (1, 1)
    high = stats.bootstrap_ci(samples, method="bca", indices=[[2, 2, 2]] * 10)
    assert high.bias_correction == pytest.approx(scipy.special.ndtri(0.5 / 10), rel=1e-12)


def test_one_resample_has_no_standard_error() -> None:
    found = stats.bootstrap_ci([1.0, 2.0, 4.0], method="bca", resamples=1)
    assert found.standard_error is None
    assert found.ci_low == found.ci_high


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "uint64", "uint32", "int8", "bool"])
def test_types_of_samples_and_indices(dtype: str) -> None:
    whole = np.array([1, 0, 1, 1, 0, 1, 1]).astype(dtype)
    expected = stats.bootstrap_ci([float(value) for value in whole], indices=draw(7, 9).tolist())
    assert stats.bootstrap_ci(whole, indices=draw(7, 9)) == expected
    assert stats.bootstrap_ci(whole, indices=draw(7, 9).astype("uint8")) == expected
    assert stats.bootstrap_ci(whole, indices=np.asfortranarray(draw(7, 9))) == expected
    assert stats.bootstrap_ci(whole.repeat(2)[::2], indices=draw(7, 18)[::2]) == stats.bootstrap_ci(
        whole, indices=draw(7, 18)[::2].tolist()
    )
