"""Pairs of processes of `ab`, which ran right after each other in random order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine.noise.storage import HINTS

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Process, Run

Phase = Literal["forward", "backward"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessPair:
    """Times of two processes of one runner.

    Attributes:
        baseline_ns: Time of the process of side `a` in nanoseconds, as `Process.median_ns`.
        candidate_ns: Time of the process of side `b`, in nanoseconds.
        baseline_first: True if the process of side `a` ran first.
    """

    baseline_ns: float
    candidate_ns: float
    baseline_first: bool

    @property
    def in_launch_order(self) -> tuple[float, float]:
        """Times of the first process and of the second, in nanoseconds."""
        times = (self.baseline_ns, self.candidate_ns)
        return times if self.baseline_first else (times[1], times[0])

    @property
    def log_level(self) -> float:
        """Mean of both logarithms, whichever side or place is slower."""
        return (math.log(self.baseline_ns) + math.log(self.candidate_ns)) / 2


def find_pairs(run: Run) -> dict[Phase, list[ProcessPair]]:
    """Returns the pairs of each phase, in the order of the run.

    Args:
        run: Run of `ab --same`. Pairs with a failed or interrupted process are ignored.

    Raises:
        UsageError: If the run does not have two sides of one runner.
    """
    runners = {result.runner for result in run.results}
    if len(runners) != 1 or sorted(result.side or "" for result in run.results) != ["a", "b"]:
        names = ", ".join(sorted(runners)) or "none"
        message, (hint, command_hint) = f"a noise floor needs 1 runner on 2 sides, and the run has {names}", HINTS
        raise UsageError(message, hint, command_hint=command_hint)
    sides = {result.side: {one.index: one for one in result.processes if _ended(one)} for result in run.results}
    shared = [(sides["a"][index], sides["b"][index]) for index in sides["a"] if index in sides["b"]]
    shared.sort(key=lambda pair: min(one.order for one in pair))
    found: dict[Phase, list[ProcessPair]] = {"forward": [_pair(*pair, "forward") for pair in shared]}
    # No process of a model without a backward phase has backward times.
    with_backward = [pair for pair in shared if all(one.backward_ns is not None for one in pair)]
    if with_backward:
        found["backward"] = [_pair(*pair, "backward") for pair in with_backward]
    return found


def add_phases(pairs: Mapping[Phase, Sequence[ProcessPair]]) -> Sequence[ProcessPair]:
    """Returns the pairs of the whole iteration: the times of all phases, added."""
    if len({len(each) for each in pairs.values()}) != 1:
        return pairs["forward"]
    return [
        ProcessPair(
            baseline_ns=math.fsum(one.baseline_ns for one in phases),
            candidate_ns=math.fsum(one.candidate_ns for one in phases),
            baseline_first=phases[0].baseline_first,
        )
        for phases in zip(*pairs.values(), strict=True)
    ]


def _ended(process: Process) -> bool:
    return process.status == "ok" and process.first_timed is not None


def _pair(one: Process, other: Process, phase: Phase) -> ProcessPair:
    return ProcessPair(
        baseline_ns=one.median_ns(phase) or 0.0,
        candidate_ns=other.median_ns(phase) or 0.0,
        baseline_first=one.order < other.order,
    )
