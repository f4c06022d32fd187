"""Simulations of `ab`: a machine whose speed changes while both sides are measured in pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.signal import lfilter
from validating_verdicts import DIFFERENT, percent
from validation_tables import Table

from fastrnns_rs import stats
from fastrnns_rs.verbs.bench.bench_plan import rounds

PROCESSES = 10


@dataclass(frozen=True)
class Noise:
    """Logarithms of the times of consecutive processes, without a difference between the sides.

    Attributes:
        name: Name in the tables.
        draw: Function that draws the noise of `2 * PROCESSES` processes.
        effect: Difference that is looked for: one that this noise leaves visible.
    """

    name: str
    draw: Callable[[Generator], np.ndarray]
    effect: float


def white(rng: Generator, count: int = 2 * PROCESSES) -> np.ndarray:
    return 0.01 * rng.standard_normal(count)


def autoregressive(coefficient: float, stddev: float, count: int = 2 * PROCESSES) -> Callable[[Generator], np.ndarray]:
    def draw(rng: Generator) -> np.ndarray:
        settled = 200
        noise = lfilter([1.0], [1.0, -coefficient], rng.standard_normal(count + settled))
        return stddev * np.sqrt(1 - coefficient**2) * np.asarray(noise)[settled:]

    return draw


def drift(rng: Generator) -> np.ndarray:
    """4 % from the first to the last process."""
    return 0.04 * np.linspace(0, 1, 2 * PROCESSES) + 0.005 * rng.standard_normal(2 * PROCESSES)


def walk(rng: Generator) -> np.ndarray:
    return np.cumsum(0.005 * rng.standard_normal(2 * PROCESSES))


NOISES = (
    Noise("white, 1 %", white, 0.012),
    Noise("AR(.36), 5 %", autoregressive(0.36, 0.05), 0.06),
    Noise("AR(.9), 1 %", autoregressive(0.9, 0.01), 0.01),
    Noise("drift of 4 %", drift, 0.01),
    Noise("random walk", walk, 0.01),
)


def found_different(noise: Noise, effect: float, trials: int, seed: int) -> tuple[float, float]:
    """Shares of trials that Welch's t and the t of pairs call different, in the real order of `ab`."""
    rng = np.random.default_rng(seed)
    counts = [0, 0]
    for _ in range(trials):
        pairs = rounds(2, int(rng.integers(2**32)))
        order = np.concatenate([next(pairs)[0] for _ in range(PROCESSES)])
        times = np.exp(noise.draw(rng) + np.log1p(effect) * order)
        baseline, candidate = times[order == 0], times[order == 1]
        for place, paired in enumerate((False, True)):
            verdict = stats.compare_samples(baseline, candidate, margin=0.001, paired=paired).verdict
            counts[place] += verdict in DIFFERENT
    return counts[0] / trials, counts[1] / trials


def blocks(trials: int) -> tuple[Table, dict[tuple[str, bool], tuple[float, float]]]:
    """Shares called different by Welch's t and by pairs: without a difference, and with one."""
    numbers, rows = {}, []
    for row, noise in enumerate(NOISES):
        cells = []
        for column, effect in enumerate((0.0, noise.effect)):
            numbers[noise.name, bool(effect)] = found_different(noise, effect, trials, seed=1300 + 10 * row + column)
            cells += map(percent, numbers[noise.name, bool(effect)])
        rows.append((noise.name, cells[0], cells[1], percent(noise.effect), cells[2], cells[3]))
    columns = ("noise", "no difference: Welch", "pairs", "difference, %", "found: Welch", "pairs")
    title = f"Called different in the order of `ab`, {PROCESSES} + {PROCESSES} processes, % of {trials}"
    return Table(title, columns, tuple(rows)), numbers
