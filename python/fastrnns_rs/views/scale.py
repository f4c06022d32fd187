"""Common unit and number of decimals for all times of a column."""

from __future__ import annotations

import math

TYPE_CHECKING = False  # As in the package: `typing` is slow to load.
if TYPE_CHECKING:
    from collections.abc import Iterable

_UNITS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))
#: Digits of the largest time.
_DIGITS = 4


class Scale:
    """Scale of a column of times.

    Attributes:
        unit: Largest unit in which the (upper) median of the column is at least 1: `s`, `ms`, `µs` or `ns`.
        ns: Nanoseconds in that unit.
        decimals: Number of decimals that gives the largest time four digits.
    """

    __slots__ = ("decimals", "ns", "unit")

    def __init__(self, times: Iterable[float], like: Scale | None = None) -> None:
        """Chooses a scale.

        Args:
            times: Times of the column, in ns.
            like: Scale of another column. Its decimals are used if the unit is the same and the decimals are enough.
                None for an independent scale.
        """
        known = [abs(time) for time in times if time]
        middle = sorted(known)[len(known) // 2] if known else 1e6
        self.unit, self.ns = next((one for one in _UNITS if middle >= one[1]), _UNITS[-1])
        self.decimals = decimals([time / self.ns for time in known]) if self.ns > 1 else 0
        if like is not None and like.unit == self.unit:
            # Three digits of the largest time are enough next to another column.
            self.decimals = max(like.decimals, self.decimals - 1)

    def text(self, time: float) -> str:
        """Formats a time in ns, without its unit."""
        return f"{time / self.ns:.{self.decimals}f}"


def decimals(numbers: Iterable[float]) -> int:
    """Returns the decimals that give the largest number four digits, at most 3."""
    largest = max(numbers, default=1.0)
    digits = math.floor(math.log10(largest)) + 1 if largest > 0 else 1
    return min(max(_DIGITS - digits, 0), 3)


def time(ns: float) -> str:
    """Formats a time in ns for a sentence, with four digits and the unit that fits.

    >>> time(996_477_000), time(263_000), time(5_244_000_000), time(0)
    ('996.5 ms', '263.0 µs', '5.244 s', '0 ns')
    """
    # The unit fits the rounded time: 999.96 µs is printed as 1.000 ms.
    unit, scale = next((one for one in _UNITS if abs(ns) / one[1] >= 0.99995), _UNITS[-1])  # noqa: PLR2004
    return f"{ns:.0f} ns" if scale == 1 else f"{ns / scale:.{decimals([abs(ns) / scale])}f} {unit}"
