"""`outliers` against the definition spelled out with numpy."""

from __future__ import annotations

import itertools
import math

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


def test_a_run_tells_a_burst_from_single_spikes() -> None:
    generator = np.random.default_rng(3)
    single, burst = generator.normal(100, 1, (2, 1000)).clip(98, 102)
    single[::100] += 40
    burst[500:510] += 40
    found = [stats.outliers(samples) for samples in (single, burst)]
    assert [each.high_severe for each in found] == [10, 10]
    assert [each.longest_run for each in found] == [1, 10]
    assert found[1].runs == [(500, 10)]
    assert all(isinstance(number, int) for number in found[1].runs[0])


def test_what_has_no_outliers() -> None:
    for samples in ([7.0], [1.0, 1e300], [0.0, 0.0, 1e9], [-1e308, 0.0, 1e308], [3.5] * 100):
        found = stats.outliers(samples)
        assert (found.inside, found.runs, found.longest_run) == (len(samples), [], 0)
    constant = stats.outliers([3.5] * 100)
    assert constant.low_outer_fence == constant.high_outer_fence == 3.5


def test_equal_quartiles_make_every_other_sample_severe() -> None:
    found = stats.outliers([5.0] * 10 + [6.0, 4.0])
    assert (found.low_severe, found.inside, found.high_severe) == (1, 10, 1)
    assert found.runs == [(10, 2)]


def test_fences_do_not_overflow() -> None:
    found = stats.outliers([-1.7e308, 1.7e308] * 10)
    assert found.inside == 20
    largest = np.finfo(float).max
    assert [found.low_outer_fence, found.high_outer_fence] == [-largest, largest]
    # 1.5 interquartile ranges are beyond the largest float here, the fence is not.
    values = np.array([-1.75e308] * 10 + [-0.5e308] * 10 + [1.7e308])
    found = stats.outliers(values)
    smaller = stats.outliers(values / 1024)
    assert found.high_inner_fence == smaller.high_inner_fence * 1024
    assert found.high_mild == smaller.high_mild == 1


@settings(deadline=None)
@given(st.lists(st.integers(-50, 50), min_size=1, max_size=100), st.integers(-8, 8))
def test_scale_and_sign_change_nothing_else(samples: list[int], power: int) -> None:
    found = stats.outliers(samples)
    scaled = stats.outliers([sample * 2.0**power for sample in samples])
    assert scaled.runs == found.runs
    assert scaled.high_outer_fence == found.high_outer_fence * 2.0**power
    turned = stats.outliers([-sample for sample in samples])
    assert [getattr(turned, name) for name in CLASSES] == [getattr(found, name) for name in reversed(CLASSES)]
    assert turned.low_outer_fence == -found.high_outer_fence


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ([], "samples is empty; at least one value is needed"),
        ([1.0, math.nan], r"samples\[1\] is NaN; every value must be finite"),
        (np.array([math.inf]), r"samples\[0\] is inf; every value must be finite"),
        (np.ones((2, 2)), "samples has 2 dimensions; it must have one"),
    ],
)
def test_bad_values_are_named(samples: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stats.outliers(samples)


def test_integers_of_every_width_are_read() -> None:
    for dtype in (np.float32, np.int64, np.int32, np.uint64, np.uint32):
        found = stats.outliers(np.array([1, 2, 3, 4, 5, 6, 7, 100], dtype=dtype))
        assert (found.high_severe, found.runs) == (1, [(7, 1)])


def test_is_frozen_shows_itself_and_is_documented() -> None:
    found = stats.outliers([1.0, 2.0, 3.0, 4.0, 50.0])
    with pytest.raises(AttributeError):
        found.inside = 3
    assert repr(found).startswith("Outliers(count=5, low_severe=0, low_mild=0, inside=4, high_mild=0, high_severe=1, ")
    assert found.to_dict()["runs"] == [(4, 1)]
    assert {name for name in dir(found) if not name.startswith("_")} - {"to_dict"} == set(found.to_dict())
    assert all(getattr(stats.Outliers, name).__doc__ for name in found.to_dict())
    for part in ("Args:", "Returns:", "Raises:", "Tukey", "1977"):
        assert part in stats.outliers.__doc__
