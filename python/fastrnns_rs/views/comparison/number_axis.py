"""Axis of numbers in a terminal, with labels at even steps."""

from __future__ import annotations

import math

#: Width of the names before the axis, and maximum number of steps and of columns.
NAME = 13
_MOST_STEPS, _WIDEST = 6, 120
_LEAST_ROOM = 20
#: Width of most labels.
_LABEL = 9
#: Steps are these numbers and their multiples by powers of 10.
_STEPS = (1, 2, 5, 10)


class NumberAxis:
    """Axis that covers a range of numbers, from step to step.

    Args:
        low: Least number.
        high: Largest number, above `low`.
        unit: Unit of the numbers.
        limit: Width of the terminal.
    """

    def __init__(self, low: float, high: float, unit: str, limit: int) -> None:
        most = max(1, min(_MOST_STEPS, (limit - NAME - _LABEL) // _LABEL))
        self._step = _find_step((high - low) / most)
        first, count = self._cover(low, high)
        if count > most:
            self._step = _find_step(self._step * 1.01)
            first, count = self._cover(low, high)
        decimals = max(-math.floor(math.log10(self._step) + 1e-9), 0)
        labels = [f"|{(first + place) * self._step:.{decimals}f}" for place in range(count + 1)]
        labels[-1] += f" {unit}"
        columns = min(limit - NAME - len(labels[-1]), _WIDEST) // count
        if columns <= max(map(len, labels[:-1])):
            # Only the last label fits.
            labels[:-1] = ["|"] * count
            columns = max(columns, 1)
        self._first, self._columns, self._labels = first, columns, labels
        #: Number of places.
        self.length = columns * count + 1

    @staticmethod
    def fits(low: float, high: float, limit: int) -> bool:
        """Returns True if there is a range to draw, and room for it."""
        return low < high and limit >= NAME + _LEAST_ROOM

    def place(self, value: float) -> int:
        """Returns the place of a number, from 0."""
        return round((value / self._step - self._first) * self._columns)

    def line(self) -> str:
        """Returns the line with the labels."""
        axis = "".join(f"{label:{self._columns}}" for label in self._labels[:-1])
        return " " * NAME + axis + self._labels[-1]

    def _cover(self, low: float, high: float) -> tuple[int, int]:
        """Returns the first step and the number of steps."""
        first = math.floor(low / self._step + 1e-9)
        return first, max(math.ceil(high / self._step - 1e-9) - first, 1)


def _find_step(least: float) -> float:
    """Returns the smallest step of an axis that is at least `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * step for step in _STEPS if power * step >= least * (1 - 1e-9))
