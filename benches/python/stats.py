"""The statistics against the best that Python offers for the same work, as a Markdown table.

Needs scipy and ruptures. Both sides are timed in turn in one process, on one thread unless the line says otherwise;
ratios are medians over the rounds. Ends with an error if a line falls short of what is promised.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

# The floor of a read is to be that of one thread.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import ruptures
import scipy.stats
from paired import in_turn, ratio, seconds

from fastrnns_rs import stats

RESAMPLES = 100_000
#: What the child allocates apart from the call itself, the import and its samples, is done before the first look.
MEMORY = """
import numpy as np
from fastrnns_rs import stats
def peak():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024
samples = np.random.default_rng(0).lognormal(0, 0.1, 1000)
stats.bootstrap_ci(samples, method="bca", resamples=1000)
before = peak()
stats.bootstrap_ci(samples, method="bca", resamples={resamples}, threads={threads})
print(peak() - before)
"""


@dataclass
class Line:
    """One row: what is done, by whom, and by what factor ours is to be quicker."""

    work: str
    #: The function of `stats` that does it.
    function: str
    peer: str
    ours: Callable[[], object]
    theirs: Callable[[], object]
    promised: float
    rounds: int = 5
    #: Calls a measurement, where one is too short for the clock.
    calls: int = 1
    #: What no program can be quicker than: several ways to read the same bytes, of which the best counts.
    floors: tuple[Callable[[], object], ...] = ()
    #: At most so many times the floor.
    above_floor: float | None = None


def each(call: Callable[[], object], times: int) -> Callable[[], float]:
    """Seconds of one of so many calls."""

    def run() -> float:
        return seconds(lambda: [call() for _ in range(times)]) / times

    return run


def shown(value: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def measure(line: Line) -> bool:
    """Prints the row of `line`; whether it keeps its promises."""
    floors = {f"floor{place}": each(floor, line.calls) for place, floor in enumerate(line.floors)}
    line.ours()
    found = in_turn(line.rounds, ours=each(line.ours, line.calls), theirs=each(line.theirs, 1), **floors)
    ours, theirs = found.pop("ours"), found.pop("theirs")
    times = ratio(theirs, ours)
    kept = times >= line.promised
    promised, floor = f"≥ {line.promised:g}x", "-"
    if floors:
        best = [min(values) for values in zip(*found.values(), strict=True)]
        above = ratio(ours, best)
        floor = f"{shown(statistics.median(best))}, ours {above:.2f}x"
        if line.above_floor is not None:
            promised += f", ≤ {line.above_floor:g}x of the floor"
            kept = kept and above <= line.above_floor
    row(
        line.work,
        shown(statistics.median(ours)),
        f"{shown(statistics.median(theirs))}, {line.peer}",
        f"{times:.1f}x",
        promised,
        "kept" if kept else "**not kept**",
        floor,
    )
    return kept


def row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


def reads(samples: np.ndarray) -> tuple[Callable[[], object], ...]:
    """Ways to look at every sample once on one thread, whose work should hide behind the memory."""
    return samples.max, samples.min, samples.sum, lambda: np.dot(samples, samples)


def resampling(generator: np.random.Generator) -> Iterator[Line]:
    samples = generator.lognormal(0, 0.1, 1000)

    def bootstrap(statistic: Callable[..., object], method: str) -> object:
        return scipy.stats.bootstrap((samples,), statistic, n_resamples=RESAMPLES, method=method, rng=1)

    for threads, promised in ((1, 8.0), (2, 15.0)):
        yield Line(
            f"BCa interval of a mean, n=1000, 100k resamples, {threads} thread{'s' if threads > 1 else ''}",
            "bootstrap_ci",
            "scipy.stats.bootstrap",
            lambda threads=threads: stats.bootstrap_ci(samples, method="bca", resamples=RESAMPLES, threads=threads),
            lambda: bootstrap(np.mean, "BCa"),
            promised,
            rounds=3,
        )
    yield Line(
        "exact bootstrap interval of a median, n=1000",
        "bootstrap_ci",
        "scipy.stats.bootstrap, percentile, 100k resamples",
        lambda: stats.bootstrap_ci(samples, statistic="median", method="exact"),
        lambda: bootstrap(np.median, "percentile"),
        1000,
        rounds=3,
        calls=20,
    )


def comparing(generator: np.random.Generator) -> Iterator[Line]:
    def difference(baseline: np.ndarray, candidate: np.ndarray, axis: int) -> np.ndarray:
        return np.mean(baseline, axis=axis) - np.mean(candidate, axis=axis)

    def permutation_test(sides: tuple[np.ndarray, np.ndarray]) -> object:
        return scipy.stats.permutation_test(sides, difference, vectorized=True, n_resamples=RESAMPLES, rng=1)

    for n in (30, 100):
        sides = generator.lognormal(0, 0.1, n), generator.lognormal(0.01, 0.1, n)
        yield Line(
            f"permutation test of means, {n}+{n}, 100k permutations",
            "permutation_test",
            "scipy.stats.permutation_test, vectorized",
            lambda sides=sides: stats.permutation_test(*sides, resamples=RESAMPLES, threads=1),
            lambda sides=sides: permutation_test(sides),
            30,
            rounds=3,
        )
    baseline, candidate = generator.lognormal(0, 0.1, 1000), generator.lognormal(0.01, 0.1, 1000)
    yield Line(
        "Mann-Whitney test, 1000+1000",
        "mann_whitney",
        "scipy.stats.mannwhitneyu",
        lambda: stats.mann_whitney(baseline, candidate),
        lambda: scipy.stats.mannwhitneyu(baseline, candidate),
        10,
        rounds=51,
        calls=20,
    )


def reading(generator: np.random.Generator) -> Iterator[Line]:
    many = generator.lognormal(13, 0.1, 100_000_000)
    yield Line(
        "mean, variance, minimum and maximum of 1e8 float64",
        "moments",
        "np.std alone",
        lambda: stats.moments(many),
        many.std,
        5,
        floors=reads(many),
        above_floor=1.6,
    )
    fewer = many[:10_000_000].copy()
    yield Line(
        "median of 1e7 float64",
        "quantiles",
        "np.median",
        lambda: stats.quantiles(fewer, [0.5]),
        lambda: np.median(fewer),
        5,
        rounds=9,
        floors=reads(fewer),
    )


def segmenting(generator: np.random.Generator, n: int, rounds: int) -> Iterator[Line]:
    """A level that changes ten times, by three times its noise."""
    series = np.repeat(3.0 * generator.permutation(10), n // 10) + generator.normal(0, 1, n)
    penalty = 3 * math.log(n)

    def pelt() -> list[int]:
        return ruptures.Pelt(model="l2", min_size=2, jump=1).fit(series).predict(pen=penalty)

    yield Line(
        f"change points by PELT, n={n}, every place tried",
        "changepoints",
        "ruptures.Pelt, l2, jump=1",
        lambda: stats.changepoints(series, cost="mean", penalty=penalty, min_size=2, jump=1),
        pelt,
        1000,
        rounds=rounds,
        calls=5,
    )


def memory(threads: int, limit: float = 20) -> bool:
    """The row of the bootstrap's memory, in a process of its own; whether it keeps its promise."""
    code = MEMORY.format(resamples=RESAMPLES, threads=threads)
    grown = float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    kept = grown < limit
    work = f"memory of the BCa interval above, {threads} thread{'s' if threads > 1 else ''}"
    row(work, f"{grown:.1f} MiB", "-", "-", f"< {limit:g} MiB", "kept" if kept else "**not kept**", "-")
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="also ten thousand points by ruptures: some seven minutes")
    parser.add_argument("--only", default="", metavar="WORD", help="only functions with this in their name")
    given = parser.parse_args()

    def lines() -> Iterator[Line]:
        yield from resampling(np.random.default_rng(1))
        yield from comparing(np.random.default_rng(2))
        if given.only in "moments quantiles":
            yield from reading(np.random.default_rng(3))
        yield from segmenting(np.random.default_rng(4), 1000, 3)
        if given.full:
            yield from segmenting(np.random.default_rng(5), 10_000, 1)

    row("work", "ours", "peer", "ratio", "promised", "", "floor: one read of the samples")
    row(*["---"] * 7)
    short: list[str] = []
    for line in lines():
        if given.only not in line.function:
            continue
        if not measure(line):
            short.append(line.work)
    if given.only in "bootstrap_ci":
        short.extend("memory" for threads in (1, 2) if not memory(threads))
    if short:
        sys.exit(f"{len(short)} lines fall short: {'; '.join(short)}")


if __name__ == "__main__":
    main()
