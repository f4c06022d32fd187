"""The warning of processes that fall into two groups, each with a level of its own."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import TYPE_CHECKING

from fastrnns_rs.machine.warnings.warning import duration, of_found

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import Notice
    from fastrnns_rs.machine.warnings.timed_samples import TimedRunner

#: Groups of fewer cannot be told from processes that happen to lie so.
_LEAST_PROCESSES = 8
#: The least share of a group, and never a single process: that is an outlier.
_LEAST_SHARE = 0.15
#: The default margin of a verdict: groups that are closer make no difference that matters.
_LEAST_DISTANCE = 0.01
#: Divided by how many processes there are: the gap between groups, in standard deviations within them. Exponential
#: medians without groups have a larger one four times in ten thousand, once in a hundred runs of twelve runners and two
#: phases (17.9 of 8 processes, 14.1 of 10, 6.0 of 20, 2.8 of 40, by simulation); uniform and normal ones less often.
_LEAST_GAP = 150.0


def cautions(runners: list[TimedRunner]) -> list[Notice]:
    """Which phases have processes in two groups."""
    grouped = []
    for runner in runners:
        for phase in runner.phases():
            medians = sorted(one.medians_ns[phase] for one in runner.replicates())
            border = _border(medians, runner.result.timer_resolution_ns or 0)
            if border is not None:
                grouped.append(f"{runner.name} {phase}: {_told(medians[:border])} and {_told(medians[border:])}")
    message = "processes fall into two groups, each with a level of its own"
    hint = "give more --processes, so that each group has its share; --affinity shows whether the CPUs do it"
    return of_found("process_modes", message, grouped, hint)


def _border(medians: list[float], tick: float) -> int | None:
    """Where the second group begins among sorted medians, if there are two."""
    count = len(medians)
    if count < _LEAST_PROCESSES:
        return None
    logs = [math.log(median / medians[0]) for median in medians]
    sums, squares = [0.0, *accumulate(logs)], [0.0, *accumulate(log * log for log in logs)]
    least = max(2, math.ceil(_LEAST_SHARE * count))
    gaps = {}
    for border in range(least, count - least + 1):
        gap = logs[border] - logs[border - 1]
        within = sum(
            squares[end] - squares[begin] - (sums[end] - sums[begin]) ** 2 / (end - begin)
            for begin, end in ((0, border), (border, count))
        )
        # Medians that a coarse clock rounds to the same tick are not as close as they look.
        spread = max(math.sqrt(max(0.0, within) / (count - 2)), tick / medians[0], 1e-9)
        if gap > math.log1p(_LEAST_DISTANCE) and gap / spread > _LEAST_GAP / count:
            gaps[border] = gap / spread
    return max(gaps, key=lambda border: gaps[border]) if gaps else None


def _told(group: list[float]) -> str:
    return f"{len(group)} processes around {duration(group[len(group) // 2])}"
