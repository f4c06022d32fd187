"""Intervals from several processes against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from fastrnns_rs import stats


def check(medians: list[float], level: float = 0.95) -> None:
    found = stats.process_ci(medians, confidence_level=level)
    logs = np.log(medians)
    mean, error = logs.mean(), scipy.stats.sem(logs)
    half = scipy.stats.t.ppf((1 + level) / 2, len(logs) - 1) * error
    expected = [np.exp(mean), np.exp(mean - half), np.exp(mean + half)]
    # A logarithm of 20 has 15 digits behind the point: so many has the share.
    assert [found.estimate, found.ci_low, found.ci_high] == pytest.approx(expected, rel=2e-12)
    assert found.log_stddev == pytest.approx(logs.std(ddof=1), rel=1e-10, abs=1e-13)
    assert found.half_width == pytest.approx(np.expm1(half), rel=1e-9, abs=1e-12)
    assert found.half_width == pytest.approx(found.ci_high / found.estimate - 1, rel=1e-9, abs=1e-12)
    assert (found.min, found.max, found.n_processes) == (min(medians), max(medians), len(medians))
    assert (found.ci_method, found.within_one_process) == ("t_log_process_medians", False)


@settings(deadline=None)
@given(st.lists(st.floats(0.5, 2), min_size=3, max_size=40), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_follows_student_on_logarithms(medians: list[float], level: float) -> None:
    check([1e6 * median for median in medians], level)


def test_agrees_with_a_geometric_mean() -> None:
    for size in (3, 4, 10, 1000):
        medians = np.random.default_rng(size).lognormal(10, 0.02, size)
        check(medians.tolist())
        assert stats.process_ci(medians).estimate == pytest.approx(scipy.stats.gmean(medians), rel=1e-13)


def test_takes_the_samples_of_each_process() -> None:
    generator = np.random.default_rng(1)
    processes = [generator.lognormal(0, 0.1, size) for size in (10, 11, 50)]
    expected = stats.process_ci([np.median(samples) for samples in processes])
    assert stats.process_ci(processes) == expected
    assert stats.process_ci(samples.tolist() for samples in processes) == expected
    assert stats.process_ci(iter([2, 5, 8])) == stats.process_ci([2, 5, 8])
    assert stats.process_ci(np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]])) == stats.process_ci([2, 5, 8])


def test_few_processes_may_miss_a_kind() -> None:
    """A kind of one process in five is missed with a probability of 5 % or more."""
    for count in range(1, 40):
        found = stats.process_ci(np.linspace(1, 2, count))
        assert found.may_miss_a_kind == (scipy.stats.binom.pmf(0, count, 0.2) >= 0.05)
        assert found.to_dict()["may_miss_a_kind"] is found.may_miss_a_kind


def test_one_and_two_processes_have_a_range() -> None:
    one = stats.process_ci([[3, 4, 5]])
    assert (one.estimate, one.min, one.max, one.n_processes, one.within_one_process) == (4, 4, 4, 1, True)
    assert (one.ci_low, one.ci_high, one.ci_method, one.half_width, one.log_stddev) == (None,) * 5
    assert "within_one_process=True" in repr(one)
    two = stats.process_ci([2, 8])
    assert (two.min, two.max, two.within_one_process) == (2, 8, False)
    assert two.estimate == pytest.approx(4, rel=1e-15)
    assert two.log_stddev == pytest.approx(math.log(4) / math.sqrt(2))
    assert (two.ci_low, two.ci_high, two.ci_method, two.half_width) == (None,) * 4
    assert two.to_dict()["within_one_process"] is False
