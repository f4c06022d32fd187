"""Loop in slices, which take turns with those of another live process."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastrnns_rs.processes.phases import TURN

if TYPE_CHECKING:
    from queue import SimpleQueue


#: Minimum number of iterations of a slice, the first of which is not a sample.
_LEAST = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Slices:
    """Slices of a loop.

    Attributes:
        count: Number of slices.
        seconds: Duration of a slice, in seconds.
    """

    count: int
    seconds: float


class Turns:
    """Number of iterations to run next, in slices that the parent begins.

    Other processes ran between two slices, and took the caches. The first iteration of each slice fills
    them again, and is not a sample; only that of the first slice is kept, as the first iteration of the process.

    Args:
        slices: Slices of the loop.
        capacity: Maximum number of iterations of the loop.
        words: Words of the parent: `turn` for a slice, `end` for the end of the loop.
        on_phase: Function that tells the parent that this process waits.
        clock: Clock in seconds.

    Attributes:
        refilling: First iterations of slices, which are not samples.
        starts: First iteration of each slice.
    """

    def __init__(
        self,
        slices: Slices,
        capacity: int,
        words: SimpleQueue[str],
        on_phase: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._slices = slices
        self._most = max(_LEAST, capacity // slices.count)
        self._capacity = capacity
        self._words = words
        self._on_phase = on_phase
        self._clock = clock
        #: Number of iterations of the next slice, by the one before it.
        self._expected = 1
        self._begin = 0
        self._begun = 0.0
        self._is_running = False
        self.refilling: set[int] = set()
        self.starts: list[int] = []

    def slice_starts(self) -> list[int]:
        """Returns the first sample of each slice, by its place among the samples."""
        return [max(0, start - number + 1) if number else 0 for number, start in enumerate(self.starts)]

    def next(self, count: int, _phases: Callable[[], Sequence[Sequence[int]]]) -> int:
        """Returns the number of iterations to run; 0 when the parent ends the loop.

        Args:
            count: Number of complete iterations.
        """
        if self._is_running and (more := self._more(count)):
            return more
        return self._wait(count)

    def _more(self, count: int) -> int:
        """Returns the number of iterations that are left in the current slice."""
        done, spent = count - self._begin, self._clock() - self._begun
        left = self._slices.seconds - spent
        most = min(self._most - done, self._capacity - count)
        if most <= 0 or (left <= 0 and done >= _LEAST):
            self._expected = max(_LEAST, round(done * min(1.0, self._slices.seconds / spent))) if spent > 0 else done
            return 0
        by_time = math.ceil(left * done / spent) if spent > 0 else done
        return min(max(1, by_time), done, most)

    def _wait(self, count: int) -> int:
        self._is_running = False
        self._on_phase(TURN)
        if self._words.get() != TURN or count >= self._capacity:
            return 0
        self._is_running, self._begin = True, count
        self.starts.append(count)
        if count:
            self.refilling.add(count)
        self._begun = self._clock()
        return max(1, min(self._expected, self._most, self._capacity - count))
