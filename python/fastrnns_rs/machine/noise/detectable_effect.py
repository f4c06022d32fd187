"""How small a difference a comparison finds."""

from __future__ import annotations

import math

from fastrnns_rs import stats

#: With which probability it is to be found.
POWER = 0.8
#: The range of spreads that `detection_power` takes.
_LEAST_SPREAD = 1e-9


def minimum_detectable_change(spread: float, per_side: int, *, margin: float = 0.01) -> float:
    """The smallest relative difference that is called by its name, faster or slower, with 80 % power.

    Where processes hardly spread it is about the margin: what is closer is called equivalent, and rightly.

    Args:
        spread: Between processes: the standard deviation of their log medians, up to 10.
        per_side: Processes on each side, at least 3.
        margin: As for `compare_samples`.

    Returns:
        A share, to three digits: 0.02 for a candidate that takes 1.02 times as long, or 1 / 1.02.

    Raises:
        ValueError: A number out of range, named.
    """
    spread = max(spread, _LEAST_SPREAD)

    def found(logarithm: float) -> bool:
        difference = math.expm1(logarithm)
        return stats.detection_power(spread, per_side, difference=difference, margin=margin).slower >= POWER

    low, high = 0.0, math.log1p(margin) + spread * math.sqrt(2 / per_side)
    while not found(high):
        low, high = high, 2 * high
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return math.expm1(high)
