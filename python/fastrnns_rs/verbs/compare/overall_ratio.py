"""One ratio for all runners of a comparison, and how sure it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastrnns_rs.documents.comparison import GeometricMean
from fastrnns_rs.verbs.compare.pooling import identity

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from fastrnns_rs.verbs.compare.verdicts import Judged


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phase:
    """A ratio's logarithm, and half of its interval's width."""

    difference: float
    half: float


def geometric_mean(judged: Sequence[Judged]) -> GeometricMean | None:
    """The geometric mean of the runners' ratios, a number for each runner and problem: the mean of its phases.

    Rows without a p-value and those that do not belong together have no part in it. The interval tells how sure the
    mean of *these* runners is, not how they differ from one another. Their processes are not the same, so that
    intervals add up as independent ones do, by their squares (Zou and Donner, *Construction of confidence limits about
    effect measures: a general approach*, 2008). The phases of one runner are of the same processes, and mostly slow
    together: the wider of their intervals is taken for that of their mean, which it is at most.

    Returns:
        None where no row has a p-value.
    """
    runners: dict[Hashable, list[_Phase]] = {}
    for one in judged:
        row = one.row
        if one.pair.conflicts or row.p_value is None or not (row.ratio and row.ratio_ci_low and row.ratio_ci_high):
            continue
        phase = _Phase(difference=math.log(row.ratio), half=math.log(row.ratio_ci_high / row.ratio_ci_low) / 2)
        runners.setdefault((one.pair.name, identity(one.pair.series)), []).append(phase)
    if not runners:
        return None
    count = len(runners)
    means = [math.fsum(one.difference for one in phases) / len(phases) for phases in runners.values()]
    mean = math.fsum(means) / count
    half = math.hypot(*(max(one.half for one in phases) for phases in runners.values())) / count
    return GeometricMean(
        ratio=math.exp(mean), ratio_ci_low=math.exp(mean - half), ratio_ci_high=math.exp(mean + half), n=count
    )
