"""Number of iterations of a process, and selection of those that count.

A loop has an exact number of iterations, or runs until its time is over and its times are steady.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastrnns_rs.problem.loop import EXTENSIONS
from fastrnns_rs.stats import steady_state

if TYPE_CHECKING:
    from fastrnns_rs.problem.loop import Loop

#: Time limit for the minimum number of iterations, in seconds: on a busy machine they could take minutes.
_LONGEST_S = 5.0
#: Minimum number of iterations after the first, without a time limit.
_FEWEST_ITERATIONS = 3
#: Number of iterations after the first that may compile, as TorchScript does in some of them, and factor over the usual
#: duration from which one does. Of the first three, two may.
_MAY_COMPILE, _COMPILING, _USUAL = 4, 10, 3
_NS_PER_S = 1e9
#: Divisor: a process without a steady state is represented by the later half of its iterations.
_LATER_HALF = 2
#: Classes from the worst to the best: an iteration has the worse class of its two phases.
_WORST_FIRST = ("too_few", "no_steady_state", "slowdown", "warmup", "flat")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedPart:
    """Iterations of a process that count.

    Attributes:
        steady_from: First of these iterations.
        classification: `flat`, `warmup`, `slowdown`, `no_steady_state` or `too_few`, of the phase that is worse,
            without the first iteration.
        starts_steady: True if the steady state begins no later than the timed part.
        change_points: First iterations of later levels, for each phase.
    """

    steady_from: int
    classification: str
    starts_steady: bool
    change_points: tuple[list[int], ...]


def timed_part(loop: Loop, phases: Sequence[Sequence[int]]) -> TimedPart:
    """Finds the iterations that count.

    Args:
        loop: Requested loop.
        phases: For each phase one sample per iteration, including the first iteration.
    """
    count = len(phases[0])
    # A timer may measure 0 ns for a short phase, and levels are ratios: 1 ns replaces 0.
    found = [steady_state([max(1, one) for one in samples[1:]]) for samples in phases if len(samples) > 1]
    names = [one.classification for one in found]
    worst = next((name for name in _WORST_FIRST if name in names), "too_few")
    begins = [one.steady_from for one in found]
    steady = None if worst == "too_few" or None in begins else 1 + max(one for one in begins if one is not None)
    if loop.warmup is not None:
        begin = max(1, loop.warmup)
    elif loop.nloops is not None:
        begin = max(1, count - loop.nloops)
    elif steady is not None:
        begin = steady
    else:
        begin = 1 if worst == "too_few" else max(1, count // _LATER_HALF)
    return TimedPart(
        steady_from=begin,
        classification=worst,
        starts_steady=steady is not None and steady <= begin,
        # The first iteration is in no level.
        change_points=tuple([1 + level.begin for level in one.segments[1:]] for one in found),
    )


class Pace:
    """Number of iterations to run next. It is computed between iterations.

    Args:
        loop: Limits of the loop.
        clock: Clock in seconds.
    """

    def __init__(self, loop: Loop, clock: Callable[[], float] = time.monotonic) -> None:
        self._loop = loop
        self._clock = clock
        self._begun = 0.0
        self._seconds = loop.seconds
        self._stop = loop.first_stop
        self._extensions = 0
        #: The first iteration, or all of a warm-up whose length is given.
        self._start = max(1, loop.warmup or 0)

    def next(self, count: int, phases: Callable[[], Sequence[Sequence[int]]]) -> int:
        """Returns the number of iterations to run; 0 when the loop is over.

        Args:
            count: Number of complete iterations.
            phases: Function that returns the samples so far.
        """
        if count == 0:
            return 1
        if count < self._start:
            return self._start - count
        if count == self._start:
            # The first iteration compiles, tunes and allocates: the loop's time starts after it and the warm-up.
            self._begun = self._clock()
        left = self._left(count, phases)
        if left > 0 or self._loop.is_exact or self._extensions == EXTENSIONS:
            return max(0, left)
        if self._loop.warmup is not None or timed_part(self._loop, phases()).starts_steady:
            return 0
        self._extensions += 1
        self._seconds *= 2
        self._stop = min(2 * count, self._loop.capacity)
        return max(0, self._left(count, phases))

    def _left(self, count: int, phases: Callable[[], Sequence[Sequence[int]]]) -> int:
        until_stop = self._stop - count
        if self._loop.nloops is not None:
            return until_stop
        done = count - self._start
        spent = self._clock() - self._begun - _compiling_s([one[self._start :] for one in phases()])
        if done < self._loop.least:
            longest = max(_LONGEST_S, self._seconds)
            if spent >= longest and done >= _FEWEST_ITERATIONS:
                return 0
            by_time = math.ceil(max(0.0, longest - spent) * done / spent) if spent > 0 else 1
            return min(until_stop, self._loop.least - done, max(1, by_time))
        time_left = self._seconds - spent
        if time_left <= 0:
            return 0
        by_time = math.ceil(time_left * done / spent) if spent > 0 else done
        # At most as many as so far: a first prediction from few iterations may be far off.
        return min(until_stop, by_time, done)


def _compiling_s(phases: Sequence[Sequence[int]]) -> float:
    """Returns the time that iterations take because they compile, in seconds.

    Args:
        phases: For each phase one sample per iteration.
    """
    times = [*map(sum, zip(*phases, strict=True))]
    if not times:
        return 0.0
    usual = sorted(times)[(len(times) - 1) // _USUAL]
    return sum(one - usual for one in times[:_MAY_COMPILE] if one > _COMPILING * usual) / _NS_PER_S
