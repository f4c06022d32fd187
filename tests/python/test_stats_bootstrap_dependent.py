"""`bootstrap_ci` of blocks and of processes, against closed forms and plain numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from simulated_samples import autoregression

from fastrnns_rs import stats


def autoregressive(n: int, coefficient: float, seed: int = 0) -> np.ndarray:
    return autoregression(np.random.default_rng(seed), (n,), coefficient)


def best_block_length(samples: np.ndarray, statistic: str) -> int:
    """The rule of Politis and White (2004) for circular blocks, corrected by Patton, Politis and White (2009)."""
    n = len(samples)
    if statistic == "median":
        samples = np.sign(samples - np.median(samples))
    centred = samples - samples.mean()
    if n == 1 or np.ptp(samples) == 0:
        return 1
    covariance = np.array([centred[: n - k] @ centred[k:] / n for k in range(n)])
    correlation = covariance / covariance[0]
    small = 2 * math.sqrt(math.log10(n) / n)
    longest = min(math.ceil(math.sqrt(n)) + 5, n - 1)
    lags = longest
    for m in range(longest - 4):
        if (np.abs(correlation[m + 1 : m + 6]) < small).all():
            lags = min(2 * max(m, 1), longest)
            break
    shares = np.arange(-lags, lags + 1) / lags
    window = np.clip(2 * (1 - np.abs(shares)), None, 1)
    around = covariance[np.abs(np.arange(-lags, lags + 1))]
    slope = (window * np.abs(np.arange(-lags, lags + 1)) * around).sum()
    spread = 4 / 3 * (window * around).sum() ** 2
    length = (2 * slope**2 / spread) ** (1 / 3) * n ** (1 / 3)
    return max(1, round(min(length, math.ceil(min(3 * math.sqrt(n), n / 3)))))


@pytest.mark.parametrize("statistic", ["mean", "median"])
@pytest.mark.parametrize("coefficient", [-0.5, 0.0, 0.5, 0.8, 0.95])
@pytest.mark.parametrize("n", [8, 30, 100, 1000, 5000])
def test_block_length_follows_the_rule(n: int, coefficient: float, statistic: str) -> None:
    for seed in range(3):
        samples = autoregressive(n, coefficient, seed)
        found = stats.bootstrap_ci(samples, statistic=statistic, method="block", resamples=1)
        assert found.block_length == best_block_length(samples, statistic)


@pytest.mark.parametrize("length", [1, 2, 7, 10, 33, 99, 100])
def test_means_of_blocks_have_their_known_variance(length: int) -> None:
    samples = autoregressive(100, 0.7)
    found = stats.bootstrap_ci(samples, method="block", block_length=length, resamples=20_000)
    around = np.concatenate([samples, samples])

    def variance(size: int) -> float:
        return float(np.array([around[start : start + size].sum() for start in range(100)]).var())

    blocks = math.ceil(100 / length)
    expected = math.sqrt((blocks - 1) * variance(length) + variance(100 - (blocks - 1) * length)) / 100
    if length == 100:  # the whole circle, wherever it starts
        assert found.standard_error == pytest.approx(0, abs=1e-14)
    else:
        assert found.standard_error == pytest.approx(expected, rel=0.03)
    assert found.estimate == pytest.approx(samples.mean(), rel=1e-12)
    assert (found.block_length, found.count, found.n_processes) == (length, 100, None)


@pytest.mark.parametrize("length", [1, 4, 13, 60, 61])
@pytest.mark.parametrize("n", [61, 60])
def test_medians_of_blocks_are_those_of_plain_numpy(n: int, length: int) -> None:
    length = min(length, n)
    samples = np.round(autoregressive(n, 0.7), 2)
    found = stats.bootstrap_ci(samples, statistic="median", method="block", block_length=length, resamples=20_000)
    starts = np.random.default_rng(1).integers(0, n, size=(20_000, math.ceil(n / length)))
    places = (starts[:, :, None] + np.arange(length)).reshape(20_000, -1)[:, :n] % n
    medians = np.median(samples[places], axis=-1)
    assert found.standard_error == pytest.approx(medians.std(), rel=0.04, abs=1e-12)
    # With gaps between medians an end may lie on either side of one.
    assert np.mean(medians < found.ci_low) - 0.005 <= 0.025 <= np.mean(medians <= found.ci_low) + 0.005
    assert np.mean(medians > found.ci_high) - 0.005 <= 0.025 <= np.mean(medians >= found.ci_high) + 0.005


@pytest.mark.parametrize("sizes", [[30] * 8, [1, 2, 50, 7], [3, 2100, 40]])
def test_means_of_processes_have_their_known_variance(sizes: list[int]) -> None:
    random = np.random.default_rng(4)
    processes = [random.normal(loc=random.normal(), scale=2.0, size=size) for size in sizes]
    found = stats.bootstrap_ci(processes, method="hierarchical", resamples=20_000)
    means = np.array([process.mean() for process in processes])
    within = np.mean([process.var() / len(process) for process in processes])
    assert found.estimate == pytest.approx(means.mean(), rel=1e-12)
    assert found.standard_error == pytest.approx(math.sqrt((means.var() + within) / len(sizes)), rel=0.03)
    assert (found.count, found.n_processes, found.ci_method) == (sum(sizes), len(sizes), "hierarchical")


@pytest.mark.parametrize("sizes", [[9] * 6, [4, 11, 30]])
def test_medians_of_processes_are_those_of_plain_numpy(sizes: list[int]) -> None:
    random = np.random.default_rng(5)
    processes = [random.lognormal(mean=random.normal(), size=size) for size in sizes]
    found = stats.bootstrap_ci(processes, method="hierarchical", statistic="median", resamples=20_000)
    assert found.estimate == np.median([np.median(process) for process in processes])
    medians = [
        np.median([np.median(random.choice(processes[pick], len(processes[pick]))) for pick in picks])
        for picks in random.integers(0, len(sizes), size=(5000, len(sizes)))
    ]
    assert found.standard_error == pytest.approx(np.std(medians), rel=0.07)
    ends = np.quantile(medians, [0.025, 0.975])
    assert (found.ci_low, found.ci_high) == pytest.approx(tuple(ends), abs=0.1 * found.standard_error)


def test_one_number_of_each_process_is_resampled_as_such() -> None:
    numbers = np.random.default_rng(6).lognormal(size=20)
    found = stats.bootstrap_ci(numbers, method="hierarchical", resamples=50_000)
    expected = stats.bootstrap_ci(numbers, resamples=50_000)
    assert found == stats.bootstrap_ci(numbers.reshape(-1, 1), method="hierarchical", resamples=50_000)
    near = 0.05 * expected.standard_error
    assert (found.ci_low, found.ci_high) == pytest.approx((expected.ci_low, expected.ci_high), abs=near)
    assert (found.n_processes, found.count) == (20, 20)
