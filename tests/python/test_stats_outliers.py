"""`outliers` against the definition spelled out with numpy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastrnns_rs import stats

ORDINARY = st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=200)
TIED = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=200)
#: Mostly near to one another, so that the rest are outliers.
SPIKED = st.lists(st.floats(0, 1) | st.sampled_from([-3.0, 2.4, 2.6, 9.0, -1e9]), min_size=1, max_size=200)
CLASSES = ("low_severe", "low_mild", "inside", "high_mild", "high_severe")


def check(values: np.ndarray) -> None:
    found = stats.outliers(values)
    fences = [found.low_outer_fence, found.low_inner_fence, found.high_inner_fence, found.high_outer_fence]
    q1, q3 = np.quantile(values, [0.25, 0.75])
    apart = q3 - q1
    scale = float(np.abs(values).max())
    expected = [q1 - 3 * apart, q1 - 1.5 * apart, q3 + 1.5 * apart, q3 + 3 * apart]
    assert fences == pytest.approx(expected, rel=1e-12, abs=scale * 1e-14)
    # Classes by the fences that were found, so that rounding does not matter.
    names = [
        "low_severe" if value < fences[0]
        else "low_mild" if value < fences[1]
        else "high_severe" if value > fences[3]
        else "high_mild" if value > fences[2]
        else "inside"
        for value in values
    ]  # fmt: skip
    assert {name: getattr(found, name) for name in CLASSES} == {name: names.count(name) for name in CLASSES}
    assert found.count == len(values) == sum(getattr(found, name) for name in CLASSES)
    runs = []
    for inside, group in itertools.groupby(enumerate(names), key=lambda item: item[1] == "inside"):
        stretch = list(group)
        if not inside:
            runs.append((stretch[0][0], len(stretch)))
    assert found.runs == runs
    assert found.longest_run == max((length for _, length in runs), default=0)


@settings(deadline=None, max_examples=300)
@given(ORDINARY | TIED | SPIKED)
def test_follows_the_definition(samples: list[float]) -> None:
    check(np.array(samples))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 31, 32, 33, 1000, 100_003])
def test_follows_the_definition_at_every_size(size: int) -> None:
    generator = np.random.default_rng(size)
    check(generator.lognormal(0, 1, size))
    check(generator.standard_cauchy(size))
    check(np.round(generator.normal(0, 2, size)))
    bursts = generator.normal(100, 1, size)
    for first in range(0, size, 777):
        bursts[first : first + 20] += 50
    check(bursts)
