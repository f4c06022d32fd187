"""In which order processes run. What drifts on a machine then meets every runner alike."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from fastrnns_rs.verbs.bench.bench_plan import BenchPlan


def turns_of(plan: BenchPlan) -> list[list[int]]:
    """Which tasks, by index, are measured at the same time: each by itself, or one runner on every device."""
    found: dict[object, list[int]] = {}
    for index, task in enumerate(plan.tasks):
        alike = (task.runner.name, task.side, replace(task.problem, device=""))
        key = alike if plan.side_by_side and task.refusal is None else index
        found.setdefault(key, []).append(index)
    return list(found.values())


def rounds(tasks: int, design: Literal["rounds", "abba"], seed: int) -> Iterator[tuple[list[int], int]]:
    """The order of processes, round by round and without end; the same for the same seed, wherever one begins.

    Args:
        tasks: How many tasks there are; two for `abba`.
        design: `rounds` has each task once in a round, shuffled. `abba` has blocks ABBA and BAAB by chance, so that a
            drift within a block meets both sides alike.
        seed: Seed of the order.

    Yields:
        The tasks of a round, by index, and how many processes each has had when it ends.
    """
    number = 0
    while True:
        # A text seeds alike in every process, whatever the hash seed is.
        chance = random.Random(f"{seed}:{number}")  # noqa: S311  # an order, not a secret
        number += 1
        if design == "abba":
            first, second = chance.sample([0, 1], 2)
            yield [first, second, second, first], 2 * number
        else:
            yield chance.sample(range(tasks), tasks), number
