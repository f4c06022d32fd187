"""Where iteration times settle: shapes whose answer is certain, what must hold for any times, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastrnns_rs.stats import classify_warmup, steady_state


def noisy(seed: int, levels: np.ndarray, spread: float = 0.01) -> np.ndarray:
    return levels * np.exp(np.random.default_rng(seed).normal(0, spread, len(levels)))


def level(*parts: tuple[int, float]) -> np.ndarray:
    return np.concatenate([np.full(length, height) for length, height in parts])


SHAPES = {
    "flat": (level((500, 3.0)), "flat", 0),
    "warmup": (level((100, 3.3), (400, 3.0)), "warmup", 100),
    "two steps down": (level((60, 6.0), (60, 4.0), (380, 3.0)), "warmup", 120),
    "throttled": (level((300, 3.0), (200, 3.15)), "slowdown", 300),
    "slow, fast, throttled": (level((50, 6.0), (250, 3.0), (200, 3.3)), "slowdown", 300),
    "change too late": (level((420, 3.0), (80, 3.3)), "no_steady_state", None),
    "cycles": (np.tile(level((50, 3.0), (50, 3.3)), 5), "no_steady_state", None),
    "burst": (level((200, 3.0), (12, 6.0), (288, 3.0)), "flat", 0),
    "burst at the end": (level((485, 3.0), (15, 6.0)), "flat", 0),
    "restless end": (
        np.concatenate([np.full(440, 3.0), np.repeat([4.0, 6.0, 9.0, 4.0, 7.0], 12)]),
        "no_steady_state",
        None,
    ),
    "warmup and burst": (level((100, 4.0), (200, 3.0), (12, 6.0), (188, 3.0)), "warmup", 100),
    "drift": (np.linspace(3.0, 4.5, 500), "no_steady_state", None),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(4))
def test_shapes(shape: str, seed: int) -> None:
    levels, expected, begin = SHAPES[shape]
    samples = noisy(seed, levels)
    found = steady_state(samples)
    assert found.classification == expected, found
    assert (found.count, found.block_size) == (500, 1)
    if begin is None:
        assert (found.steady_from, found.level) == (None, None)
        return
    assert found.steady_from is not None
    assert abs(found.steady_from - begin) <= 1
    assert found.level == np.median(samples[found.steady_from :])
    assert found.share == pytest.approx((500 - found.steady_from) / 500)


def test_the_segments_are_those_of_the_samples() -> None:
    samples = noisy(1, level((100, 3.3), (400, 3.0)))
    found = steady_state(samples)
    assert [(one.begin, one.end) for one in found.segments] == [(0, 100), (100, 500)]
    assert [one.level for one in found.segments] == [np.median(samples[:100]), np.median(samples[100:])]


@pytest.mark.parametrize("slow", [2.0, 20.0, 1e6])
def test_a_slow_first_call_is_no_warm_up(slow: float) -> None:
    samples = noisy(2, np.full(200, 5.0))
    samples[0] *= slow
    found = steady_state(samples)
    assert (found.classification, found.steady_from) == ("flat", 1)
    assert found.level == np.median(samples[1:])


def test_several_slow_calls_are_a_warm_up() -> None:
    samples = noisy(2, np.full(200, 5.0))
    samples[:3] *= 4
    found = steady_state(samples)
    assert (found.classification, found.steady_from) == ("warmup", 3)


def test_a_single_outlier_makes_no_segment() -> None:
    for place in (1, 50, 199, 399):
        for factor in (0.01, 1.5, 1000.0):
            samples = noisy(4, np.full(400, 2.0))
            samples[place] *= factor
            found = steady_state(samples)
            assert (found.classification, found.steady_from, len(found.segments)) == ("flat", 0, 1), (place, factor)
            assert found.outliers >= 1


def test_many_iterations_are_taken_in_blocks() -> None:
    samples = noisy(3, level((20_000, 1.2), (80_003, 1.0)))
    found = steady_state(samples)
    assert (found.classification, found.block_size) == ("warmup", 51)
    assert found.steady_from is not None
    assert abs(found.steady_from - 20_000) <= found.block_size
    assert found.segments[-1].end == found.count == 100_003
    samples = noisy(3, np.full(100_000, 1.0))
    samples[0] = 20.0
    found = steady_state(samples)
    assert (found.classification, found.steady_from) == ("flat", 1)


@pytest.mark.parametrize("n", range(1, 10))
def test_too_few_iterations_say_nothing(n: int) -> None:
    found = steady_state([1.0] * n)
    assert (found.classification, found.steady_from, found.level, found.share) == ("too_few", None, None, 0.0)
    assert [(one.begin, one.end, one.level) for one in found.segments] == [(0, n, 1.0)]


def test_few_iterations() -> None:
    assert steady_state([1.0] * 10).classification == "flat"
    assert steady_state([20.0] + [1.0] * 9).steady_from == 1
    found = steady_state([3.0] * 10 + [1.0] * 20)
    assert (found.classification, found.steady_from) == ("warmup", 10)


def test_constant_and_coarse_times() -> None:
    for value in (5e-324, 1e-300, 1.0, 1e308):
        found = steady_state(np.full(100, value))
        assert (found.classification, found.level, found.share) == ("flat", value, 1.0)
    coarse = np.round(noisy(6, np.full(500, 40.0), 0.02))
    assert steady_state(coarse).classification == "flat"
    assert steady_state(coarse.astype(np.uint64)) == steady_state(coarse)


def test_the_options() -> None:
    step = noisy(7, level((200, 1.03), (300, 1.0)), 0.002)
    assert steady_state(step).classification == "warmup"
    assert steady_state(step, tolerance=0.05).classification == "flat"
    assert len(steady_state(step, penalty=1e9).segments) == 1
    assert steady_state(step, least_share=0.7).classification == "no_steady_state"
    assert steady_state(step, least_share=0.7).share == pytest.approx(0.6, abs=0.01)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([2.0**-40, 0.5, 2.0**30]))
def test_the_unit_does_not_matter(seed, factor) -> None:
    samples = noisy(seed, level((100, 1.2), (200, 1.0)), 0.02)
    found, scaled = steady_state(samples), steady_state(samples * factor)
    assert (found.classification, found.steady_from) == (scaled.classification, scaled.steady_from)
    assert scaled.level == found.level * factor


def test_processes() -> None:
    warm = [noisy(seed, level((50 + 10 * seed, 2.0), (300, 1.0))) for seed in range(4)]
    found = classify_warmup(warm)
    assert found.classification == "warmup"
    assert found.classifications == ["warmup"] * 4
    assert found.processes == [steady_state(samples) for samples in warm]
    assert found.steady_from == max(one.steady_from for one in found.processes) == 80

    found = classify_warmup([*warm, noisy(9, np.full(300, 1.0))])
    assert (found.classification, found.steady_from) == ("inconsistent", 80)
    found = classify_warmup([warm[0], [1.0] * 5])
    assert (found.classification, found.steady_from) == ("inconsistent", None)
    assert found.classifications == ["warmup", "too_few"]


def test_numbers_alone_are_one_process() -> None:
    samples = noisy(1, np.full(100, 1.0))
    assert classify_warmup(samples) == classify_warmup([samples])
    assert classify_warmup(samples).processes == [steady_state(samples)]
    assert classify_warmup(np.stack([samples, samples])).classifications == ["flat", "flat"]
