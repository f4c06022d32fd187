"""Arrays that another thread writes to while they are read."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from fastrnns_rs import stats

#: Samples of arrays that are copied, and of those that are read where they are.
SIZES = {"copied": 20_000, "in place": 1_000_001}
CALLS: dict[str, Callable[[Any], Any]] = {
    "moments": stats.moments,
    "outliers": stats.outliers,
    "quantiles": lambda samples: stats.quantiles(samples, [0.05, 0.5, 0.95]),
    "summarize": stats.summarize,
    "mean_ci": stats.mean_ci,
    "median_ci": stats.median_ci,
    "autocorrelation": stats.autocorrelation,
}
#: As often each is called: without copies one in thirty calls, or one in three hundred, met a change that mattered.
TIMES = {"copied": 1500, "in place": 120}
SEEN = {"outliers", "quantiles"}


@contextmanager
def written(samples: np.ndarray[Any, Any], *values: float) -> Iterator[None]:
    """Has another thread write the values in turn over every second sample, for as long as the context lasts."""
    ended = threading.Event()
    some = samples[::2]
    # One assignment of numpy, which lets go of the interpreter, writes all of them four hundred times.
    often = np.lib.stride_tricks.as_strided(some, (400, *some.shape), (0, *some.strides))
    turns = np.resize(np.array(values, samples.dtype), (400,) + (1,) * samples.ndim)

    def write() -> None:
        while not ended.is_set():
            often[...] = turns

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        ended.set()
        writer.join()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CALLS)
def test_a_nan_that_comes_and_goes_is_refused_or_not_seen(name: str, size: str) -> None:
    samples = np.random.default_rng(1).lognormal(0, 0.1, SIZES[size])
    with written(samples, math.nan, 1.0, math.inf, 1.0):
        for _ in range(TIMES[size] if name in SEEN else 3):
            try:
                CALLS[name](samples)
            except ValueError as error:
                assert "finite" in str(error) or "overflows" in str(error)  # noqa: PT017  # it need not be raised


def test_a_copy_is_of_one_moment_for_all_that_is_computed() -> None:
    samples = np.ones(SIZES["copied"])
    with written(samples, 2.0, 5.0, 9.0, 3.0):
        for _ in range(1000):
            found = stats.summarize(samples)
            ordered = [found.min, found.q1, found.median, found.q3, found.p95, found.p99, found.max]
            assert ordered == sorted(ordered)
            assert found.min <= found.mean <= found.max


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_whole_numbers_that_change_are_some_number(kind: type) -> None:
    samples = np.arange(SIZES["in place"], dtype=kind)
    with written(samples, -7, 10**15):
        for _ in range(5):
            found = stats.moments(samples)
            assert found.min in {-7.0, 0.0, 1.0}
            assert found.max in {1e15, 1e6, 1e6 - 1}
            assert len(stats.quantiles(samples, [0.5])) == 1


@pytest.mark.parametrize("size", [7, 5000, SIZES["in place"]])
def test_arrays_of_every_layout_give_the_same(size: int) -> None:
    usual = np.random.default_rng(2).lognormal(10, 1, size)
    expected = stats.summarize(usual)
    apart = np.empty(2 * size)
    apart[::2] = usual
    fixed = usual.copy()
    fixed.flags.writeable = False
    unaligned = np.frombuffer(b"x" + usual.tobytes(), np.uint8)[1:].view(np.float64)
    assert not unaligned.flags.aligned
    layouts = [apart[::2], usual[::-1][::-1], fixed, unaligned, usual.astype(">f8"), memoryview(usual)]
    assert all(stats.summarize(layout) == expected for layout in layouts)
    whole = usual.astype(np.int64)
    expected = stats.summarize(whole.astype(np.float64))
    assert all(stats.summarize(layout) == expected for layout in (whole, whole.astype(">i8"), np.repeat(whole, 2)[::2]))


def test_positions_that_change_are_refused_or_used_as_they_were() -> None:
    samples = np.arange(50.0)
    indices = np.tile(np.arange(50), (2000, 1))
    with written(indices, 10**6, 49, -(10**6), 0):
        for _ in range(50):
            try:
                stats.bootstrap_ci(samples, indices=indices)
            except ValueError as error:
                assert "indices" in str(error)  # noqa: PT017  # as above
