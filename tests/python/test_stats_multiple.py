"""`benjamini_hochberg` and `geometric_mean_ratio` against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from fastrnns_rs import stats

P_VALUES = st.lists(st.floats(0, 1) | st.integers(0, 20).map(lambda twentieth: twentieth / 20), max_size=300)
RATIOS = st.lists(st.floats(1e-6, 1e6), min_size=2, max_size=200)


@settings(deadline=None)
@given(P_VALUES, st.floats(0.001, 0.999))
def test_adjusts_as_scipy(p_values: list[float], rate: float) -> None:
    found = stats.benjamini_hochberg(p_values, rate=rate)
    expected = scipy.stats.false_discovery_control(p_values) if p_values else np.array([])
    assert found.adjusted == pytest.approx(expected.tolist(), rel=1e-15)
    assert found.rejected == [adjusted <= rate for adjusted in found.adjusted]
    assert found.rate == rate


def test_a_million_rows() -> None:
    p_values = np.random.default_rng(1).beta(0.8, 1, 1_000_000)
    found = stats.benjamini_hochberg(p_values)
    assert np.array_equal(found.adjusted, scipy.stats.false_discovery_control(p_values))


@settings(deadline=None)
@given(RATIOS, st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_geometric_mean_agrees_with_scipy(ratios: list[float], level: float) -> None:
    logs = np.log(ratios)
    half_width = scipy.stats.t.ppf((1 + level) / 2, len(logs) - 1) * logs.std(ddof=1) / math.sqrt(len(logs))
    if logs.mean() + half_width > 709:
        with pytest.raises(ValueError, match="the range of ratios overflows"):
            stats.geometric_mean_ratio(ratios, confidence_level=level)
        return
    found = stats.geometric_mean_ratio(ratios, confidence_level=level)
    assert found.count == len(ratios)
    assert found.ratio == pytest.approx(scipy.stats.gmean(ratios), rel=1e-12)
    assert found.log_stddev == pytest.approx(logs.std(ddof=1), rel=1e-9, abs=1e-14)
    expected = [math.exp(logs.mean() - half_width), math.exp(logs.mean() + half_width)]
    assert [found.ci_low, found.ci_high] == pytest.approx(expected, rel=1e-9)


def test_one_ratio_and_equal_ones() -> None:
    one = stats.geometric_mean_ratio([0.8])
    assert one.ratio == pytest.approx(0.8)
    assert (one.ci_low, one.ci_high, one.log_stddev, one.count) == (None, None, None, 1)
    equal = stats.geometric_mean_ratio([0.8, 0.8, 0.8])
    assert (equal.ci_low, equal.ci_high, equal.log_stddev) == (equal.ratio, equal.ratio, 0.0)
