"""One side of a comparison, whatever kind of file it was read from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from fastrnns_rs.documents.codec import Notice
from fastrnns_rs.problem.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One runner and phase on one side.

    Attributes:
        runner: The runner's name; of foreign files, the benchmark's.
        group: The runner's family; None of foreign files, as all that fastrnns-rs alone knows.
        phase: `forward` or `backward`.
        problem: The problem that was measured; None of foreign files.
        timing_mode: How it was timed.
        medians_ns: One number a process; of a series without a process level, all its samples.
        n_samples: How many samples are behind them.
        lack: What is missing so that no verdict can come of it, such as "no process level: descriptive only".
        reason: Why there are no numbers, as "failed: out of memory".
        mode: `train` or `inference`.
    """

    runner: str
    group: str | None = None
    phase: Literal["forward", "backward"] | None = None
    problem: Problem | None = None
    timing_mode: str | None = None
    medians_ns: list[float]
    n_samples: int
    lack: str | None = None
    reason: str | None
    mode: Literal["train", "inference"] | None = None

    @property
    def failed(self) -> bool:
        """Whether it ran and did not work; what was skipped, or interrupted before a process ended, did not."""
        return self.reason is not None and self.reason.startswith(("failed", "timed out"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What was measured of one side.

    Attributes:
        label: What people call it.
        files: Where it was read from.
        series: What there is to compare.
        environment: Machine, software and plan, as flat keys such as `torch_version`.
        warnings: What whoever reads its numbers should know.
        runs: What was measured at once: the name inside each run file, the place of a foreign one.
    """

    label: str
    files: list[str]
    series: list[Series]
    environment: dict[str, Any]
    warnings: list[Notice]
    runs: list[str] = field(default_factory=list)
