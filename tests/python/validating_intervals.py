"""How often intervals hold the truth, and what stopping on their width does to that, by simulation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.stats
from simulated_samples import DEPENDENT, INDEPENDENT, LEVEL, Law, drifting, hierarchical, wandering
from validation_tables import Table

from fastrnns_rs import stats

#: Samples of a process in the simulations of several.
SAMPLES = 50
#: Drawn at once: some tens of megabytes.
DRAWN = 2_000_000


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def process_coverage(trials: int) -> tuple[Table, dict[tuple[str, int], float]]:
    """The share of `process_ci`'s intervals that hold the truth, by kind of data and number of processes."""
    kinds = {"hierarchical": hierarchical, "linear drift": drifting, "random walk": wandering}
    counts = (3, 5, 10, 20)
    found = {}
    for number, (kind, draw) in enumerate(kinds.items()):
        for count in counts:
            generator = np.random.default_rng([1, number, count])
            held = 0
            for part in parts(trials, count * SAMPLES):
                for processes in draw(generator, part, count, SAMPLES):
                    interval = stats.process_ci(processes)
                    held += interval.ci_low <= LEVEL <= interval.ci_high
            found[kind, count] = held / trials
    rows = tuple((kind, *(percent(found[kind, count]) for count in counts)) for kind in kinds)
    title = "Coverage of the 95 % interval of `process_ci`, by number of processes"
    return Table(title, ("data", *map(str, counts)), rows), found


def two_kinds_coverage(trials: int) -> tuple[Table, dict[int, float]]:
    """The coverage of `process_ci` where one process in five is 8 % slower, by number of processes."""
    counts, share, slower, spread = (3, 5, 10, 14, 20, 40), 0.2, np.log(1.08), 0.003
    truth, found, missing = np.exp(share * slower), {}, {}
    for count in counts:
        generator = np.random.default_rng([6, count])
        second = generator.random((trials, count)) < share
        medians = np.exp(slower * second + spread * generator.standard_normal((trials, count)))
        intervals = [stats.process_ci(one) for one in medians]
        found[count] = float(np.mean([one.ci_low <= truth <= one.ci_high for one in intervals]))
        missing[count] = float(np.mean(~second.any(axis=1)))
    rows = (
        ("coverage", *(percent(found[count]) for count in counts)),
        ("no process of the second kind", *(percent(missing[count]) for count in counts)),
    )
    title = "Coverage of the 95 % interval of `process_ci` with two kinds of processes, by number of processes"
    return Table(title, ("runs", *map(str, counts)), rows), found


@dataclass(frozen=True)
class MedianCoverage:
    """Of `median_ci` on many sets of samples: the shares of intervals that hold the truth, and that are ranges."""

    held: float
    ranges: float


def median_coverage(trials: int, *, independent: bool = False) -> tuple[Table, dict[tuple[str, int], MedianCoverage]]:
    """The coverage of `median_ci`, by kind of data and number of samples."""
    counts = (10, 30, 100, 300, 1000)
    laws = INDEPENDENT if independent else (*INDEPENDENT, *DEPENDENT)
    found = {}
    for number, law in enumerate(laws):
        for count in counts:
            if law in INDEPENDENT or count >= 100:
                found[law.name, count] = coverage_of(law, count, trials, [2, number, count], independent)
    rows = tuple((law.name, *(shown(found.get((law.name, count))) for count in counts)) for law in laws)
    title = (
        "Coverage of the 95 % interval of `median_ci`, by number of samples "
        "(in brackets: intervals that are no more than the range of the samples)"
    )
    return Table(title, ("data", *map(str, counts)), rows), found


def coverage_of(law: Law, count: int, trials: int, seed: list[int], independent: bool) -> MedianCoverage:
    generator = np.random.default_rng(seed)
    held = ranges = 0
    for part in parts(trials, count):
        for samples in law.draw(generator, part, count):
            interval = stats.median_ci(samples, independent=independent)
            held += interval.ci_low <= law.median <= interval.ci_high
            ranges += interval.ci_method == "sample_range"
    return MedianCoverage(held / trials, ranges / trials)


def shown(found: MedianCoverage | None) -> str:
    if found is None:
        return ""
    return percent(found.held) + (f" ({percent(found.ranges)})" if found.ranges else "")


@dataclass(frozen=True)
class Stopping:
    """What a loop that ends by `precision_reached` comes to."""

    #: The share of final intervals that hold the truth, counted.
    held: float
    #: The same as each interval's chance: the mean of normal logarithms does not depend on their spread, by which alone
    #: the loop ends. It is the same number with much less noise.
    chance: float
    #: Processes until the end, on average.
    processes: float
    #: The share that ended at the cap.
    capped: float
    #: Both numbers for a loop that ends as soon as the half width fits.
    naive_chance: float
    naive_processes: float


def precision_stopping(trials: int, cap: int = 200) -> tuple[Table, dict[tuple[float, float], Stopping]]:
    """Coverage of the final interval, by spread of the processes and target."""
    spreads, targets = (0.005, 0.01, 0.02, 0.04), (0.005, 0.0075, 0.01, 0.02)
    # The same numbers for each: differences between rows are those of the rule.
    normal = np.random.default_rng(3).normal(size=(trials, cap))
    found = {(spread, target): stopping(normal * spread, spread, target) for spread in spreads for target in targets}
    rows = tuple(
        (
            f"{100 * spread:g} % spread, target {100 * target:g} %",
            percent(one.chance),
            f"{one.processes:.1f}",
            percent(one.naive_chance),
            f"{one.naive_processes:.1f}",
            percent(one.capped),
        )
        for (spread, target), one in found.items()
    )
    columns = ("processes", "coverage", "mean number", "coverage, first fit", "mean number, first fit", "at the cap")
    return Table(f"Stopping by `precision_reached`, at most {cap} processes", columns, rows), found


def stopping(logs: np.ndarray, spread: float, target: float) -> Stopping:
    ends = [run(np.exp(one), target) for one in logs]
    chances = [chance(np.log1p(half_width), count, spread) for count, half_width, _, _ in ends]
    naive_counts, naive_half_widths = first_fits(logs, np.log1p(target))
    return Stopping(
        held=float(np.mean([held for _, _, held, _ in ends])),
        chance=float(np.mean(chances)),
        processes=float(np.mean([count for count, _, _, _ in ends])),
        capped=float(np.mean([not reached for _, _, _, reached in ends])),
        naive_chance=float(np.mean(chance(naive_half_widths, naive_counts, spread))),
        naive_processes=float(np.mean(naive_counts)),
    )


def run(medians: np.ndarray, target: float) -> tuple[int, float, bool, bool]:
    """Number of processes, half width, whether the interval holds 1, and whether the cap left the target unreached."""
    count = 5
    while not (found := stats.precision_reached(medians[:count], target=target)).reached and count < len(medians):
        # As many as it takes at least; one at a time ends at the same number, as another test shows.
        count = min(count + found.further, len(medians))
    interval = stats.process_ci(medians[:count])
    return count, interval.half_width, interval.ci_low <= 1 <= interval.ci_high, found.reached


def chance(log_half_width: float | np.ndarray, count: int | np.ndarray, spread: float) -> float | np.ndarray:
    return 2 * scipy.stats.norm.cdf(log_half_width * np.sqrt(count) / spread) - 1


def first_fits(logs: np.ndarray, log_target: float) -> tuple[np.ndarray, np.ndarray]:
    """The number of processes, from 5 on, at which each row's half width first fits, and that half width."""
    counts = np.arange(1, logs.shape[1] + 1)
    means = np.cumsum(logs, axis=1) / counts
    squares = np.cumsum(logs**2, axis=1) - counts * means**2
    half_widths = np.full(logs.shape, np.inf)
    later = counts[4:]
    half_widths[:, 4:] = scipy.stats.t.ppf(0.975, later - 1) * np.sqrt(squares[:, 4:] / (later - 1) / later)
    fits = half_widths <= log_target
    fits[:, -1] = True
    first = fits.argmax(axis=1)
    return counts[first], half_widths[np.arange(len(logs)), first]


def parts(trials: int, numbers_each: int) -> list[int]:
    """The trials in parts that fit into memory."""
    size = max(1, DRAWN // numbers_each)
    return [min(size, trials - start) for start in range(0, trials, size)]
