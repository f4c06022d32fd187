"""Two rows of dots on one axis, which show how far two sets of numbers overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence

_DOT = "o"
#: Width of the names, and maximum number of intervals and of columns of the axis.
_NAME = 13
_MOST_INTERVALS, _WIDEST = 6, 120
_LEAST_ROOM = 20
#: Width of most labels.
_LABEL = 9
#: An axis has steps of these numbers and their multiples by powers of 10.
_STEPS = (1, 2, 5, 10)


def lines(sides: Sequence[tuple[str, Sequence[float]]], unit: str, limit: int) -> list[str]:
    """Returns a row of dots for each side, then the axis.

    There are no lines if all numbers are equal, or the terminal is too narrow.

    Args:
        sides: Name and numbers of each side.
        unit: Unit of the numbers.
        limit: Width of the terminal.
    """
    values = [value for _, side in sides for value in side]
    low, high = min(values), max(values)
    if low == high or limit < _NAME + _LEAST_ROOM:
        return []
    most = max(1, min(_MOST_INTERVALS, (limit - _NAME - _LABEL) // _LABEL))
    step = _step((high - low) / most)
    first = math.floor(low / step + 1e-9)
    count = max(math.ceil(high / step - 1e-9) - first, 1)
    if count > most:
        step = _step(step * 1.01)
        first = math.floor(low / step + 1e-9)
        count = max(math.ceil(high / step - 1e-9) - first, 1)
    decimals = max(-math.floor(math.log10(step) + 1e-9), 0)
    labels = [f"|{(first + place) * step:.{decimals}f}" for place in range(count + 1)]
    labels[-1] += f" {unit}"
    columns = min(limit - _NAME - len(labels[-1]), _WIDEST) // count
    if columns <= max(map(len, labels[:-1])):
        # Only the last label fits.
        labels[:-1] = ["|"] * count
        columns = max(columns, 1)
    found = []
    for name, side in sides:
        row = [" "] * (columns * count + 1)
        for value in side:
            row[round((value / step - first) * columns)] = _DOT
        found.append(f"  {name:{_NAME - 2}}{''.join(row)}".rstrip())
    axis = "".join(f"{label:{columns}}" for label in labels[:-1])
    return [*found, " " * _NAME + axis + labels[-1]]


def _step(least: float) -> float:
    """Returns the smallest step of an axis that is at least `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * step for step in _STEPS if power * step >= least * (1 - 1e-9))
