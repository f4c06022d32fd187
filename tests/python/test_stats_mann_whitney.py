"""`mann_whitney` against scipy, which has the same statistic and laws."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from fastrnns_rs import stats

FINITE = st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=120)
#: Few distinct values, as a coarse clock gives.
TIED = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=120)
SIDE = FINITE | TIED


def check(baseline: np.ndarray, candidate: np.ndarray, method: str = "auto", *, continuity: bool = True) -> None:
    found = stats.mann_whitney(baseline, candidate, method=method, continuity=continuity)
    pooled = np.concatenate([baseline, candidate]) + 0.0
    ties = len(np.unique(pooled)) < len(pooled)
    assert found.ties == ties
    if method == "auto":
        method = "exact" if not ties and min(len(baseline), len(candidate)) <= 8 else "asymptotic"
    assert found.method == method
    all_pairs = len(baseline) * len(candidate)
    if pooled.min() == pooled.max():  # scipy divides nothing by nothing
        assert (found.p_value, found.u_baseline) == (1.0, all_pairs / 2)
        return
    # scipy's own rule asks for at least 9 on either side before it is asymptotic: the same as ours.
    expected = scipy.stats.mannwhitneyu(baseline, candidate, method=method, use_continuity=continuity)
    assert found.u_baseline == pytest.approx(expected.statistic, rel=1e-12)
    assert found.u_baseline + found.u_candidate == all_pairs
    assert found.probability == pytest.approx(found.u_candidate / all_pairs, rel=1e-14)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-10)


@settings(deadline=None)
@given(SIDE, SIDE, st.booleans())
def test_agrees_with_scipy(baseline: list[float], candidate: list[float], continuity: bool) -> None:
    check(np.array(baseline), np.array(candidate), continuity=continuity)
    check(np.array(baseline), np.array(candidate), "asymptotic", continuity=continuity)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 2), (3, 3), (8, 8), (8, 9), (5, 300), (20, 20), (33, 34), (40, 70)])
def test_the_exact_law_is_scipy_s(n: int, m: int) -> None:
    generator = np.random.default_rng(n * 100 + m)
    for shift in (0, 0.5, 2, 50):
        check(generator.normal(size=n), generator.normal(shift, 1, m), "exact")


@pytest.mark.parametrize("size", [50, 1000, 1 << 15, 70_000])
def test_large_sides_and_far_tails(size: int) -> None:
    generator = np.random.default_rng(size)
    baseline = generator.normal(size=size)
    for shift in (0, 0.01, 0.1, 1):
        candidate = generator.normal(shift, 1, size + 7)
        check(baseline, candidate, "asymptotic")
        check(np.round(baseline, 1), np.round(candidate, 1))
        check(np.round(baseline * 1e6), np.round(candidate * 1e6), "asymptotic")


def test_p_values_down_to_the_smallest() -> None:
    low, high = np.arange(900.0), np.arange(900.0) + 1e6
    found = stats.mann_whitney(low, high)
    expected = scipy.stats.mannwhitneyu(low, high).pvalue
    assert 0 < expected < 1e-290
    assert found.p_value == pytest.approx(expected, rel=1e-10)
    assert stats.mann_whitney(np.arange(1e5), np.arange(1e5) + 1e6).p_value == 0.0


def test_nasty_values() -> None:
    tiny = 5e-324
    assert stats.mann_whitney([0.0, tiny], [-0.0, -tiny]).u_baseline == 3.5
    assert stats.mann_whitney([1.7e308, -1.7e308], [0.0]).u_candidate == 1
    assert stats.mann_whitney([7], [7]).p_value == 1
    same = stats.mann_whitney(np.full(1000, 3.0), np.full(10, 3.0))
    assert (same.u_baseline, same.u_candidate, same.p_value, same.probability) == (5000, 5000, 1, 0.5)
    assert (same.method, same.ties) == ("asymptotic", True)
    # A side of one value: every place is as likely.
    assert stats.mann_whitney([-1], np.arange(999_999)).p_value == pytest.approx(2e-6, rel=1e-12)
