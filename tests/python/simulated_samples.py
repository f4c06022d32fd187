"""Samples whose truth is known: what benchmarks look like, and what is hard for intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.optimize
import scipy.signal
import scipy.stats

#: The level around which times lie: any unit.
LEVEL = 100.0

Draw = Callable[[np.random.Generator, int, int], np.ndarray]


@dataclass(frozen=True)
class Law:
    """Samples of one process: how to draw (trials, n) of them, and their true median."""

    name: str
    draw: Draw
    median: float


def mixture_median(other_share: float, other_mean: float, other_stddev: float) -> float:
    """The median of a normal law around LEVEL of which a share comes from another normal law."""

    def excess(x: float) -> float:
        here = (1 - other_share) * scipy.stats.norm.cdf(x, LEVEL, 1)
        return here + other_share * scipy.stats.norm.cdf(x, other_mean, other_stddev) - 0.5

    return scipy.optimize.brentq(excess, LEVEL - 10, other_mean + 10, xtol=1e-12)


def mixture(other_share: float, other_mean: float, other_stddev: float) -> Draw:
    def draw(generator: np.random.Generator, trials: int, n: int) -> np.ndarray:
        here = generator.normal(LEVEL, 1, (trials, n))
        there = generator.normal(other_mean, other_stddev, (trials, n))
        return np.where(generator.random((trials, n)) < other_share, there, here)

    return draw


def autoregressive(rho: float) -> Law:
    """AR(1) with standard deviation 1 around LEVEL, stationary from its first sample."""

    def draw(generator: np.random.Generator, trials: int, n: int) -> np.ndarray:
        return LEVEL + autoregression(generator, (trials, n), rho)

    return Law(f"AR({rho:g})", draw, LEVEL)


def autoregression(generator: np.random.Generator, shape: tuple[int, ...], rho: float) -> np.ndarray:
    """AR(1) along the last axis with mean 0 and standard deviation 1."""
    shocks = generator.normal(size=shape)
    shocks[..., 1:] *= np.sqrt(1 - rho * rho)
    return scipy.signal.lfilter([1.0], [1.0, -rho], shocks, axis=-1)


#: Independent samples.
INDEPENDENT = (
    Law("normal", lambda generator, trials, n: generator.normal(LEVEL, 1, (trials, n)), LEVEL),
    Law("lognormal", lambda generator, trials, n: LEVEL * generator.lognormal(0, 1, (trials, n)), LEVEL),
    Law("bimodal", mixture(0.3, 106, 1), mixture_median(0.3, 106, 1)),
    Law("2 % spikes", mixture(0.02, 1000, 10), mixture_median(0.02, 1000, 10)),
    Law("quantised", lambda generator, trials, n: np.round(generator.normal(LEVEL, 1, (trials, n))), LEVEL),
)

#: Samples that depend on the one before.
DEPENDENT = tuple(autoregressive(rho) for rho in (0.3, 0.5, 0.8, 0.95))

#: The standard deviation between processes, and within one, of logarithms.
BETWEEN, WITHIN = 0.01, 0.02


def hierarchical(generator: np.random.Generator, trials: int, processes: int, samples: int) -> np.ndarray:
    """Processes that differ, each with AR(.7) samples: (trials, processes, samples) whose median is LEVEL."""
    effects = generator.normal(0, BETWEEN, (trials, processes, 1))
    return LEVEL * np.exp(effects + within(generator, (trials, processes, samples)))


def drifting(generator: np.random.Generator, trials: int, processes: int, samples: int) -> np.ndarray:
    """The same on a machine that slows down evenly, by 2 % from the first sample to the last; its mean is LEVEL."""
    drift = 0.02 * (np.arange(processes * samples) / (processes * samples - 1) - 0.5)
    return hierarchical(generator, trials, processes, samples) * np.exp(drift.reshape(processes, samples))


def wandering(generator: np.random.Generator, trials: int, processes: int, samples: int) -> np.ndarray:
    """Processes of which each starts from where the one before was; the first one starts from LEVEL."""
    effects = np.cumsum(generator.normal(0, BETWEEN, (trials, processes, 1)), axis=1)
    return LEVEL * np.exp(effects + within(generator, (trials, processes, samples)))


def within(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return WITHIN * autoregression(generator, shape, 0.7)
