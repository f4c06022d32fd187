"""Geometric mean of the ratios of a comparison of runs."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastrnns_rs.documents.part import Part

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison_rows import Row


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GeometricMean(Part):
    """Geometric mean of the ratios of `n` runners, with both phases of each together.

    A runner with several problems has a ratio for each of them. The interval is that of the mean of these `n` ratios.
    """

    ratio: float
    ratio_ci_low: float | None
    ratio_ci_high: float | None
    n: int


def combine_ratios(rows: Iterable[tuple[Hashable, Row]]) -> GeometricMean | None:
    """Returns the geometric mean of the ratios of runners and problems.

    Each runner and problem has one number, the mean of its phases. Rows without a p-value are excluded. The interval
    shows the precision of the mean of *these* runners, not the differences between them.

    The processes of two runners are independent, so the squares of the interval widths add up (Zou and Donner,
    *Construction of confidence limits about effect measures: a general approach*, 2008). The phases of one runner come
    from the same processes and are mostly slow together. The wider of their intervals is an upper bound for the
    interval of their mean, and is used for it. Runners compared by sessions, or with the variance of earlier sessions,
    share the differences between sessions. Their widths add up, as if the runners were fully dependent.

    Args:
        rows: Rows, each with a key that is equal for the phases of one runner and problem.

    Returns:
        The mean; None if no row has a p-value.
    """
    # Of each runner: the logarithm of the ratio of each phase, and half the width of its interval.
    runners: dict[Hashable, list[tuple[float, float]]] = {}
    shared = False
    for key, row in rows:
        shared = shared or row.basis in {"sessions", "history"}
        if row.p_value is not None and row.ratio and row.ratio_ci_low and row.ratio_ci_high:
            half = math.log(row.ratio_ci_high / row.ratio_ci_low) / 2
            runners.setdefault(key, []).append((math.log(row.ratio), half))
    if not runners:
        return None
    count = len(runners)
    mean = math.fsum(math.fsum(ratio for ratio, _ in phases) / len(phases) for phases in runners.values()) / count
    halves = [max(half for _, half in phases) for phases in runners.values()]
    half = (math.fsum(halves) if shared else math.hypot(*halves)) / count
    return GeometricMean(
        ratio=math.exp(mean), ratio_ci_low=math.exp(mean - half), ratio_ci_high=math.exp(mean + half), n=count
    )
