"""`bootstrap_ci(method="exact")` against closed forms in whole numbers and against resampling."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from fastrnns_rs import stats

SERIES = {
    "lognormal": lambda n: np.random.default_rng(n).lognormal(size=n),
    "tied": lambda n: np.random.default_rng(n).integers(0, 5, size=n).astype(float),
    "two clusters": lambda n: np.random.default_rng(n).normal(size=n) + 100.0 * (np.arange(n) % 2),
    "one far away": lambda n: np.append(np.random.default_rng(n).normal(size=n - 1), 1e6),
    "negative": lambda n: -np.random.default_rng(n).exponential(size=n),
}


def exact(samples: np.ndarray, level: float = 0.95) -> stats.BootstrapInterval:
    return stats.bootstrap_ci(samples, statistic="median", method="exact", confidence_level=level)


def law(n: int) -> dict[tuple[int, int], Fraction]:
    """How likely each pair of middle ranks is, in whole numbers: how many of the n**n resamples have it."""
    m = (n + 1) // 2
    at_most = [sum(math.comb(n, k) * (i + 1) ** k * (n - i - 1) ** (n - k) for k in range(m, n + 1)) for i in range(n)]
    single = [after - before for before, after in zip([0, *at_most], at_most, strict=False)]
    if n % 2:
        return {(i, i): Fraction(count, n**n) for i, count in enumerate(single)}

    def apart(i: int, j: int) -> int:
        """Resamples with I <= i and J > j."""
        return math.comb(n, m) * (i + 1) ** m * (n - j - 1) ** m

    pairs = {}
    for i in range(n):
        beyond = [apart(i, j) - apart(i - 1, j) for j in range(i, n)]
        pairs[i, i] = Fraction(single[i] - beyond[0], n**n)
        for j in range(i + 1, n):
            pairs[i, j] = Fraction(beyond[j - i - 1] - beyond[j - i], n**n)
    return pairs


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 9, 16, 17, 30, 31, 60, 61])
@pytest.mark.parametrize("name", SERIES)
def test_is_the_law_in_whole_numbers(name: str, n: int) -> None:
    samples = np.sort(SERIES[name](n))
    masses: dict[float, Fraction] = {}
    for (i, j), mass in law(n).items():
        median = (samples[i] + samples[j]) / 2
        masses[median] = masses.get(median, Fraction(0)) + mass
    values = sorted(masses)
    assert sum(masses.values()) == 1
    for level in (0.5, 0.9, 0.95, 0.999):
        tail = Fraction((1 - level) / 2)
        found = exact(samples, level)
        ends = []
        for ordered in (values, values[::-1]):
            total = Fraction(0)
            for value in ordered:
                total += masses[value]
                if total >= tail * (1 - Fraction(1, 10**12)):
                    break
            ends.append(value)
        assert [found.ci_low, found.ci_high] == ends
    centre = float(np.median(samples))
    first = sum(float(mass) * (value - centre) for value, mass in masses.items())
    second = sum(float(mass) * (value - centre) ** 2 for value, mass in masses.items())
    assert found.estimate == np.median(samples)
    scale = max(abs(value - centre) for value in values)
    assert found.standard_error == pytest.approx(math.sqrt(max(second - first**2, 0)), rel=1e-9, abs=scale * 1e-14)


@pytest.mark.parametrize("n", [11, 101, 999, 1001, 99_999])
def test_odd_numbers_follow_the_beta_law(n: int) -> None:
    """Whose standard error is that of Maritz and Jarrett (1978)."""
    samples = np.sort(np.random.default_rng(n).lognormal(size=n))
    up_to = scipy.stats.beta.cdf(np.arange(n + 1) / n, (n + 1) // 2, (n + 1) // 2)
    masses = np.diff(up_to)
    found = exact(samples)
    assert found.ci_low == samples[np.searchsorted(up_to[1:], 0.025)]
    assert found.ci_high == samples[::-1][np.searchsorted(np.cumsum(masses[::-1]), 0.025)]
    variance = (masses * samples**2).sum() - (masses * samples).sum() ** 2
    assert found.standard_error == pytest.approx(math.sqrt(variance), rel=1e-6)


@pytest.mark.parametrize("n", [10_000, 1_000_000, 1_000_001])
def test_many_samples_have_the_normal_limit(n: int) -> None:
    samples = np.random.default_rng(n).random(n)
    found = exact(samples)
    assert found.standard_error == pytest.approx(1 / (2 * math.sqrt(n)), rel=0.2)
    assert found.ci_high - found.ci_low == pytest.approx(2 * 1.959964 * found.standard_error, rel=0.1)
    neighbour = exact(samples[:-1])
    # One sample less turns the weights by half a rank.
    assert found.standard_error == pytest.approx(neighbour.standard_error, rel=2 / math.sqrt(n))
