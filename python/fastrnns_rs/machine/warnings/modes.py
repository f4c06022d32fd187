"""Warnings of several levels: of times within a process, and of processes that fall into two groups."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import TYPE_CHECKING

from fastrnns_rs.machine.warnings.warning import duration, of_found
from fastrnns_rs.stats import modality

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import Notice
    from fastrnns_rs.machine.warnings.timed_samples import TimedRunner
    from fastrnns_rs.stats import Modality

#: The default margin of a verdict: modes and groups that are closer make no difference that matters.
_LEAST_DISTANCE = 0.01
#: Fewer samples than one in twenty are outliers, which the table has a column for.
_LEAST_SHARE = 0.05
#: The most samples with one mode that `modality` finds several in: 5 to 7 % of uniform ones, and of Pareto's.
_CHANCE = 0.07
#: Smallest p-value in the dip test's table.
_SURE = 0.0005
#: How often chance alone may bring a warning, over all runners and phases.
_SIGNIFICANCE = 0.01
#: Smaller groups of processes may be a coincidence.
_LEAST_PROCESSES = 8
#: The least share of a group, and never a single process: that is an outlier.
_LEAST_GROUP = 0.15
#: Divided by how many processes there are: the gap between groups, in standard deviations within them. Exponential
#: medians without groups have a larger one four times in ten thousand, once in a hundred runs of twelve runners and two
#: phases (17.9 of 8 processes, 14.1 of 10, 6.0 of 20, 2.8 of 40, by simulation); uniform and normal ones less often.
_LEAST_GAP = 150.0


def cautions(runners: list[TimedRunner]) -> list[Notice]:
    """Which phases have several modes within processes, and which have processes in two groups."""
    return [*_within(runners), *_between(runners)]


def _within(runners: list[TimedRunner]) -> list[Notice]:
    """Which phases have several modes within most of their processes."""
    tests = sum(len(runner.phases()) for runner in runners)
    several = []
    for runner in runners:
        for phase in runner.phases():
            found = [modality(process.phases[phase]) for process in runner.processes]
            if told := _told(found, tests):
                several.append(f"{runner.name} {phase}: {told}")
    message = "times have several levels within a process: a median lies in one of them, or jumps between"
    hint = "look at the samples in the run file: clock frequency, allocations and other work come and go"
    return of_found("several_modes", message, several, hint)


def _told(found: list[Modality], tests: int) -> str | None:
    """Describes a phase whose processes mostly have several modes, more often than by chance."""
    several = [one for one in found if _has_several(one)]
    sure = [one for one in several if one.p_value <= _SURE]
    count = len(found)
    most = count // 2 + 1
    if len(sure) < most and (len(several) < most or _tail(len(several), count) > _SIGNIFICANCE / tests):
        return None
    clearest = max(several, key=lambda one: one.dip)
    modes = " and ".join(f"{duration(mode.position)} ({mode.share:.0%})" for mode in clearest.modes)
    return f"{modes} in one of {len(several)} such processes of {count}" if count > 1 else modes


def _has_several(found: Modality) -> bool:
    """Checks that two neighbouring modes are far apart and that neither is a few outliers."""
    pairs = zip(found.modes, found.modes[1:], strict=False)
    return any(
        right.position > left.position * (1 + _LEAST_DISTANCE) and min(left.share, right.share) >= _LEAST_SHARE
        for left, right in pairs
    )


def _tail(several: int, count: int) -> float:
    """Returns the probability that so many processes of `count`, or more, have several modes by chance."""
    return sum(
        math.comb(count, one) * _CHANCE**one * (1 - _CHANCE) ** (count - one) for one in range(several, count + 1)
    )


def _between(runners: list[TimedRunner]) -> list[Notice]:
    """Which phases have processes in two groups."""
    grouped = []
    for runner in runners:
        for phase in runner.phases():
            medians = sorted(one.medians_ns[phase] for one in runner.replicates())
            border = _border(medians, runner.result.timer_resolution_ns or 0)
            if border is not None:
                grouped.append(f"{runner.name} {phase}: {_group(medians[:border])} and {_group(medians[border:])}")
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
    least = max(2, math.ceil(_LEAST_GROUP * count))
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


def _group(group: list[float]) -> str:
    return f"{len(group)} processes around {duration(group[len(group) // 2])}"
