"""Warnings about several levels of times.

The levels are modes within a process, or two groups of processes.
"""

from __future__ import annotations

import math
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.machine.warnings.findings import Finding, format_duration, format_share, report_findings, row_names
from fastrnns_rs.stats import modality

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
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
#: With fewer processes, a second group would be a single process, which is an outlier.
_LEAST_PROCESSES = 5
#: Smallest share of a group. A group is never a single process, which is an outlier.
_LEAST_GROUP = 0.15
#: Smallest gap between groups of few processes, in standard deviations within groups.
#: Exponential, uniform and normal medians without groups exceed it in 4 of 10 000 cases at most, by simulation.
_LEAST_GAPS = {5: 47.5, 6: 29.5, 7: 22.0}
#: The same from 8 processes on, after division by the number of processes (17.8 of 8 processes, 13.7 of 10, 6.0 of 20,
#: 2.8 of 40, by simulation).
_LEAST_GAP = 150.0
#: Number of phases for which these gaps keep the probability of a warning: 12 runners and 2 phases. Fewer phases may
#: have smaller gaps.
_PHASES = 24


#: Numbers in a sentence.
_NUMBERS = {2: "two", 3: "three"}


class _Levels(NamedTuple):
    """Levels of the times of a phase.

    Attributes:
        number: Number of levels.
        text: Levels of the clearest process with their shares, and number of processes with several levels.
    """

    number: int
    text: str


def find_warnings(runners: list[TimedRunner]) -> list[RunWarning]:
    """Returns warnings about modes within processes and about groups of processes."""
    return [*_within(runners), *_between(runners)]


def _within(runners: list[TimedRunner]) -> list[RunWarning]:
    """Returns a warning about phases with several modes within most processes."""
    tests = sum(len(runner.phases()) for runner in runners)
    several: list[tuple[str, str, _Levels]] = []
    for runner in runners:
        for phase in runner.phases():
            found = _find_levels([modality(process.phases[phase]) for process in runner.processes], tests)
            if found is not None:
                several.append((runner.name, phase, found))
    if len(several) == 1:
        ((name, phase, found),) = several
        message = f"the {phase} median of {name} may jump between {_NUMBERS.get(found.number, found.number)} levels"
        rows = row_names(name, [phase])
        return [make_warning("several_modes", message=message, evidence=found.text, rows=rows)]
    named = [(row, found) for name, phase, found in several for row in row_names(name, [phase])]
    return report_findings("several_modes", [Finding(f"{row}: {found.text}", [row]) for row, found in named])


def _find_levels(found: list[Modality], tests: int) -> _Levels | None:
    """Returns the levels of a phase whose processes mostly have several modes.

    Returns None if chance can explain the modes.
    """
    several = [one for one in found if _has_several(one)]
    sure = [one for one in several if one.p_value <= _SURE]
    count = len(found)
    most = count // 2 + 1
    if len(sure) < most and (len(several) < most or _tail(len(several), count) > _SIGNIFICANCE / tests):
        return None
    clearest = max(several, key=lambda one: one.dip)
    first, *others = clearest.modes
    modes = [
        f"{format_duration(first.position)} ({format_share(first.share)} of samples)",
        *(f"{format_duration(mode.position)} ({format_share(mode.share)})" for mode in others),
    ]
    text = f"{', '.join(modes[:-1])} and {modes[-1]}"
    where = f" in {len(several)} of {count} processes" if count > 1 else ""
    return _Levels(number=len(clearest.modes), text=f"{text}{where}")


def _has_several(found: Modality) -> bool:
    """Checks that two adjacent modes are far apart and that both are not outliers."""
    pairs = zip(found.modes, found.modes[1:], strict=False)
    return any(
        right.position > left.position * (1 + _LEAST_DISTANCE) and min(left.share, right.share) >= _LEAST_SHARE
        for left, right in pairs
    )


def _tail(several: int, count: int) -> float:
    """Returns the probability of at least `several` multimodal processes by chance."""
    # Logarithms, because binomial coefficients of more than 1,029 processes are too large for a float.
    logs = [math.lgamma(one + 1) for one in range(count + 1)]
    with_modes, without = math.log(_CHANCE), math.log1p(-_CHANCE)
    return sum(
        math.exp(logs[count] - logs[one] - logs[count - one] + one * with_modes + (count - one) * without)
        for one in range(several, count + 1)
    )


def _between(runners: list[TimedRunner]) -> list[RunWarning]:
    """Returns a warning about phases whose processes fall into two groups."""
    grouped = []
    tests = sum(len(runner.phases()) for runner in runners)
    for runner in runners:
        for phase in runner.phases():
            medians = sorted(one.medians_ns[phase] for one in runner.replicates())
            border = _border(medians, runner.result.timer_resolution_ns or 0, tests)
            if border is not None:
                (row,) = row_names(runner.name, [phase])
                text = f"{row}: {_describe_group(medians[:border])} and {_describe_group(medians[border:])}"
                grouped.append(Finding(text, [row]))
    return report_findings("process_modes", grouped)


def _least_gap(count: int, tests: int) -> float:
    """Returns the smallest gap between groups, in standard deviations within groups.

    Args:
        count: Number of processes.
        tests: Number of phases in the run, which share the probability of a warning by chance.
    """
    # The tail of the ratio of a gap to a standard deviation falls with this power of the ratio, or faster.
    smaller: float = (min(tests, _PHASES) / _PHASES) ** (1 / (count - 2))
    return _LEAST_GAPS.get(count, _LEAST_GAP / count) * smaller


def _border(medians: list[float], tick: float, tests: int) -> int | None:
    """Returns the start of the second group in sorted medians; None for one group."""
    count = len(medians)
    if count < _LEAST_PROCESSES:
        return None
    logs = [math.log(median / medians[0]) for median in medians]
    sums, squares = [0.0, *accumulate(logs)], [0.0, *accumulate(log * log for log in logs)]
    least, least_gap = max(2, math.ceil(_LEAST_GROUP * count)), _least_gap(count, tests)
    gaps = {}
    for border in range(least, count - least + 1):
        gap = logs[border] - logs[border - 1]
        within = sum(
            squares[end] - squares[begin] - (sums[end] - sums[begin]) ** 2 / (end - begin)
            for begin, end in ((0, border), (border, count))
        )
        # Medians that a coarse clock rounds to the same tick are further apart than they seem.
        spread = max(math.sqrt(max(0.0, within) / (count - 2)), tick / medians[0], 1e-9)
        if gap > math.log1p(_LEAST_DISTANCE) and gap / spread > least_gap:
            gaps[border] = gap / spread
    return max(gaps, key=lambda border: gaps[border]) if gaps else None


def _describe_group(medians: list[float]) -> str:
    return f"{len(medians)} processes around {format_duration(medians[len(medians) // 2])}"
