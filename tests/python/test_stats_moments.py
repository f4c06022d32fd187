"""`moments` against numpy and exact arithmetic."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastrnns_rs import stats

SAMPLES = st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=300)
TIED = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=300)


def exact(values: list[float]) -> tuple[float, float | None]:
    """Mean and variance by rational numbers, rounded once."""
    numbers = [Fraction(value) for value in values]
    mean = sum(numbers, Fraction(0)) / len(numbers)
    squares = sum(((number - mean) ** 2 for number in numbers), Fraction(0))
    return float(mean), float(squares / (len(numbers) - 1)) if len(numbers) > 1 else None


@settings(deadline=None)
@given(SAMPLES | TIED)
def test_agrees_with_exact_arithmetic(samples: list[float]) -> None:
    found = stats.moments(samples)
    mean, variance = exact(samples)
    scale = max(abs(value) for value in samples)
    assert found.mean == pytest.approx(mean, rel=1e-12, abs=scale * 1e-14)
    if variance is None:
        assert found.variance is None
        assert found.stddev is None
    else:
        assert found.variance == pytest.approx(variance, rel=1e-12, abs=scale**2 * 1e-28 + 1e-320)
        assert found.stddev == math.sqrt(found.variance or 0.0)
    assert (found.count, found.min, found.max) == (len(samples), min(samples), max(samples))


def test_pieces_are_merged() -> None:
    """More than one of the pieces of some millions between which it asks for a signal."""
    samples = np.random.default_rng(1).lognormal(13, 0.1, 9_000_001)
    found = stats.moments(samples)
    assert found.mean == pytest.approx(samples.mean(), rel=1e-12)
    assert found.variance == pytest.approx(samples.var(ddof=1), rel=1e-12)
    assert (found.min, found.max) == (samples.min(), samples.max())
    summary = stats.summarize(samples)
    assert (found.mean, found.stddev) == (summary.mean, summary.stddev)
    assert summary.median == np.median(samples)
    assert summary.mad == pytest.approx(np.median(np.abs(samples - np.median(samples))), rel=1e-12)


@given(st.lists(st.integers(-(2**40), 2**40), min_size=2, max_size=300), st.integers(-30, 30))
def test_a_power_of_two_scales_every_bit(samples: list[int], power: int) -> None:
    found = stats.moments([float(value) for value in samples])
    scaled = stats.moments([value * 2.0**power for value in samples])
    assert scaled.mean == found.mean * 2.0**power
    assert scaled.variance == (found.variance or 0.0) * 4.0**power
    assert (scaled.min, scaled.max) == (found.min * 2.0**power, found.max * 2.0**power)


def test_degenerate_samples() -> None:
    one = stats.moments([5])
    assert one.to_dict() == {"count": 1, "mean": 5.0, "variance": None, "stddev": None, "min": 5.0, "max": 5.0}
    assert stats.moments([1e308] * 5000).variance == 0
    assert stats.moments([1e308] * 5000).mean == 1e308
    assert stats.moments([5e-324, 1e-323]).max == 1e-323
    assert stats.moments(np.array([2**64 - 1, 2**64 - 1], dtype=np.uint64)).mean == 2.0**64


def test_lists_do_not_load_numpy() -> None:
    code = "import sys; from fastrnns_rs.stats import moments; moments([1, 2]); moments(iter((1, 2)));"
    code += "sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("call", [stats.moments, stats.summarize])
def test_a_signal_ends_a_call_in_its_middle(call: Callable[[np.ndarray], object]) -> None:
    # Zeros that nobody has written take no memory. A call looks for signals every 25 ms: it is to take longer.
    samples = np.zeros(600_000_000)
    begin = time.monotonic()
    call(samples)
    whole = time.monotonic() - begin

    def handler(*_: object) -> None:
        raise InterruptedError("enough")

    def until_the_signal() -> float:
        begin = time.monotonic()
        try:
            with pytest.raises(InterruptedError, match="enough"):
                signal.setitimer(signal.ITIMER_REAL, whole / 10)
                call(samples)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return time.monotonic() - begin

    previous = signal.signal(signal.SIGALRM, handler)
    try:
        # A machine that does other things may hold up any of them.
        took = min(until_the_signal() for _ in range(5))
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert took < whole * 0.8
