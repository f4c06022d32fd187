"""Two rows of dots on one axis, which show how far two sets of numbers overlap."""

from __future__ import annotations

from collections.abc import Sequence

from fastrnns_rs.views.comparison.number_axis import NAME, NumberAxis

_DOT = "o"


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
    if not NumberAxis.fits(low, high, limit):
        return []
    axis = NumberAxis(low, high, unit, limit)
    found = []
    for name, side in sides:
        row = [" "] * axis.length
        for value in side:
            row[axis.place(value)] = _DOT
        found.append(f"  {name:{NAME - 2}}{''.join(row)}".rstrip())
    return [*found, axis.line()]
