"""`quantiles` against numpy: all nine definitions, on ordinary, tied and nasty samples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastrnns_rs import stats

METHODS = [
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "linear",
    "median_unbiased",
    "normal_unbiased",
]
ORDINARY = st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=200)
#: Few distinct values, as a coarse clock gives.
TIED = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=200)
#: Every size at once, but for ranges that numpy overflows on.
NASTY = st.lists(st.floats(-1e307, 1e307), min_size=1, max_size=60)
#: Also those that make n·p a whole number, where definitions differ most.
PROBABILITIES = st.lists(
    st.floats(0, 1) | st.sampled_from([0.0, 1.0, 0.5]) | st.integers(0, 20).map(lambda i: i / 20), max_size=12
)


def close(found: list[float], expected: np.ndarray, samples: np.ndarray) -> bool:
    # Between two huge values of opposite signs the result may be small, and has the rounding of both.
    scale = float(np.abs(samples).max())
    return bool(np.allclose(found, expected, rtol=1e-12, atol=scale * 1e-15))


@settings(deadline=None, max_examples=300)
@given(ORDINARY | TIED | NASTY, PROBABILITIES, st.sampled_from(METHODS))
def test_agrees_with_numpy(samples: list[float], probabilities: list[float], method: str) -> None:
    values = np.array(samples)
    found = stats.quantiles(values, probabilities, method=method)
    assert close(found, np.quantile(values, np.array(probabilities), method=method), values)


@pytest.mark.parametrize("method", METHODS)
def test_agrees_with_numpy_at_every_whole_place(method: str) -> None:
    """Where n·p is a whole number, or would be without rounding, the definitions decide by equality."""
    for n in [*range(1, 40), 100, 1000]:
        values = np.random.default_rng(n).permutation(np.arange(n) ** 2 + 1.0)
        probabilities = np.concatenate([np.arange(n + 1) / n, (np.arange(2 * n) + 0.5) / (2 * n)])
        expected = np.quantile(values, probabilities, method=method)
        assert stats.quantiles(values, probabilities, method=method) == pytest.approx(expected.tolist(), rel=1e-12), n


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [1023, 1024, 10_007, 300_000])
def test_agrees_at_large_sizes(method: str, size: int) -> None:
    generator = np.random.default_rng(size)
    probabilities = generator.permutation([0, 0.001, 0.25, 0.25, 0.5, 0.9, 0.999, 1])
    spiked = generator.normal(1e6, 1e3, size)
    spiked[size // 2] = 1e15
    shapes = generator.lognormal(0, 1, size), generator.integers(1_000, 1_100, size), np.full(size, 3.5), spiked
    for values in shapes:
        found = stats.quantiles(values, probabilities, method=method)
        assert found == pytest.approx(np.quantile(values, probabilities, method=method).tolist(), rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_huge_ranges_do_not_overflow(method: str) -> None:
    values = np.array([-1e308, 1.7e308, -1.7e308, 5e-324, 1e308])
    probabilities = [0.0, 0.1, 0.3, 0.5, 0.7, 0.77, 0.9, 1.0]
    found = stats.quantiles(values, probabilities, method=method)
    assert all(math.isfinite(value) for value in found)
    # Every definition is linear in the samples: the same at a size that numpy can hold.
    expected = np.quantile(values / 2**10, probabilities, method=method) * 2.0**10
    assert found == pytest.approx(expected.tolist(), rel=1e-12, abs=1e290)


def test_tiny_values_keep_their_digits() -> None:
    low, middle, high = stats.quantiles([5e-324, 1e-323], [0, 0.5, 1])
    assert (low, high) == (5e-324, 1e-323)
    # Nothing lies between them: either neighbour is as near as a float can be.
    assert middle in (low, high)
    assert stats.quantiles([5e-324, 1.5e-323], [0.5]) == [1e-323]


def test_a_list_in_and_a_list_out() -> None:
    assert stats.quantiles([1.0, 2.0], []) == []
    assert stats.quantiles([1.0, 2.0], np.array([0.5])) == [1.5]
    for number in (0.5, 1, np.float64(0.5)):
        with pytest.raises(TypeError, match=r"probabilities is a number; pass a list, as \["):
            stats.quantiles([1.0, 2.0], number)
