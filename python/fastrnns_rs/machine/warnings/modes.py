"""Warnings about several levels of times.

The levels are modes within a process, or two groups of processes.
"""

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

#: Default margin of a verdict: closer modes and groups are irrelevant.
_LEAST_DISTANCE = 0.01
#: Fewer than 1 in 20 samples are outliers, which have their own column in the table.
_LEAST_SHARE = 0.05
#: Upper limit for the share of unimodal samples in which `modality` finds several modes: 5 to 7 % of uniform and of
#: Pareto samples.
_CHANCE = 0.07
#: Smallest p-value in the dip test's table.
_SURE = 0.0005
#: Probability of a warning by chance, over all runners and phases.
_SIGNIFICANCE = 0.01
#: Smaller groups of processes may be a coincidence.
_LEAST_PROCESSES = 8
#: Smallest share of a group. A group is never a single process, which is an outlier.
_LEAST_GROUP = 0.15
#: Smallest gap between groups, in standard deviations within groups, after division by the number of processes.
#: Exponential medians without groups exceed it in 4 of 10 000 cases, or once in 100 runs of 12 runners and 2 phases
#: (17.9 of 8 processes, 14.1 of 10, 6.0 of 20, 2.8 of 40, by simulation). Uniform and normal medians exceed it less
#: often.
_LEAST_GAP = 150.0


def cautions(runners: list[TimedRunner]) -> list[Notice]:
    """Returns warnings about modes within processes and about groups of processes."""
    return [*_within(runners), *_between(runners)]


def _within(runners: list[TimedRunner]) -> list[Notice]:
    """Returns a warning about phases with several modes within most processes."""
    tests = sum(len(runner.phases()) for runner in runners)
    several = []
    for runner in runners:
        for phase in runner.phases():
            found = [modality(process.phases[phase]) for process in runner.processes]
            if text := _describe_modes(found, tests):
                several.append(f"{runner.name} {phase}: {text}")
    message = "times have several levels within a process: a median lies in one of them, or jumps between"
    hint = "look at the samples in the run file: clock frequency, allocations and other work come and go"
    return of_found("several_modes", message, several, hint)


def _describe_modes(found: list[Modality], tests: int) -> str | None:
    """Describes a phase whose processes mostly have several modes.

    Returns None if chance can explain the modes.
    """
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
    """Checks that two adjacent modes are far apart and that both are not outliers."""
    pairs = zip(found.modes, found.modes[1:], strict=False)
    return any(
        right.position > left.position * (1 + _LEAST_DISTANCE) and min(left.share, right.share) >= _LEAST_SHARE
        for left, right in pairs
    )


def _tail(several: int, count: int) -> float:
    """Returns the probability of at least `several` multimodal processes by chance."""
    return sum(
        math.comb(count, one) * _CHANCE**one * (1 - _CHANCE) ** (count - one) for one in range(several, count + 1)
    )


def _between(runners: list[TimedRunner]) -> list[Notice]:
    """Returns a warning about phases whose processes fall into two groups."""
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
    """Returns the start of the second group in sorted medians; None for one group."""
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
        # Medians that a coarse clock rounds to the same tick are further apart than they seem.
        spread = max(math.sqrt(max(0.0, within) / (count - 2)), tick / medians[0], 1e-9)
        if gap > math.log1p(_LEAST_DISTANCE) and gap / spread > _LEAST_GAP / count:
            gaps[border] = gap / spread
    return max(gaps, key=lambda border: gaps[border]) if gaps else None


def _group(group: list[float]) -> str:
    return f"{len(group)} processes around {duration(group[len(group) // 2])}"
