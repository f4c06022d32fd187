"""Times callables in turn, so that a machine whose speed drifts slows all of them alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def in_turn(rounds: int, **timed: Callable[[], float]) -> dict[str, list[float]]:
    """Calls each in turn, `rounds` times; a call returns what it measured."""
    found: dict[str, list[float]] = {name: [] for name in timed}
    for _ in range(rounds):
        for name, call in timed.items():
            found[name].append(call())
    return found


def seconds(call: Callable[[], object]) -> float:
    """How long one call takes."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def ratio(ours: list[float], theirs: list[float]) -> float:
    """The median of the ratios, round by round."""
    return statistics.median(one / other for one, other in zip(ours, theirs, strict=True))


def verdict(what: str, value: float, limit: float, *, at_most: bool = True) -> None:
    """One line: the ratio and whether it keeps the promise."""
    kept = value <= limit if at_most else value >= limit
    sign = "<=" if at_most else ">="
    print(f"{what}: {value:.2f}x (promised {sign} {limit}x: {'kept' if kept else 'NOT KEPT'})")
