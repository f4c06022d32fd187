"""Division of times whose whole results add up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

#: Names, or tuples of names.
K = TypeVar("K", str, tuple[str, bool])


def divide_and_round(totals: Mapping[K, int], by: int) -> dict[K, int]:
    """Divides each total by `by`, and rounds so that the results add up.

    The largest remainders are rounded up.
    """
    if by == 1:
        return {**totals}
    shares = {key: divmod(total, by) for key, total in totals.items()}
    # Half a nanosecond of the sum is rounded up.
    whole = (2 * sum(totals.values()) + by) // (2 * by)
    left = whole - sum(quotient for quotient, _ in shares.values())
    order = sorted(shares, key=lambda key: (-shares[key][1], key))
    return {
        **{key: quotient for key, (quotient, _) in shares.items()},
        **{key: shares[key][0] + 1 for key in order[:left]},
    }
