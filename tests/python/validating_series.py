"""How often iteration times of known shape are told right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from validation_tables import Table

from fastrnns_rs.stats import steady_state

#: Iterations in a process.
ITERATIONS = 500
TIMES = np.arange(ITERATIONS)

Draw = Callable[[np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class Shape:
    """A way in which iteration times go, and what ought to be said of it."""

    name: str
    expected: str
    draw: Draw


@dataclass(frozen=True)
class Told:
    """What was said of many processes of one shape."""

    shape: Shape
    #: The share of them that was told right.
    right: float
    #: The 5th, 50th and 95th percentile of the first steady iteration, of those that had one.
    steady_from: tuple[float, float, float] | None


def noise(rng: np.random.Generator, spread: float, correlation: float = 0.2) -> np.ndarray:
    """Factors around 1 whose logarithms are a first-order autoregression."""
    runs_in = 100
    steps = rng.normal(size=ITERATIONS + runs_in) * spread * np.sqrt(1 - correlation**2)
    values = np.zeros_like(steps)
    for place in range(1, len(steps)):
        values[place] = correlation * values[place - 1] + steps[place]
    return np.exp(values[runs_in:])


def flat() -> list[Shape]:
    """Nothing changes, whatever the noise."""

    def two_modes(share: float, ratio: float) -> Draw:
        return lambda rng: np.where(rng.random(ITERATIONS) < share, ratio, 1) * noise(rng, 0.01, 0)

    shapes = [
        (f"noise {spread:.0%}, AR({correlation})", lambda rng, s=spread, c=correlation: noise(rng, s, c))
        for spread in (0.01, 0.03, 0.09)
        for correlation in (0.0, 0.7)
    ]
    shapes += [
        ("modes 1 and 1.2, half each", two_modes(0.5, 1.2)),
        ("modes 1 and 1.5, one in five slow", two_modes(0.2, 1.5)),
        ("2 % outliers of 3 times", two_modes(0.02, 3.0)),
        ("log-normal tail", lambda rng: 1 + 0.05 * rng.lognormal(0, 1, ITERATIONS)),
        ("clock of 2 % steps", lambda rng: np.round(50 * noise(rng, 0.02))),
        ("first call 20 times", lambda rng: np.where(TIMES == 0, 20, 1) * noise(rng, 0.02)),
        ("one burst of 9 at 1.5 times", lambda rng: burst(rng.integers(50, 450)) * noise(rng, 0.02)),
    ]
    return [Shape(name, "flat", draw) for name, draw in shapes]


def burst(place: int) -> np.ndarray:
    return np.where(np.abs(TIMES - place) < 5, 1.5, 1)


def settling(height: float, spread: float) -> Shape:
    """Falls exponentially: after 75 iterations a twentieth of the height is left."""

    def draw(rng: np.random.Generator) -> np.ndarray:
        return (1 + height * np.exp(-TIMES / 25)) * noise(rng, spread)

    return Shape(f"settles from {height:+.0%} within 75, noise {spread:.0%}", "warmup", draw)


def step(height: float, spread: float, at: int) -> Shape:
    """One change of level."""

    def draw(rng: np.random.Generator) -> np.ndarray:
        return np.where(at > TIMES, 1 + height, 1) * noise(rng, spread)

    expected = "warmup" if height > 0 else "slowdown"
    return Shape(f"first {at} at {height:+.0%}, noise {spread:.0%}", expected, draw)


def unsteady() -> list[Shape]:
    """No level lasts to the end."""

    def cycles(half: int, height: float, spread: float) -> Draw:
        return lambda rng: np.where((TIMES + rng.integers(2 * half)) // half % 2, 1 + height, 1) * noise(rng, spread)

    def drift(height: float, spread: float) -> Draw:
        return lambda rng: (1 + height * TIMES / ITERATIONS) * noise(rng, spread)

    shapes = [
        ("cycles of 100, +10 %, noise 1 %", cycles(50, 0.1, 0.01)),
        ("cycles of 160, +20 %, noise 3 %", cycles(80, 0.2, 0.03)),
        ("step of +10 % at 420, noise 1 %", lambda rng: np.where(TIMES >= 420, 1.1, 1) * noise(rng, 0.01)),
        ("drift of +30 %, noise 2 %", drift(0.3, 0.02)),
        ("drift of +10 %, noise 2 %", drift(0.1, 0.02)),
        ("drift of +5 %, noise 1 %", drift(0.05, 0.01)),
    ]
    return [Shape(name, "no_steady_state", draw) for name, draw in shapes]


def told(shape: Shape, trials: int, seed: int = 7) -> Told:
    """What is said of `trials` processes of that shape."""
    rng = np.random.default_rng(seed)
    found = [steady_state(shape.draw(rng)) for _ in range(trials)]
    right = sum(one.classification == shape.expected for one in found) / trials
    begins = [one.steady_from for one in found if one.steady_from is not None]
    low, middle, high = np.percentile(begins, [5, 50, 95]) if begins else (0.0, 0.0, 0.0)
    return Told(shape, right, (float(low), float(middle), float(high)) if begins else None)


def table(all_told: list[Told]) -> Table:
    """The figures, a row a shape."""
    rows = tuple(
        (
            one.shape.name,
            one.shape.expected,
            f"{one.right:.1%}",
            "none" if one.steady_from is None else " / ".join(f"{begin:.0f}" for begin in one.steady_from),
        )
        for one in all_told
    )
    columns = ("Iteration times", "expected", "told right", "steady from (5 / 50 / 95 %)")
    return Table(f"Classes of {ITERATIONS} iterations", columns, rows)
