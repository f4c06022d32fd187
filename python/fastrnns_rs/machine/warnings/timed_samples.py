"""Timed samples of a run by runner, as the input of warnings."""

from __future__ import annotations

from dataclasses import dataclass

from fastrnns_rs.documents.replicates import counted, level, process_time
from fastrnns_rs.documents.run_file import Process, Result, Run

#: A century: a longer time was not measured. The sum of a few such times still fits in nanoseconds.
_LONGEST_NS = 100 * 366 * 24 * 3600 * 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedProcess:
    """Successful process.

    Attributes:
        record: Process, as in the run file.
        phases: Timed samples of each phase in ns, all above 0.
        medians_ns: Time of each phase in ns, as `Process.median_ns`.
    """

    record: Process
    phases: dict[str, list[int]]
    medians_ns: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicate:
    """A process, or the ranks of one index, which ran at the same time.

    Attributes:
        order: Position in the run.
        medians_ns: Median of each phase, in ns.
    """

    order: int
    medians_ns: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedRunner:
    """Result with at least one successful process, all with the same phases."""

    name: str
    result: Result
    processes: list[TimedProcess]

    def phases(self) -> list[str]:
        """Returns `forward`, and `backward` if the runner has a backward phase."""
        return list(self.processes[0].phases)

    def replicates(self) -> list[Replicate]:
        """Returns the replicates; the ranks of one index count as one replicate."""
        known = {id(one.record): one.medians_ns for one in self.processes}
        found = [
            (ranks[0].order, [known[id(one)] for one in ranks if id(one) in known])
            for ranks in counted(self.result.processes)
        ]
        return [
            Replicate(order=order, medians_ns={phase: level([one[phase] for one in each]) for phase in each[0]})
            for order, each in found
            if each
        ]


def timed_runners(run: Run) -> list[TimedRunner]:
    """Returns the results that have samples, in the order of the run file."""
    found = []
    for result in run.results:
        processes = [timed for one in result.processes if (timed := _timed(one)) is not None]
        phases = [set(one.phases) for one in processes]
        if result.status == "ok" and processes and all(one == phases[0] for one in phases):
            found.append(TimedRunner(name=display_name(result), result=result, processes=processes))
    return found


def display_name(result: Result) -> str:
    """Returns the name of a result on screens, with its side in a run of `ab`."""
    return result.title if result.side is None else f"{result.title} ({result.side})"


def all_positive(samples: list[int]) -> bool:
    """Returns True if there are samples and all have logarithms."""
    return bool(samples) and min(samples) > 0 and max(samples) < _LONGEST_NS


def _timed(process: Process) -> TimedProcess | None:
    first = process.first_timed
    if process.status != "ok" or first is None or first < 0:
        return None
    phases = {"forward": process.forward_ns[first:]}
    if process.backward_ns is not None:
        phases["backward"] = process.backward_ns[first:]
    # A clock that is too coarse gives zeros, which have their own warning.
    if not all(all_positive(samples) for samples in phases.values()):
        return None
    medians = {phase: process_time(samples, process.timed_turns) for phase, samples in phases.items()}
    return TimedProcess(record=process, phases=phases, medians_ns=medians)
