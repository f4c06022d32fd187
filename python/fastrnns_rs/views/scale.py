"""One unit and one number of decimals for all times of a column."""

from __future__ import annotations

import math

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Iterable

_UNITS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))
#: Digits of the largest time.
_DIGITS = 4


class Scale:
    """The scale of a column of times.

    Attributes:
        unit: The largest unit in which the (upper) median of the column is at least 1: `s`, `ms`, `µs` or `ns`.
        ns: Nanoseconds of that unit.
        decimals: Decimals with which the largest time has four digits.
    """

    __slots__ = ("decimals", "ns", "unit")

    def __init__(self, times: Iterable[float], like: Scale | None = None) -> None:
        """Chooses a scale.

        Args:
            times: Times of the column, in nanoseconds.
            like: Scale of another column, whose decimals are used where the unit is the same and they are enough.
        """
        known = [abs(time) for time in times if time]
        middle = sorted(known)[len(known) // 2] if known else 1e6
        self.unit, self.ns = next((one for one in _UNITS if middle >= one[1]), _UNITS[-1])
        self.decimals = decimals([time / self.ns for time in known]) if self.ns > 1 else 0
        if like is not None and like.unit == self.unit:
            # Three digits of the largest are enough to stand next to another column.
            self.decimals = max(like.decimals, self.decimals - 1)

    def text(self, time: float) -> str:
        """A time without its unit."""
        return f"{time / self.ns:.{self.decimals}f}"


def decimals(numbers: Iterable[float]) -> int:
    """Decimals with which the largest number has four digits; at most three."""
    largest = max(numbers, default=1.0)
    digits = math.floor(math.log10(largest)) + 1 if largest > 0 else 1
    return min(max(_DIGITS - digits, 0), 3)


def time(ns: float) -> str:
    """A time in a sentence, with four digits and the unit that fits it.

    >>> time(996_477_000), time(263_000), time(5_244_000_000), time(0)
    ('996.5 ms', '263.0 µs', '5.244 s', '0 ns')
    """
    # As it is printed: 999.96 µs are 1.000 ms.
    unit, scale = next((one for one in _UNITS if abs(ns) / one[1] >= 0.99995), _UNITS[-1])  # noqa: PLR2004
    return f"{ns:.0f} ns" if scale == 1 else f"{ns / scale:.{decimals([abs(ns) / scale])}f} {unit}"
