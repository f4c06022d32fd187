"""Benchmarks for pytest-benchmark: a plain one, one with parameters, and one in a group."""

from __future__ import annotations

import pytest

NUMBERS = [(7 * one) % 1009 for one in range(1009)]


def test_sorted(benchmark) -> None:
    assert benchmark(sorted, NUMBERS)


@pytest.mark.parametrize("length", [100, 1000])
def test_sum(benchmark, length: int) -> None:
    assert benchmark(sum, NUMBERS[:length])


@pytest.mark.benchmark(group="texts")
def test_join(benchmark) -> None:
    assert benchmark.pedantic(",".join, args=(["word"] * 1000,), rounds=6, iterations=4)
