"""Histograms of two sides on one axis, a line each, for terminals with UTF-8."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fastrnns_rs.stats import quantiles
from fastrnns_rs.views.comparison.number_axis import NAME, NumberAxis

#: Bars of increasing height.
_BARS = "▁▂▃▄▅▆▇█"
#: The axis spans this part of all samples. A single outlier would leave no room for the others.
_SPANNED = (0.01, 0.99)


def lines(sides: Sequence[tuple[str, Sequence[float]]], unit: str, limit: int) -> Iterator[str]:
    """Yields a heading, a histogram for each side, and the axis.

    The heights of both sides have one scale: the share of the samples of a side. Nothing is yielded if a side has no
    samples, nearly all samples are equal, or the terminal is too narrow.

    Args:
        sides: Name and samples of each side.
        unit: Unit of the samples.
        limit: Width of the terminal.
    """
    values = [value for _, side in sides for value in side]
    if not all(side for _, side in sides):
        return
    low, high = quantiles(values, _SPANNED)
    if not NumberAxis.fits(low, high, limit):
        return
    axis = NumberAxis(low, high, unit, limit)
    shares = []
    outside = 0
    for _, side in sides:
        counts = [0] * axis.length
        for value in side:
            place = axis.place(value)
            if 0 <= place < axis.length:
                counts[place] += 1
            else:
                outside += 1
        shares.append([count / len(side) for count in counts])
    largest = max(map(max, shares))
    sizes = [f"{len(side):,}" for _, side in sides]
    count = sizes[0] if len({*sizes}) == 1 else " and ".join(sizes)
    left = f", {outside:,} outside of the axis" if outside else ""
    yield f"Timed samples, {unit} ({count} per side{left})"
    for (name, _), row in zip(sides, shares, strict=True):
        yield f"  {name:{NAME - 2}}{''.join(_bar(share / largest) for share in row)}".rstrip()
    yield axis.line()


def _bar(height: float) -> str:
    """Returns the bar for a height from 0 to 1; a space for no samples."""
    return " " if height == 0 else _BARS[min(int(height * len(_BARS)), len(_BARS) - 1)]
