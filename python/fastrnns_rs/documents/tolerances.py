"""Checks of numbers in documents that other numbers give, with their tolerances."""

from __future__ import annotations

import math

from fastrnns_rs.errors import UsageError

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


def check_number(path: str, value: float | None, expected: float | None, of: str, unit: float = 0.0) -> None:
    """Rejects a number that is not the one that others give.

    Args:
        path: Path of the number in the message.
        value: Number of the document.
        expected: The same number, computed from others; None if they have none.
        of: What the others are, for the message.
        unit: Size of the terms of a difference, whose rounding errors are theirs; 0 for other numbers.

    Raises:
        UsageError: If they differ by more than another machine may compute, or only one is None.

    >>> check_number("rows[0].ratio", 1.2, 1.2000001, "the processes")
    >>> check_number("rows[0].ratio", 1.3, 1.2, "the processes")
    Traceback (most recent call last):
        ...
    fastrnns_rs.errors.UsageError: rows[0].ratio is 1.3, and that of the processes is 1.2
    """
    if value is None or expected is None:
        is_same = value is expected
    else:
        is_same = math.isclose(value, expected, rel_tol=COMPUTED, abs_tol=COMPUTED * unit)
    if not is_same:
        found, known = ("null" if one is None else f"{one:.9g}" for one in (value, expected))
        raise UsageError(f"{path} is {found}, and that of {of} is {known}")


def check_inside(
    path: str, low: float | None, value: float | None, high: float | None, tolerance: float = ROUNDING
) -> None:
    """Rejects a number outside of its interval.

    Args:
        path: Path of the number in the message.
        low: Lower end; None without an interval.
        value: Number; None if it is unknown.
        high: Upper end; None without an interval.
        tolerance: Relative tolerance of the ends.

    Raises:
        UsageError: If it is outside.

    >>> check_inside("estimate_ns", 90.0, 120.0, 110.0)
    Traceback (most recent call last):
        ...
    fastrnns_rs.errors.UsageError: estimate_ns is 120, outside of its interval from 90 to 110
    """
    if low is None or value is None or high is None or is_between(value, low, high, tolerance):
        return
    raise UsageError(f"{path} is {value:.9g}, outside of its interval from {low:.9g} to {high:.9g}")
