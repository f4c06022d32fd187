"""How many modes `modality` finds in samples whose modes are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from validation_tables import Table

from fastrnns_rs import stats

Draw = Callable[[np.random.Generator, int], np.ndarray]


def two(generator: np.random.Generator, n: int, first: float = 0.7) -> np.ndarray:
    """Two normal modes 6 standard deviations apart; each sample belongs to the first with that probability."""
    return generator.normal(np.where(generator.random(n) < first, 0.0, 6.0), 1)


def two_exactly(generator: np.random.Generator, n: int) -> np.ndarray:
    """The same with exactly 70 % of the samples in the first."""
    return generator.normal(np.where(np.arange(n) < 0.7 * n, 0.0, 6.0), 1)


def ticked(draw: Draw, tick: float) -> Draw:
    """What a clock that ticks so far apart shows."""
    return lambda generator, n: np.round(draw(generator, n) / tick) * tick


def lognormal(generator: np.random.Generator, n: int) -> np.ndarray:
    return generator.lognormal(0, 1, n)


def timings(generator: np.random.Generator, n: int) -> np.ndarray:
    """As wide as timings are: 10 %."""
    return generator.lognormal(13, 0.1, n)


def normal(generator: np.random.Generator, n: int) -> np.ndarray:
    return generator.normal(size=n)


@dataclass(frozen=True)
class Shape:
    name: str
    draw: Draw
    modes: int
    #: The share of trials that must find them; None where it is shown only.
    gate: float | None = 0.95
    least: int = 30


SHAPES = [
    Shape("normal", normal, 1),
    Shape("lognormal, sd 1", lognormal, 1),
    Shape("lognormal, sd 0.1", timings, 1),
    Shape("exponential", lambda generator, n: generator.exponential(size=n), 1),
    # The dip test takes this for the limit of one mode: 5 % by design.
    Shape("uniform", lambda generator, n: generator.random(n), 1, gate=None),
    Shape("Pareto, shape 2", lambda generator, n: generator.pareto(2, n), 1, gate=None),
    Shape("lognormal, sd 1, tick sd/8", ticked(lognormal, 1 / 8), 1),
    Shape("lognormal, sd 0.1, tick sd/8", ticked(timings, np.exp(13) * 0.1 / 8), 1),
    Shape("normal, tick sd", ticked(normal, 1.0), 1),
    Shape("70 % and 30 %, 6 sd apart", two, 2, least=50),
    Shape("exactly 70 % and 30 %", two_exactly, 2, least=50),
    Shape("70 % and 30 %, tick sd/8", ticked(two, 1 / 8), 2, least=50),
    Shape("90 % and 10 %", lambda generator, n: two(generator, n, 0.9), 2, gate=None, least=300),
]


def share_found(shape: Shape, n: int, trials: int) -> float:
    """In what part of the trials as many modes are found as there are."""
    generator = np.random.default_rng([n, SHAPES.index(shape)])
    return float(np.mean([len(stats.modality(shape.draw(generator, n)).modes) == shape.modes for _ in range(trials)]))


def table(sizes: list[int], trials: Callable[[int], int]) -> tuple[Table, dict[tuple[str, int], float]]:
    """The shares for each shape and size."""
    found = {(shape.name, n): share_found(shape, n, trials(n)) for shape in SHAPES for n in sizes if n >= shape.least}

    def cells(shape: Shape) -> list[str]:
        return [f"{found[shape.name, n]:.1%}" if (shape.name, n) in found else "" for n in sizes]

    rows = [(shape.name, str(shape.modes), *cells(shape)) for shape in SHAPES]
    title = "Trials that find the modes there are"
    return Table(title, ("samples", "modes", *map(str, sizes)), tuple(rows)), found
