"""Benchmarks for google-benchmark in several units, one that takes no time and one that fails."""

from __future__ import annotations

import google_benchmark as benchmark

NUMBERS = [(7 * one) % 1009 for one in range(1009)]


@benchmark.register
def sorted_nanoseconds(state) -> None:
    while state:
        sorted(NUMBERS)


@benchmark.register
@benchmark.option.unit(benchmark.kMicrosecond)
@benchmark.option.arg(10)
@benchmark.option.arg(1000)
@benchmark.option.complexity(benchmark.oN)
def summed_microseconds(state) -> None:
    while state:
        sum(range(state.range(0)))
    state.complexity_n = state.range(0)


@benchmark.register
@benchmark.option.unit(benchmark.kMillisecond)
def joined_milliseconds(state) -> None:
    while state:
        ",".join(["word"] * 1000)


@benchmark.register
@benchmark.option.unit(benchmark.kSecond)
def reversed_seconds(state) -> None:
    while state:
        NUMBERS[::-1]


@benchmark.register
@benchmark.option.use_manual_time()
@benchmark.option.iterations(2)
def instant(state) -> None:
    while state:
        state.set_iteration_time(0.0)


@benchmark.register
def failing(state) -> None:
    state.skip_with_error("no such device")
    while state:
        pass


if __name__ == "__main__":
    benchmark.main()
