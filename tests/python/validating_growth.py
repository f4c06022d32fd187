"""How often `growth` calls a power law not straight, and how often it finds a bend, with unequal variances."""

from __future__ import annotations

import numpy as np
from validation_tables import Table

from fastrnns_rs import stats

SIZES = 64.0 * 2.0 ** np.arange(6)
EXPONENT = 1.3
#: Standard deviations of the logarithms of process medians, by size.
NOISES = {
    "2 % at all sizes": np.full(6, 0.02),
    "20 % at the two smallest, 1 % at the others": np.array([0.2, 0.2, 0.01, 0.01, 0.01, 0.01]),
    "20 % at one size, 1 % at the others": np.array([0.01, 0.01, 0.2, 0.01, 0.01, 0.01]),
    "from 20 % down to 0.5 %": np.geomspace(0.2, 0.005, 6),
}
COUNTS = (3, 5, 10)
#: How far the largest size lies above the line through the others.
BEND = 0.06


def rejected(noise: np.ndarray, count: int, bend: float, trials: int, seed: list[int]) -> float:
    """The share of sweeps whose p-value of a straight line is below 5 %."""
    generator = np.random.default_rng(seed)
    logs = EXPONENT * np.log(SIZES) + np.where(SIZES[-1] == SIZES, np.log1p(bend), 0.0)
    made = np.exp(logs[:, None] + noise[:, None] * generator.standard_normal((trials, len(SIZES), count)))
    found = [stats.growth(SIZES, trial).lack_of_fit_p for trial in made]
    return float(np.mean([one is not None and one < 0.05 for one in found]))


def table(trials: int) -> tuple[Table, dict[tuple[str, int, float], float]]:
    """The shares by noise, number of processes of each size, and bend."""
    found = {
        (name, count, bend): rejected(noise, count, bend, trials // 4 if bend else trials, [number, count, bend > 0])
        for number, (name, noise) in enumerate(NOISES.items())
        for count in COUNTS
        for bend in (0.0, BEND)
    }
    rows = [(name, *(f"{found[name, count, bend]:.1%}" for bend in (0.0, BEND) for count in COUNTS)) for name in NOISES]
    headings = [f"{kind}, {count}" for kind in ("power law", f"bend of {BEND:.0%}") for count in COUNTS]
    title = "Sweeps of six sizes that are called not straight, by number of processes of each size"
    return Table(title, ("noise", *headings), tuple(rows)), found
