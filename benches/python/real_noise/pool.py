"""The pool: many processes of one LSTM, and some of one with more work, in random order within each round."""

from __future__ import annotations

import statistics
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from real_noise.command import PROBLEM, RUNNERS, fastrnns_rs, tell

from fastrnns_rs import Run

if TYPE_CHECKING:
    from pathlib import Path

    from fastrnns_rs.documents.run_file import Result

PHASES = ("forward", "backward")


@dataclass(frozen=True)
class Process:
    """The timed samples of one process.

    Attributes:
        order: Its place in the run.
        samples: By phase, in nanoseconds.
    """

    order: int
    warmup_class: str | None
    samples: dict[str, list[int]]

    def median(self, phase: str) -> float:
        """The median of the timed samples, in nanoseconds."""
        return statistics.median(self.samples[phase])


@dataclass(frozen=True)
class Pool:
    """What was measured.

    Attributes:
        same: Processes of `lstm` and `lstm_again`.
        more: Those of `lstm_more`.
    """

    run: Run
    same: list[Process]
    more: list[Process]


def measure(path: Path, processes: int) -> None:
    """Measures the pool into `path`, or goes on with one that was interrupted; a whole one is left as it is."""
    if path.exists():
        known = Run.load(path).status
        if known != "interrupted":
            tell(f"{path} is there; its run is {known}")
            return
        tell(f"going on with {path}")
        status, _ = fastrnns_rs("bench", "--resume", path)
    else:
        tell(f"measuring 3 x {processes} processes into {path}")
        named = ["--group", "rnns", "--rnns", "lstm", "lstm_again", "lstm_more", "--runner-file", str(RUNNERS)]
        status, _ = fastrnns_rs("bench", *named, *PROBLEM, "--processes", str(processes), "--output", path)
    if status and (not path.exists() or Run.load(path).status == "interrupted"):
        sys.exit(f"bench ended with {status}; what it measured is in {path}, and the same call goes on from there")


def read(path: Path) -> Pool:
    """The processes of a run file that ended well, whatever the class of their warm-up."""
    run = Run.load(path)
    found = {result.runner: _ended_well(result) for result in run.results}
    return Pool(run, [*found["lstm"], *found["lstm_again"]], found["lstm_more"])


def _ended_well(result: Result) -> list[Process]:
    # All that `compare` would count: to leave out what did not settle would make the noise look smaller.
    return [
        Process(
            one.order,
            one.warmup_class,
            {"forward": one.forward_ns[one.steady_from :], "backward": one.backward_ns[one.steady_from :]},
        )
        for one in result.processes
        if one.status == "ok" and one.steady_from is not None
    ]
