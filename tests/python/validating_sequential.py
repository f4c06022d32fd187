"""Simulations of `ab --until decided`: a verdict after each pair, which may end the measurement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.stats
from validating_verdicts import DIFFERENT, percent
from validation_tables import Table

from fastrnns_rs import stats

PAIRS = 100
#: Standard deviation of the difference of a pair, and the margin.
SPREAD, MARGIN = 0.014, 0.01
#: Below this number of pairs there is no interval.
LEAST = 4


@dataclass(frozen=True)
class Stopped:
    """Shares of trials, each with up to 100 pairs that are looked at one by one.

    Attributes:
        different: Ever called faster or slower.
        equivalent: Ever called equivalent, before anything else.
        covered: The interval held the truth after every pair.
        pairs: Mean number of pairs until a verdict, 100 without one.
        peeking: Ever called different by Student's t of the pairs so far.
    """

    different: float
    equivalent: float
    covered: float
    pairs: float
    peeking: float


def peeked(differences: np.ndarray) -> bool:
    """Was Student's t of the pairs so far ever significant at 5 %?"""
    counts = np.arange(1, PAIRS + 1)
    means = np.cumsum(differences) / counts
    squares = np.cumsum(differences**2) - counts * means**2
    counts, means, squares = (one[LEAST - 1 :] for one in (counts, means, squares))
    statistics = np.abs(means) / np.sqrt(squares / (counts - 1) / counts)
    return bool((statistics > scipy.stats.t.ppf(0.975, counts - 1)).any())


def looked_at(effect: float, trials: int, seed: int, *, tails: bool = False) -> Stopped:
    """Measures until a verdict, with a true difference of `effect`."""
    rng = np.random.default_rng(seed)
    different = equivalent = covered = pairs = peeking = 0
    for _ in range(trials):
        noise = rng.standard_t(4, PAIRS) / np.sqrt(2) if tails else rng.standard_normal(PAIRS)
        baseline = np.exp(np.cumsum(0.005 * rng.standard_normal(PAIRS)))
        candidate = baseline * np.exp(np.log1p(effect) + SPREAD * noise)
        verdict, end, holds = "inconclusive", PAIRS, True
        for count in range(LEAST, PAIRS + 1):
            sides = baseline[:count], candidate[:count]
            found = stats.compare_samples(*sides, margin=MARGIN, paired=True, anytime=True)
            if found.ratio_ci_low is not None and found.ratio_ci_high is not None:
                holds = holds and found.ratio_ci_low <= 1 + effect <= found.ratio_ci_high
            if verdict == "inconclusive" and found.verdict != "inconclusive":
                verdict, end = found.verdict, count
        different += verdict in DIFFERENT
        equivalent += verdict == "equivalent"
        covered += holds
        pairs += end
        peeking += peeked(np.log(candidate / baseline))
    return Stopped(*(one / trials for one in (different, equivalent, covered, pairs, peeking)))


#: True difference, and whether pairs have the tails of Student's t with four degrees of freedom.
CASES = {
    "no difference": (0.0, False),
    "no difference, heavy tails": (0.0, True),
    "at the margin, 1 %": (MARGIN, False),
    "2 %": (0.02, False),
    "-2 %": (-0.02, False),
}


def sequential(trials: int) -> tuple[Table, dict[str, Stopped]]:
    """Verdicts of pairs that are looked at one by one."""
    found = {
        name: looked_at(effect, trials, seed=2700 + place, tails=tails)
        for place, (name, (effect, tails)) in enumerate(CASES.items())
    }
    rows = tuple(
        (
            name,
            percent(one.different),
            percent(one.equivalent),
            percent(one.covered),
            f"{one.pairs:.1f}",
            percent(one.peeking),
        )
        for name, one in found.items()
    )
    columns = ("true difference", "different", "equivalent", "always covered", "pairs", "different, peeking with t")
    title = f"`ab --until decided` with up to {PAIRS} pairs, pair differences vary by 1.4 %, % of {trials}"
    return Table(title, columns, rows), found
