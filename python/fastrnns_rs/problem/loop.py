"""Length of the timed loop of a process: a number of iterations, or seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fastrnns_rs.errors import unknown

#: Time at which the loop waits for the device: the end of each iteration, or of each phase.
Sync = Literal["iteration", "phase"]
SYNCS: tuple[Sync, ...] = ("iteration", "phase")

#: Number of times that a process without a steady state is extended by its own length.
EXTENSIONS = 1
#: Minimum without the first iteration. Fewer iterations show no steady state, and their median is unreliable.
LEAST_ITERATIONS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """Stop conditions of a process's loop. The first iteration never counts.

    Attributes:
        warmup: Exact number of iterations before the timed iterations; None to detect them.
        nloops: Exact number of timed iterations; None for as many as fit in `seconds`.
        seconds: Duration of the loop in seconds where a count is missing, without the first iteration.
        least: Minimum number of iterations, if they take no more than some seconds, without the first iteration.
        most: Maximum number of iterations, even if they are short, without the first iteration.
        sync: Time at which the loop waits for the device.
    """

    warmup: int | None
    nloops: int | None
    seconds: float
    least: int = LEAST_ITERATIONS
    most: int = 1000
    sync: Sync = "iteration"

    @property
    def is_exact(self) -> bool:
        """True if the number of iterations is known before the loop."""
        return self.warmup is not None and self.nloops is not None

    @property
    def first_stop(self) -> int:
        """Number of iterations after which the loop first decides whether to continue.

        The number includes the first iteration.
        """
        if self.nloops is not None:
            # The first iteration is part of the warm-up or comes before it, so it is never a sample.
            return max(1, LEAST_ITERATIONS if self.warmup is None else self.warmup) + self.nloops
        return max(1, self.warmup or 0) + self.most

    @property
    def capacity(self) -> int:
        """Maximum number of iterations of the loop."""
        return self.first_stop if self.is_exact else (1 + EXTENSIONS) * self.first_stop


def check_sync(sync: str) -> None:
    """Rejects an unknown time of waiting for the device.

    Raises:
        UsageError: If the value is unknown.
    """
    if sync not in SYNCS:
        raise unknown("invalid value", sync, SYNCS, where="sync")
