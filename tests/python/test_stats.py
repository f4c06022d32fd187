"""`fastrnns_rs.stats` against numpy and scipy."""

from __future__ import annotations

import array
import ctypes
from collections.abc import Callable

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from fastrnns_rs import stats

SAMPLES = st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=400)
#: Few distinct values, as a coarse clock gives.
TIED = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=400)


def check(samples: np.ndarray) -> None:
    found = stats.summarize(samples)
    n = len(samples)
    values = samples.astype(np.float64)
    scale = max(1.0, float(np.abs(values).max()))
    assert found.count == n
    assert found.mean == pytest.approx(values.mean(), rel=1e-12, abs=scale * 1e-12)
    if n == 1:
        assert found.stddev is None
    else:
        assert found.stddev == pytest.approx(values.std(ddof=1), rel=1e-9, abs=scale * 1e-12)
    assert (found.min, found.max) == (values.min(), values.max())
    quantiles = np.percentile(values, [50, 25, 75, 95, 99])
    got = [found.median, found.q1, found.q3, found.p95, found.p99]
    assert got == pytest.approx(quantiles.tolist(), rel=1e-13, abs=scale * 1e-15)
    assert found.mad == pytest.approx(np.median(np.abs(values - np.median(values))), rel=1e-9, abs=scale * 1e-15)
    expected = interval(values)
    assert (found.ci_low, found.ci_high) == expected
    assert found.ci_method == (None if expected[0] is None else "median_rank")


def interval(values: np.ndarray, level: float = 0.95) -> tuple[float | None, float | None]:
    """The narrowest symmetric pair of order statistics, by scipy's binomial law."""
    n = len(values)
    k = int(scipy.stats.binom.ppf((1 - level) / 2, n, 0.5))
    while k >= 0 and scipy.stats.binom.cdf(k, n, 0.5) > (1 - level) / 2:
        k -= 1
    if k < 0:
        return None, None
    ordered = np.sort(values)
    return ordered[k], ordered[n - 1 - k]


@settings(deadline=None)  # the first call of scipy takes as long as it likes
@given(SAMPLES | TIED)
def test_agrees_with_numpy_and_scipy(samples: list[float]) -> None:
    check(np.array(samples))


@pytest.mark.parametrize("size", [1, 2, 5, 6, 31, 33, 1024, 1025, 2049, 10_007, 16_383, 16_384, 300_001])
def test_agrees_at_every_size(size: int) -> None:
    """The sizes lie at the borders of its blocks and of its ways to select."""
    generator = np.random.default_rng(size)
    check(generator.lognormal(0, 1, size))
    check(generator.pareto(0.7, size) * 1e6)
    check(generator.integers(1_000, 1_100, size))
    check(np.full(size, 3.5))
    spiked = generator.normal(1e6, 1e3, size)
    spiked[size // 2] = 1e15
    check(spiked)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99, 0.999])
def test_the_interval_follows_the_binomial_law_at_every_count(level: float) -> None:
    for n in [*range(1, 300), 1_000, 9_999, 100_000]:
        values = np.arange(n)
        found = stats.summarize(values, confidence_level=level)
        assert (found.ci_low, found.ci_high) == interval(values, level), n


@pytest.mark.parametrize(
    "dtype", [np.float64, np.float32, np.int64, np.int32, np.uint64, np.uint32, np.int16, np.uint8]
)
def test_every_number_type_and_layout(dtype: type) -> None:
    values = np.arange(1, 100).astype(dtype)
    expected = stats.summarize([float(value) for value in values])
    frozen = values.copy()
    frozen.setflags(write=False)
    for samples in (
        values,
        values[::-1],
        np.repeat(values, 2)[::2],
        frozen,
        values.byteswap().view(values.dtype.newbyteorder()),
    ):
        assert stats.summarize(samples) == expected
    for samples in (values.tolist(), tuple(values.tolist()), iter(values.tolist()), array.array("d", values.tolist())):
        assert stats.summarize(samples) == expected


@pytest.mark.parametrize("read", [stats.summarize, stats.moments, stats.mean_ci])
def test_numbers_that_do_not_lie_as_they_are_read(read: Callable[[object], object]) -> None:
    """In another byte order, away from the boundaries that they should be on, or of a type with another name."""
    values = np.arange(1.0, 100.0)
    expected = read(values.tolist())
    for dtype in ("f8", "i8"):
        numbers = values.astype(dtype)
        off = np.frombuffer(b"\0" + numbers.tobytes(), np.uint8)[1:].view(dtype)
        assert not off.flags.aligned
        for samples in (numbers.astype(f">{dtype}"), numbers.astype(f"<{dtype}"), off):
            assert read(samples) == expected
        assert read(memoryview(numbers.astype(f">{dtype}"))) == expected
    for samples in (
        values.astype(np.longlong),
        (ctypes.c_double * 99)(*values),
        (ctypes.c_double.__ctype_be__ * 99)(*values),
        (ctypes.c_int64 * 99)(*map(int, values)),
        array.array("l", map(int, values)),
        array.array("q", map(int, values)),
        memoryview(values)[::1],
        np.rec.array(values),
    ):
        assert read(samples) == expected
    assert read(memoryview(np.repeat(values, 2))[::2]) == expected


def test_a_torch_tensor_is_a_sequence_of_numbers() -> None:
    import torch

    assert stats.summarize(torch.tensor([1.0, 2.0, 4.0])).median == 2.0


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (np.empty(0), "samples is empty; at least one value is needed"),
        (np.ma.masked_less([1.0, 9.0], 5.0), r"samples is a masked array; pass samples.compressed\(\)"),
        (np.float64(3), "samples has 0 dimensions; it must have one"),
    ],
)
def test_bad_values_are_named(samples: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stats.summarize(samples)


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ({1.0: 2.0}, "samples is of type dict; it must be a sequence of numbers"),
        (None, "samples is of type NoneType; it must be"),
        ([1, [2]], r"samples\[1\] is \[2\]; every value must be a number"),
        ([1, 2 + 1j], r"samples\[1\] is \(2\+1j\); every value must be a number"),
        ("12", r"samples\[0\] is '1'; every value must be a number"),
        (np.array([1 + 5j, 2]), "samples is an array of complex128; every value must be a real number"),
        (np.array([1, 2], "m8[ns]"), r"samples is an array of timedelta64\[ns\]; every value must be a real number"),
        (np.array([1, 2], "M8[ns]"), r"samples is an array of datetime64\[ns\]; every value must be a real number"),
        (b"12345", "samples is of type bytes; it must be"),
        ({1.0, 2.0}, "samples is of type set; it must be"),
        (frozenset({1.0}), "samples is of type frozenset; it must be"),
    ],
)
def test_bad_types_are_named(samples: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        stats.summarize(samples)


def test_what_an_element_raises_is_passed_on() -> None:
    class Raises:
        def __float__(self) -> float:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stats.moments([1.0, Raises()])


def test_many_rows_take_as_long_as_they_are_many() -> None:
    """numpy's record of what is borrowed from one array must not be searched for every row of it."""
    rows = np.random.default_rng(0).random((400_000, 3)) + 1
    assert stats.process_ci(rows).n_processes == len(rows)


def test_huge_and_tiny_values() -> None:
    assert stats.summarize([1e300, 1e300, 1e300]).stddev == 0
    assert stats.summarize([5e-324, 1e-323]).max == 1e-323
    assert stats.summarize([2**64 - 1] * 3).median == 2.0**64
    assert stats.summarize(np.array([2**64 - 1], dtype=np.uint64)).median == 2.0**64
    assert stats.summarize([10**400 // 10**390]).mean == 1e10
    with pytest.raises(ValueError, match=r"samples\[0\] is too large for a 64-bit float"):
        stats.summarize([10**400])
