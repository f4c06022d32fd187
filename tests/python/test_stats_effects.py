"""`cliffs_delta` and `hodges_lehmann` against all pairs."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from fastrnns_rs import stats


def differences(baseline: np.ndarray, candidate: np.ndarray) -> np.ndarray:
    return np.sort(np.subtract.outer(candidate, baseline).ravel())


def outside(n: int, m: int, level: float) -> int | None:
    """The largest u that the two-sided exact test refuses, from the counts of the law of U."""
    counts = np.zeros((n + 1, n * m + 1))
    counts[0, 0] = 1
    for rank in range(1, n + m + 1):  # which ranks the first side has
        for chosen in range(min(rank, n), 0, -1):
            at = rank - chosen  # values of the other side below
            if at <= m:
                counts[chosen, at:] += counts[chosen - 1, : n * m + 1 - at]
    law = np.cumsum(counts[n]) / math.comb(n + m, n)
    below = np.nonzero(law <= (1 - level) / 2 * (1 + 1e-12))[0]
    return int(below[-1]) if len(below) else None


def test_delta_of_many_values() -> None:
    generator = np.random.default_rng(1)
    baseline, candidate = generator.normal(size=200_000), generator.normal(0.5, 1, 100_000)
    expected = 2 * scipy.stats.norm.cdf(0.5 / math.sqrt(2)) - 1
    assert stats.cliffs_delta(baseline, candidate) == pytest.approx(expected, abs=0.005)
    u = scipy.stats.mannwhitneyu(candidate, baseline).statistic
    assert stats.cliffs_delta(baseline, candidate) == pytest.approx(2 * u / 2e10 - 1, abs=1e-12)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 3), (4, 4), (5, 9), (10, 10), (8, 40), (1, 100), (30, 45), (50, 50)])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
def test_small_intervals_follow_the_exact_law(n: int, m: int, level: float) -> None:
    generator = np.random.default_rng(n * m)
    for baseline, candidate in [
        (generator.normal(size=n), generator.lognormal(size=m)),
        (generator.integers(0, 4, n), generator.integers(1, 5, m)),
    ]:
        found = stats.hodges_lehmann(baseline, candidate, confidence_level=level)
        ordered, rank = differences(baseline.astype(float), candidate.astype(float)), outside(n, m, level)
        assert found.ci_method == "exact"
        expected = (None, None) if rank is None else (ordered[rank], ordered[n * m - 1 - rank])
        assert (found.ci_low, found.ci_high) == expected


@pytest.mark.parametrize(("n", "m"), [(51, 50), (200, 300), (9, 2000), (1000, 1000)])
def test_large_intervals_follow_the_normal_law(n: int, m: int) -> None:
    generator = np.random.default_rng(n)
    baseline, candidate = generator.normal(size=n), generator.normal(1, 2, m)
    found = stats.hodges_lehmann(baseline, candidate, confidence_level=0.9)
    assert found.ci_method == "asymptotic"
    spread = math.sqrt(n * m * (n + m + 1) / 12)
    rank = math.floor(n * m / 2 + scipy.stats.norm.ppf(0.05) * spread - 0.5)
    ordered = differences(baseline, candidate)
    assert (found.ci_low, found.ci_high) == (ordered[rank], ordered[n * m - 1 - rank])
    assert found.shift == np.median(ordered)


def test_a_hundred_thousand_against_as_many() -> None:
    generator = np.random.default_rng(3)
    baseline, candidate = generator.normal(size=100_000), generator.normal(0.25, 1, 100_000)
    found = stats.hodges_lehmann(baseline, candidate)
    assert found.ci_low < found.shift < found.ci_high
    assert found.shift == pytest.approx(0.25, abs=0.02)
    # The shift splits the pairs in halves.
    assert stats.cliffs_delta(baseline + found.shift, candidate) == pytest.approx(0, abs=1e-9)


def test_extreme_values() -> None:
    assert math.copysign(1, stats.hodges_lehmann([-0.0], [0.0]).shift) == 1
    assert math.copysign(1, stats.hodges_lehmann([0.0], [-0.0]).shift) == 1
    assert stats.hodges_lehmann([0.0], [5e-324]).shift == 5e-324
    assert stats.hodges_lehmann([1e308], [-7e307]).shift == -1.7e308
    assert stats.hodges_lehmann([7.0] * 80, [7.0] * 90).ci_high == 0
    assert stats.cliffs_delta([-1e308], [1e308]) == 1
    with pytest.raises(ValueError, match="the range of baseline and candidate overflows a 64-bit float; rescale"):
        stats.hodges_lehmann([-1e308], [1e308])
