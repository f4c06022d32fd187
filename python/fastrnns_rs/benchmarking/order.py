"""In which order processes run. What drifts on a machine then meets every runner alike."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator


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
