"""Length of the timed loop of a process: a number of iterations, or seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fastrnns_rs.errors import UsageError

#: When the loop waits for the device: at the end of each iteration, or of each phase.
Sync = Literal["iteration", "phase"]
SYNCS: tuple[Sync, ...] = ("iteration", "phase")

#: How often a process that is not steady when it should end goes on for as long again.
EXTENSIONS = 1
#: Beside the first call. A steady state cannot be told from fewer, and a median of fewer says little.
LEAST_ITERATIONS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """What ends the loop of a process.

    Attributes:
        warmup: Iterations before the timed ones, exactly; None to detect them.
        nloops: Timed iterations, exactly; None for as many as `seconds` hold.
        seconds: How long the loop runs where a count is missing, the first call not included.
        least: Iterations that it runs at least, if they take no more than some seconds; the first call not included.
        most: Iterations after which it ends, however short they are; the first call not included.
        sync: When it waits for the device.
    """

    warmup: int | None
    nloops: int | None
    seconds: float
    least: int = LEAST_ITERATIONS
    most: int = 1000
    sync: Sync = "iteration"

    @property
    def is_exact(self) -> bool:
        """Whether the number of iterations is known beforehand."""
        return self.warmup is not None and self.nloops is not None

    @property
    def first_stop(self) -> int:
        """Iterations, the first call included, after which it is asked whether to go on."""
        if self.nloops is not None:
            # The first call is warm-up, or comes before it: it is never a sample.
            return max(1, LEAST_ITERATIONS if self.warmup is None else self.warmup) + self.nloops
        return max(1, self.warmup or 0) + self.most

    @property
    def capacity(self) -> int:
        """The most iterations that it can come to."""
        return self.first_stop if self.is_exact else (1 + EXTENSIONS) * self.first_stop


def check_sync(sync: str) -> None:
    """Refuses what is no moment to wait for the device.

    Raises:
        UsageError: It is none.
    """
    if sync not in SYNCS:
        raise UsageError(f"sync is {sync!r}", f"give one of {', '.join(SYNCS)}")
