"""Fewer points that keep every extreme."""

from __future__ import annotations

from collections.abc import Sequence


def thinned(values: Sequence[float], most: int) -> tuple[list[int], list[float]]:
    """Returns the least and the largest value of each of equal parts of a series.

    Args:
        values: Series.
        most: Number of points, at least 2.

    Returns:
        The places of the kept values in the series, and the values.

    >>> thinned([5, 1, 9, 3, 3, 3], 4)
    ([1, 2, 3, 4], [1, 9, 3, 3])
    """
    if len(values) <= most:
        return [*range(len(values))], [*values]
    parts = most // 2
    kept: set[int] = set()
    for part in range(parts):
        start, end = part * len(values) // parts, (part + 1) * len(values) // parts
        inside = range(start, end)
        least = min(inside, key=values.__getitem__)
        largest = max(inside, key=values.__getitem__)
        kept |= {least, largest} if least != largest else {least, *inside[1:2]}
    places = sorted(kept)
    return places, [values[place] for place in places]


def quantile_points(ordered: Sequence[float], most: int) -> tuple[list[float], list[float]]:
    """Returns at most `most` points of an empirical distribution, with both ends.

    Args:
        ordered: Sorted samples.
        most: Number of points, at least 2.

    Returns:
        Samples, and the share of all samples up to each.

    >>> quantile_points([1, 2, 3, 4], 9)
    ([1, 1, 2, 3, 4], [0.0, 0.25, 0.5, 0.75, 1.0])
    """
    count = len(ordered)
    places = (
        [*range(count)] if count < most else sorted({round(one * (count - 1) / (most - 2)) for one in range(most - 1)})
    )
    return [ordered[0], *(ordered[place] for place in places)], [0.0, *((place + 1) / count for place in places)]
