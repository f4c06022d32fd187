"""The rule that ends a loop over processes, against one that is written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fastrnns_rs import stats

MEDIANS = st.lists(st.floats(0.9, 1.1), min_size=1, max_size=60)


def log_half_width(medians: list[float], level: float) -> float:
    n = len(medians)
    return scipy.stats.t.ppf((1 + level) / 2, n - 1) * np.std(np.log(medians), ddof=1) / n**0.5


def reached(medians: list[float], target: float, level: float, minimum: int) -> bool:
    """By every number of processes so far."""
    wanted = math.log1p(target)
    for n in range(minimum, len(medians) + 1):
        half = log_half_width(medians[:n], level)
        if half <= wanted:
            enough = len(medians) >= n + 2 + math.ceil(7 * half / wanted)
            return enough and log_half_width(medians, level) <= wanted
    return False


@settings(deadline=None)
@given(MEDIANS, st.sampled_from([0.01, 0.02, 0.05, 0.1]), st.sampled_from([0.9, 0.95]), st.integers(3, 12))
@example([1.0] * 6, 0.01, 0.95, 5)
@example([1.0] * 7, 0.01, 0.95, 5)
def test_follows_its_rule(medians: list[float], target: float, level: float, minimum: int) -> None:
    found = stats.precision_reached(medians, target=target, confidence_level=level, minimum=minimum)
    assert found.reached == reached(medians, target, level, minimum)
    assert (found.n_processes, found.target, found.confidence_level) == (len(medians), target, level)
    assert found.half_width == stats.process_ci(medians, confidence_level=level).half_width
    assert (found.reason == "reached") == found.reached == (found.further == 0)
    if len(medians) < minimum:
        assert (found.reason, found.further) == ("too_few_processes", minimum - len(medians) + 2)
    elif not found.reached:
        assert found.reason == ("too_wide" if found.half_width > target else "unconfirmed")


@pytest.mark.parametrize("below", [1, 2, 3, 4])
def test_a_minimum_that_is_never_reached_needs_further_processes(below: int) -> None:
    found = stats.precision_reached([1.0], minimum=2**64 - below)
    assert (found.reached, found.further) == (False, 2**64 - max(1, below - 1))


@pytest.mark.parametrize("spread", [0.001, 0.01, 0.03])
def test_jumps_by_what_it_says_end_where_single_steps_do(spread: float) -> None:
    for seed in range(30):
        medians = np.exp(np.random.default_rng(seed).normal(0, spread, 200))

        def ends(*, at_once: bool, medians: np.ndarray = medians) -> int:
            count = 1
            while not (found := stats.precision_reached(medians[:count])).reached and count < 200:
                count = min(200, count + (found.further if at_once else 1))
            return count

        assert ends(at_once=True) == ends(at_once=False)
