"""`modality` against the `diptest` package, and on samples whose modes are known."""

from __future__ import annotations

import math

import diptest
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastrnns_rs import stats

WHOLE = st.lists(st.integers(-40, 40), min_size=1, max_size=60)


def shapes(trial: int) -> np.ndarray:
    """Random, tied and quantised samples, of one mode and of two."""
    generator = np.random.default_rng(trial)
    n = int(generator.integers(1, 300))
    two = np.concatenate([generator.normal(size=n), generator.normal(generator.uniform(1, 8), 1, n)])
    return [
        generator.normal(size=n),
        generator.random(n),
        generator.lognormal(13, 1, n),
        two,
        np.round(two * 2),
        generator.integers(0, generator.integers(1, 12), n).astype(float),
        np.round(generator.lognormal(0, 1, n), 1),
        generator.permutation(np.repeat(generator.normal(size=3), n)),
    ][trial % 8]


def test_the_dip_is_that_of_diptest() -> None:
    for trial in range(240):
        samples = shapes(trial)
        # By its other setting that package gives 0 where samples are exactly even, whose dip is half a step.
        expected = diptest.dipstat(samples, allow_zero=bool(np.ptp(samples) == 0))
        assert stats.modality(samples).dip == pytest.approx(expected, abs=1e-12), trial


@pytest.mark.parametrize("size", [8, 10, 13, 25, 40, 150, 700, 3000, 40_000])
def test_the_p_value_is_near_that_of_diptest(size: int) -> None:
    generator = np.random.default_rng(size)
    for trial in range(40):
        apart = generator.uniform(0, 3.5) if trial % 2 else 0.0
        samples = generator.random(size) if apart == 0 else generator.normal(apart * (generator.random(size) < 0.5), 1)
        assert stats.modality(samples).p_value == pytest.approx(diptest.diptest(samples)[1], abs=0.02)


@pytest.mark.parametrize("size", [4, 7, 30, 400])
def test_the_p_value_is_the_share_of_uniform_samples_with_a_larger_dip(size: int) -> None:
    generator = np.random.default_rng(size)
    found = np.array([stats.modality(generator.random(size)).p_value for _ in range(2000)])
    for level in (0.01, 0.05, 0.2):
        # Four standard deviations; steps of the law of few samples only make it smaller.
        assert np.mean(found < level) <= level + 4 * math.sqrt(level * (1 - level) / 2000)
        if size >= 30:
            assert np.mean(found < level) >= level - 4 * math.sqrt(level * (1 - level) / 2000)


def test_no_evidence_in_what_cannot_have_any() -> None:
    for samples in ([1.0], [1.0, 2.0], [1.0, 2.0, 9.0], [4.0] * 100, [1.0] * 3):
        found = stats.modality(samples)
        assert (found.p_value, len(found.modes), found.modes[0].share) == (1.0, 1, 1.0)
    constant = stats.modality([4.0] * 100)
    assert (constant.dip, constant.mvalue, constant.tick, constant.valley_evidence) == (0.0, 2.0, None, 0.0)
    assert constant.modes[0].to_dict() == {"position": 4.0, "share": 1.0, "low": 4.0, "high": 4.0}
    # Evenly spaced: half a step, the least there is.
    assert stats.modality(np.arange(50.0)).dip == 0.01


@settings(deadline=None)
@given(WHOLE, st.integers(-900, 900), st.randoms(use_true_random=False))
def test_scale_and_order_do_not_matter(samples: list[int], power: int, random) -> None:
    found = stats.modality(samples)
    scaled = [sample * 2.0**power for sample in samples]
    random.shuffle(scaled)
    other = stats.modality(scaled)
    assert (other.dip, other.p_value, other.mvalue) == (found.dip, found.p_value, found.mvalue)
    assert [mode.share for mode in other.modes] == [mode.share for mode in found.modes]
    assert [mode.position for mode in other.modes] == [mode.position * 2.0**power for mode in found.modes]


def numbers(found: stats.Modality) -> list[float]:
    """All that a result holds."""
    one = [found.dip, found.dip_within_ticks, found.p_value, found.valley_evidence, found.mvalue, found.tick or 0]
    return one + [number for mode in found.modes for number in mode.to_dict().values()]


@pytest.mark.parametrize(
    "samples",
    [
        [1 + step * 2**-52 for step in (2, 3, 6, 6, 2, 3)],
        [1.0000000000000004e37, 1e37, 9.999999999999998e36, 1e37, 9.999999999999998e36],
        [1e-6, 9.999999999999997e-07] * 3,
        [0.1 + 0.2, 0.3] * 50,
        np.diff(np.arange(0, 10, 0.1)),
    ],
)
def test_what_only_rounding_parts_is_constant(samples: list[float]) -> None:
    found = stats.modality(samples)
    assert np.isfinite(numbers(found)).all()
    assert (found.p_value, found.valley_evidence, found.dip_within_ticks, found.tick) == (1, 0, 0, None)
    only = {"position": np.median(samples), "share": 1, "low": min(samples), "high": max(samples)}
    assert [mode.to_dict() for mode in found.modes] == [only]
    # Who gives a tick says that the samples are as exact as that.
    for tick in (0, 1e-300, abs(samples[0]) * 1e-16, abs(samples[0])):
        assert np.isfinite(numbers(stats.modality(samples, tick=tick))).all()
    # Nor does it make modes beside a value that lies far off.
    assert len(stats.modality([*np.repeat(samples, 9), 2 * max(samples)]).modes) == 1


@pytest.mark.parametrize("size", [5, 7, 9, 11, 15, 19, 21, 25])
def test_few_samples_of_one_mode_show_one(size: int) -> None:
    generator = np.random.default_rng(size)
    trials = 1500
    for draw in (generator.normal, generator.exponential, generator.lognormal):
        several = np.mean([len(stats.modality(draw(size=size)).modes) > 1 for _ in range(trials)])
        # Four standard deviations beyond what is promised.
        assert several <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / trials)


def test_a_valley_tells_nothing_among_fewer_than_twenty() -> None:
    samples = [*range(9), *range(1000, 1009)]
    assert stats.modality(samples).valley_evidence == 0
    assert stats.modality([*samples, 3.5, 1003.5]).valley_evidence > 1


def test_each_mode_of_three_is_shown() -> None:
    generator = np.random.default_rng(1)
    samples = np.concatenate([generator.normal(place, 1, 500) for place in (100, 110, 130)])
    found = stats.modality(samples)
    assert [mode.position for mode in found.modes] == pytest.approx([100, 110, 130], abs=1)
    assert [mode.share for mode in found.modes] == pytest.approx([1 / 3] * 3, abs=0.005)
    assert found.p_value == 0.0005


def test_two_far_values_are_modes_where_the_tick_says_so() -> None:
    samples = [100.0] * 60 + [200.0] * 40
    assert len(stats.modality(samples).modes) == 1
    for tick in (0, 1, 10):
        found = stats.modality(samples, tick=tick)
        assert [(mode.position, mode.share) for mode in found.modes] == [(100, 0.6), (200, 0.4)], tick
        assert found.tick == (tick or None)


def test_huge_and_tiny_samples() -> None:
    generator = np.random.default_rng(2)
    two = np.concatenate([generator.normal(0, 1, 300), generator.normal(10, 1, 200)])
    expected = stats.modality(two)
    assert len(expected.modes) == 2
    for factor in (2.0**1019, 2.0**-1030):
        found = stats.modality(two * factor)
        assert found.dip == pytest.approx(expected.dip, abs=1e-9)
        assert [mode.share for mode in found.modes] == pytest.approx([mode.share for mode in expected.modes])
    assert stats.modality([-1.7e308, 1.7e308] * 50, tick=0).dip == 0.25
    assert np.isfinite(numbers(stats.modality([-1.7e308, 1.7e308] * 50))).all()
    far = stats.modality([*np.arange(60.0), *[1e18] * 40], tick=0)
    assert [mode.share for mode in far.modes] == [0.6, 0.4]
