"""The warning of times that have several levels within a process."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fastrnns_rs.machine.warnings.warning import duration, of_found
from fastrnns_rs.stats import modality

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import Notice
    from fastrnns_rs.machine.warnings.timed_samples import TimedRunner
    from fastrnns_rs.stats import Modality

#: The default margin of a verdict: modes that are closer make no difference that matters.
_LEAST_DISTANCE = 0.01
#: Fewer samples than one in twenty are outliers, which the table has a column for.
_LEAST_SHARE = 0.05
#: The most samples with one mode that `modality` finds several in: 5 to 7 % of uniform ones, and of Pareto's.
_CHANCE = 0.07
#: The least p-value that the dip test's table can tell.
_SURE = 0.0005
#: How often chance alone may bring a warning, over all runners and phases.
_SIGNIFICANCE = 0.01


def cautions(runners: list[TimedRunner]) -> list[Notice]:
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
    """What is told of a phase that has several modes within most processes, and not by chance."""
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
    """Whether two neighbouring modes are far apart, and neither is a few outliers."""
    pairs = zip(found.modes, found.modes[1:], strict=False)
    return any(
        right.position > left.position * (1 + _LEAST_DISTANCE) and min(left.share, right.share) >= _LEAST_SHARE
        for left, right in pairs
    )


def _tail(several: int, count: int) -> float:
    """How likely so many processes of `count`, or more, have several modes by chance."""
    return sum(
        math.comb(count, one) * _CHANCE**one * (1 - _CHANCE) ** (count - one) for one in range(several, count + 1)
    )
