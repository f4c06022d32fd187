"""Replicates: a process, or the ranks of one index, which ran at the same time."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from fastrnns_rs._core import quantiles

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Process, Result, Run

#: Number of sessions per side from which sessions are the replicates.
LEAST_SESSIONS = 3
#: Number of captures per side from which changes have verdicts.
LEAST_REPEATS = 3
#: Share of the turns of a live process that are its warm-up: the same for both sides, so that turns remain pairs.
_WARMUP_TURNS = 0.2
#: Relative difference of equal ratios.
_ROUNDING = 1e-12


def by_index(processes: Iterable[Process]) -> list[list[Process]]:
    """Groups processes by index, in order: one process, or one of each rank."""
    found: dict[tuple[int, int | None], list[Process]] = {}
    for number, one in enumerate(processes):
        # Only ranks ran at the same time, even if a file repeats an index.
        found.setdefault((one.index, None) if one.rank is not None else (number, number), []).append(one)
    return list(found.values())


def counted(processes: Iterable[Process]) -> list[list[Process]]:
    """Returns the replicates in which every process measured to its end."""
    return [one for one in by_index(processes) if all(process.status == "ok" for process in one)]


def common_class(processes: Iterable[Process]) -> str | None:
    """Returns the class of the warm-up of processes, or `inconsistent`.

    Args:
        processes: Processes of complete replicates.

    Returns:
        None if no process has a class.
    """
    classes = {one.warmup_class for one in processes} - {None}
    return "inconsistent" if len(classes) > 1 else next(iter(classes), None)


def ran_in_rounds(results: Iterable[Result]) -> bool:
    """Returns True if the processes of each index ran before those of the next.

    Args:
        results: Results that are compared with each other.
    """
    orders: dict[int, list[int]] = {}
    for process in (process for one in results for process in one.processes):
        orders.setdefault(process.index, []).append(process.order)
    in_order = [orders[index] for index in sorted(orders)]
    return all(max(one) < min(other) for one, other in pairwise(in_order))


def pair_results(run: Run) -> Iterator[list[Result]]:
    """Yields the results of both sides of `ab` that are compared with each other.

    `show --sort` writes them in another order. A result without a partner is alone.
    """
    left, right = ([one for one in run.results if one.side == side] for side in ("a", "b"))
    # The sides of a run of two runners have different runners, those of `--b-device` different devices.
    for names in (("runner", "point", "device"), ("runner", "point"), ("point",), ()):
        others: dict[Hashable, list[Result]] = {}
        for one in right:
            others.setdefault(_key(one, names), []).append(one)
        found = [(one, other.pop(0)) for one in left if (other := others.get(_key(one, names)))]
        yield from map(list, found)
        paired = {id(one) for pair in found for one in pair}
        left, right = ([one for one in side if id(one) not in paired] for side in (left, right))
    yield from ([one] for one in (*left, *right))


def _key(result: Result, names: Iterable[str]) -> Hashable:
    known = {"runner": result.runner, "point": tuple(result.point.items()), "device": result.problem.device}
    return tuple(known[name] for name in names)


def count_planned(run: Run) -> int:
    """Returns the planned number of processes, without skipped runners."""
    # Older files have no list of planned runners.
    rows = max(len(run.plan.runners), len(run.results)) - sum(one.status == "skipped" for one in run.results)
    return run.plan.processes * rows * max(len(run.ranks), 1)


def level(medians: Sequence[float]) -> float:
    """Returns the time of a replicate: the geometric mean of its ranks' medians.

    Each rank counts equally, whatever its number of samples. The median of all samples together would depend on chance
    if ranks differ: it could lie anywhere between the times of two ranks.

    Args:
        medians: Median of each rank; 0 if a timer measured nothing.
    """
    if len(medians) == 1:
        return medians[0]
    return math.exp(sum(map(math.log, medians)) / len(medians)) if min(medians) > 0 else 0.0


def session_levels(times: Sequence[float], sessions: Sequence[Hashable]) -> list[float]:
    """Returns the time of each session: the geometric mean of its processes.

    Args:
        times: Time of each process; 0 if a timer measured nothing.
        sessions: Session of each process.
    """
    found: dict[Hashable, list[float]] = {}
    for session, time in zip(sessions, times, strict=True):
        found.setdefault(session, []).append(time)
    return [level(one) for one in found.values()]


def median(samples: Sequence[int]) -> float:
    """Returns the median of a process's timed samples, in nanoseconds."""
    return quantiles(samples, [0.5])[0]


def process_time(samples: Sequence[int], turns: Sequence[int] = ()) -> float:
    """Returns the time of a process in nanoseconds: the median of its timed samples.

    For a live process, it is the geometric mean of the medians of its turns. The speed of a machine may jump between
    two levels. Neighbouring turns of both sides share the level, while the median of all samples depends on how many of
    them were at each level.

    Args:
        samples: Timed samples.
        turns: First sample of each turn of a live process.
    """
    parts = [samples[begin:end] for begin, end in pairwise([*turns, len(samples)]) if begin < end]
    if len(parts) > 1 and min(map(min, parts)) > 0:
        return level([median(part) for part in parts])
    return median(samples)


def first_of_turns(turns: Sequence[int], count: int) -> int | None:
    """Returns the first iteration of a live process after the turns of its warm-up.

    Args:
        turns: First sample of each turn.
        count: Number of samples.

    Returns:
        None without turns, or if no sample is left. With a single turn, as where the other side ended, it would be the
        first iteration, which never counts: None too.
    """
    start = turns[math.ceil(_WARMUP_TURNS * (len(turns) - 1))] if turns else 0
    return start if 0 < start < count else None


def host_median(processes: Iterable[Process], phase: str) -> float | None:
    """Returns the median of the timed samples on the host, in nanoseconds.

    Args:
        processes: Processes of a result.
        phase: `forward` or `backward`.

    Returns:
        None if a process did not record them.
    """
    found: list[int] = []
    for one in processes:
        samples: list[int] | None = getattr(one, f"{phase}_host_ns")
        if samples is None:
            return None
        found += samples[one.first_timed :]
    return median(found) if found else None


def levels(replicates: Sequence[Sequence[Sequence[int]]]) -> list[float]:
    """Returns the time of each replicate in nanoseconds.

    It is the median of its process, or the geometric mean of the medians of its ranks.
    """
    return [level([median(one) for one in ranks]) for ranks in replicates]


def vary(
    baseline: Sequence[float], candidate: Sequence[float], *, paired: bool = False, session_error: float = 0.0
) -> bool:
    """Returns False if two sides differ without any variation.

    Neither the sides nor their pairs or sessions vary.

    The cause is a coarse clock, or copied times. The standard error is 0, which is no evidence for the difference.

    Args:
        baseline: Time of each replicate of the baseline, above 0.
        candidate: Time of each replicate of the candidate, above 0.
        paired: True if times of the same position are pairs. Pairs that differ all by one ratio do not vary: the times
            of one side were made from those of the other.
        session_error: Standard error of the log ratio between sessions; 0 if it is unknown.
    """
    if session_error > _ROUNDING:
        return True
    if len({*baseline}) == len({*candidate}) == 1 and baseline[0] != candidate[0]:
        return False
    ratios = [after / before for before, after in zip(baseline, candidate, strict=True)] if paired else []
    return not ratios or max(ratios) - min(ratios) >= _ROUNDING * max(ratios) or {*ratios} == {1.0}
