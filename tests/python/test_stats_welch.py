"""`welch` against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fastrnns_rs import stats

SAMPLES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=200)
#: Few distinct values, as a coarse clock gives.
TIED = st.lists(st.integers(0, 5).map(float), min_size=2, max_size=200)


def check(baseline: np.ndarray, candidate: np.ndarray, level: float = 0.95) -> None:
    found = stats.welch(baseline, candidate, confidence_level=level)
    expected = scipy.stats.ttest_ind(candidate, baseline, equal_var=False)
    interval = expected.confidence_interval(level)
    # Differences of nearly equal means have the digits that the means leave them.
    slack = 1e-15 * max(np.abs(baseline).max(), np.abs(candidate).max())
    error = math.hypot(*(np.std(side, ddof=1) / math.sqrt(len(side)) for side in (baseline, candidate)))
    assert found.standard_error == pytest.approx(error, rel=1e-12)
    assert found.difference == pytest.approx(candidate.mean() - baseline.mean(), rel=1e-12, abs=slack)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-12, abs=slack / error)
    assert found.degrees_of_freedom == pytest.approx(expected.df, rel=1e-12)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-10, abs=slack / error)
    # scipy's own quantiles of Student's t are what limits these.
    ends = [interval.low, interval.high]
    assert [found.ci_low, found.ci_high] == pytest.approx(ends, rel=1e-10, abs=1e-10 * error + slack)
    assert found.confidence_level == level


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("counts", [(2, 2), (2, 50), (10, 10), (30, 7), (1000, 1500)])
def test_agrees_with_scipy(counts: tuple[int, int], level: float) -> None:
    rng = np.random.default_rng(sum(counts))
    for shift in (0.0, 0.5, 3.0):
        baseline, candidate = rng.normal(10, 1, counts[0]), rng.normal(10 + shift, 2, counts[1])
        check(baseline, candidate, level)
        check(np.exp(baseline), np.exp(candidate), level)
        check(1e6 + np.round(baseline, 1), 1e6 + np.round(candidate, 1) + 0.25, level)


@settings(deadline=None)
@given(SAMPLES | TIED, SAMPLES | TIED)
def test_agrees_with_scipy_whatever_comes(baseline: list[float], candidate: list[float]) -> None:
    one, other = np.array(baseline), np.array(candidate)
    scale = max(np.abs(one).max(), np.abs(other).max())
    # scipy warns of, and loses, what is nearly constant.
    assume(min(one.std(), other.std()) > 1e-6 * scale)
    check(one, other)


def test_far_tails_are_not_zero() -> None:
    baseline = np.arange(100.0) % 7
    for shift in (5.0, 20.0, 100.0):
        found = stats.welch(baseline, baseline[::-1] + shift)
        expected = scipy.stats.ttest_ind(baseline + shift, baseline, equal_var=False)
        assert found.p_value == pytest.approx(expected.pvalue, rel=1e-10)
        assert found.p_value > 0
