"""Part of a history with the times of each row over runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from fastrnns_rs.documents.part import Part


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TrendPoint(Part):
    """Point estimate of a row in one run.

    Attributes:
        run_id: Id of the run.
        started_utc: Start of its last session.
        commit: Commit of the working directory; None if it was not a checkout.
        dirty: True if files there differed from the commit; None if that is unknown.
        tags: Tags of the run.
        torch_version: Version of torch.
        n_processes: Number of processes.
        estimate_ns: Point estimate of the time, in nanoseconds.
        ci_low_ns: Lower end of its 95 % interval, in nanoseconds; None for too few processes.
        ci_high_ns: Upper end of its 95 % interval, in nanoseconds; None for too few processes.
    """

    run_id: str
    started_utc: str
    commit: str | None
    dirty: bool | None
    tags: list[str]
    torch_version: str
    n_processes: int
    estimate_ns: float
    ci_low_ns: float | None
    ci_high_ns: float | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TrendSegment(Part):
    """Consecutive points without a change.

    Attributes:
        begin: Place of its first point.
        end: Place after its last point.
        level_ns: Geometric mean of its point estimates, in nanoseconds.
    """

    begin: int
    end: int
    level_ns: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Trend(Part):
    """Runner, phase and problem over the runs of one machine and device.

    Attributes:
        name: Name of the row, which distinguishes it from other rows.
        runner: Name of the runner.
        phase: `forward` or `backward`.
        device: Device that the runner ran on.
        machine_id: Hash of the machine's id. None if the machine has no id; runs with the same processor, number of
            CPUs and system are then one machine.
        points: A point for each run, the oldest first; at least two.
        segments: Segments between change points; a single segment if there are fewer than 8 points.
        session_stddev: Relative standard deviation between the sessions of a segment; None for fewer than 8 sessions.
        n_sessions: Number of sessions of all points.
    """

    name: str
    runner: str
    phase: Literal["forward", "backward"]
    device: str
    machine_id: str | None
    points: list[TrendPoint]
    segments: list[TrendSegment] = field(default_factory=list)
    session_stddev: float | None = None
    n_sessions: int
