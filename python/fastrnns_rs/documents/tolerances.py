"""Tolerances of numbers in documents that other numbers give."""

from __future__ import annotations

import math

#: Relative rounding error of a number that is stored beside the numbers that give it.
ROUNDING = 1e-9
#: Relative difference of a number that another machine computed.
COMPUTED = 1e-6


def is_near(value: float, expected: float) -> bool:
    """Returns True if a value may be the expected one, from another machine.

    >>> is_near(1.0000001, 1.0), is_near(1.00001, 1.0)
    (True, False)
    """
    return math.isclose(value, expected, rel_tol=COMPUTED)


def is_between(value: float, low: float, high: float, tolerance: float = ROUNDING) -> bool:
    """Returns True if a value is from `low` to `high`, which are not negative.

    >>> is_between(2.0, 1.0, 2.0 - 1e-12), is_between(2.0, 1.0, 1.9)
    (True, False)
    """
    return low * (1 - tolerance) <= value <= high * (1 + tolerance)
