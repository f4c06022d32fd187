"""Which processes are compared: the same draws for every judge."""

from __future__ import annotations

import random
from dataclasses import dataclass

from real_noise.pool import PHASES, Pool, Process

PER_SIDE = 10


@dataclass(frozen=True)
class Comparison:
    """Ten processes against ten, in one phase."""

    name: str
    phase: str
    baseline: list[Process]
    candidate: list[Process]


def without_difference(pool: Pool, draws: int, seed: int) -> list[Comparison]:
    """Both sides disjoint, from the one pool: two pools would differ by chance, and each comparison would show it."""
    generator = random.Random(seed)  # noqa: S311  # no secret
    found = []
    for number in range(draws):
        drawn = generator.sample(pool.same, 2 * PER_SIDE)
        found += [Comparison(f"same-{number}-{phase}", phase, drawn[:PER_SIDE], drawn[PER_SIDE:]) for phase in PHASES]
    return found


def with_difference(pool: Pool, draws: int, seed: int) -> list[Comparison]:
    """The candidate from the processes with more work."""
    generator = random.Random(seed)  # noqa: S311  # no secret
    found = []
    for number in range(draws):
        sides = generator.sample(pool.same, PER_SIDE), generator.sample(pool.more, PER_SIDE)
        found += [Comparison(f"more-{number}-{phase}", phase, *sides) for phase in PHASES]
    return found
