"""Figures of a noise floor that its other numbers give."""

from __future__ import annotations

import math
from statistics import NormalDist

from fastrnns_rs._core import detection_power

#: Probability of detecting the minimum detectable effect.
POWER = 0.8
#: Lower limit of the standard deviations that `detection_power` accepts.
_LEAST_SPREAD = 1e-9
#: From so many processes on, degrees of freedom are not limited by the side without a spread.
_LEAST_OTHERS = 5
_NORMAL = NormalDist()
#: Probability of the verdict slower without a difference.
_FALSE_ALARM = 0.025
#: Change of the probit of the power, relative to that of the difference.
_SLOPE = 2.5
#: Quantile of the normal distribution for a 95 % interval.
_Z = 1.959963984540054


def minimum_detectable_change(
    spread: float, per_side: int, *, margin: float = 0.01, paired: bool = False, precision: float = 1e-3
) -> float:
    """Returns the smallest relative difference detected with 80 % power.

    A detected difference has the verdict faster or slower. If the processes hardly vary, the result is about the
    margin. Smaller differences are correctly equivalent.

    Args:
        spread: Standard deviation of the log medians of processes, at most 10; of the differences of pairs, if they are
            paired.
        per_side: Processes on each side, at least 3.
        margin: Equivalence margin, as for `compare_samples`.
        paired: True for the verdict of pairs of processes, as in `ab`.
        precision: Relative error of the result. A larger error takes less time.

    Returns:
        Relative difference: 0.02 for a candidate that takes 1.02 times as long, or 1 / 1.02.

    Raises:
        ValueError: If a number is out of range; the message names the number.
    """
    spread = max(spread, 10 * _LEAST_SPREAD if paired else _LEAST_SPREAD)
    # A side that does not vary leaves Student's t of the other side, which is that of the differences of pairs.
    other = _LEAST_SPREAD if paired else spread

    def excess(logarithm: float) -> float:
        found = detection_power(
            spread,
            per_side,
            difference=math.expm1(logarithm),
            candidate_spread=other,
            candidate_processes=max(per_side, _LEAST_OTHERS) if paired else per_side,
            margin=margin,
        )
        return _probit(found.slower) - _probit(POWER)

    # Without a difference, the power is that of a false alarm. The probit of the power is nearly linear.
    close = _SLOPE * precision
    low, below = 0.0, _probit(_FALSE_ALARM) - _probit(POWER)
    high = max(math.log1p(margin), 3 * math.hypot(spread, other) / math.sqrt(per_side))
    while (above := excess(high)) < 0:
        low, below, high = high, above, 2 * high
    # The Illinois algorithm (Dowell and Jarratt, 1971): each evaluation takes milliseconds.
    while above > close and high - low > precision * high:
        middle = high - (high - low) * (above - close / 2) / (above - below)
        found = excess(middle)
        if found >= 0:
            high, above, below = middle, found, below / 2
        else:
            low, below, above = middle, found, above / 2 + close
    return math.expm1(high)


def _probit(probability: float) -> float:
    return _NORMAL.inv_cdf(min(max(probability, 1e-9), 1 - 1e-9))


def wilson(hits: int, trials: int) -> tuple[float, float]:
    """Returns Wilson's 95 % interval of a proportion."""
    share, width = hits / trials, _Z * _Z / trials
    middle = share + width / 2
    half = _Z * math.sqrt(share * (1 - share) / trials + width / (4 * trials))
    # Rounding must not move a limit outside [0, 1] or past the proportion.
    return max(0.0, min(share, (middle - half) / (1 + width))), min(1.0, max(share, (middle + half) / (1 + width)))
