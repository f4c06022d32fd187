"""How often processes are said to form two groups, by simulation of their medians."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from validation_tables import Table

from fastrnns_rs.machine.warnings.modes import _border

Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]

COUNTS = (5, 6, 8, 10, 20)
#: Phases of a run: one runner with forward and backward, and twelve.
PHASES = (2, 24)
_SPREAD = 0.05
_SLOWER = 1.08

#: Laws of the logarithms of process medians, without groups.
UNIMODAL: dict[str, Draw] = {
    "normal": lambda generator, size: generator.standard_normal(size),
    "uniform": lambda generator, size: generator.random(size),
    "exponential": lambda generator, size: generator.exponential(size=size),
    "lognormal, sd 1": lambda generator, size: generator.lognormal(0, 1, size),
    "Pareto, shape 2": lambda generator, size: generator.pareto(2, size),
}


def mixed(share: float, spread: float) -> Draw:
    """Processes of which a share is 8 % slower, and which vary so much within each kind."""
    return lambda generator, size: (
        spread * generator.standard_normal(size) + np.log(_SLOWER) * (generator.random(size) < share)
    )


#: The same with groups.
BIMODAL = {
    f"{share:.0%} are 8 % slower, spread {spread:.1%}": mixed(share, spread)
    for share in (0.2, 0.5)
    for spread in (0.001, 0.003, 0.01)
}


def shares(draw: Draw, count: int, trials: int, seed: list[int]) -> list[float]:
    """The share of rows with two groups, for each number of phases of the run."""
    drawn = draw(np.random.default_rng(seed), (trials, count))
    medians = np.sort(1e6 * np.exp(drawn), axis=1).tolist()
    return [float(np.mean([_border(row, 1, phases) is not None for row in medians])) for phases in PHASES]


def table(trials: int) -> tuple[Table, dict[tuple[str, int, int], float]]:
    """Runs without groups that are warned of, and rows with groups that are found."""
    found: dict[tuple[str, int, int], float] = {}
    for number, (name, draw) in enumerate((UNIMODAL | BIMODAL).items()):
        for count in COUNTS:
            scaled = draw if name in BIMODAL else (lambda *given, law=draw: _SPREAD * law(*given))
            rows_drawn = trials // 5 if name in BIMODAL else trials
            for phases, share in zip(PHASES, shares(scaled, count, rows_drawn, [number, count]), strict=True):
                # A run without groups causes a warning if one of its rows does.
                found[name, count, phases] = share if name in BIMODAL else 1 - (1 - share) ** phases
    columns = [f"{count}, {phases} rows" for phases in PHASES for count in COUNTS]
    rows = [
        (name, *(f"{found[name, count, phases]:.1%}" for phases in PHASES for count in COUNTS))
        for name in UNIMODAL | BIMODAL
    ]
    title = (
        "Warning `process_modes`, by number of processes and of rows: runs without groups that cause it, and rows with "
        "groups that it names"
    )
    return Table(title, ("processes", *columns), tuple(rows)), found
