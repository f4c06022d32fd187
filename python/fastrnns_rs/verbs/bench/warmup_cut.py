"""Warm-up of a runner: one first timed iteration for all its processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fastrnns_rs.documents.replicates import first_of_turns

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Process

#: Classes whose steady part begins where a level begins. Other processes do not show where a warm-up ends.
_STEADY = ("flat", "warmup", "slowdown")
#: A class counts if this share of the processes has it: a change in fewer processes is not typical of the runner.
_LEAST_PROCESSES = 0.5
#: A process keeps its own first timed iteration if the common one leaves fewer of its iterations.
_LEAST_REMAINDER = 0.25


def set_common_cut(processes: Sequence[Process]) -> list[Process]:
    """Sets the first timed iteration of each process to that of the runner.

    The samples of all processes then are of the same iterations. It is the latest start of a steady part among the
    processes of a class that at least half of them have, or the second iteration if there is no such class.

    Args:
        processes: Processes of the runner. Failed and interrupted processes are returned as they are.
    """
    ended = [one for one in processes if one.status == "ok"]
    first = _find_first(ended)
    return [_cut(first, one) if one.status == "ok" else one for one in processes]


def _cut(first: int, process: Process) -> Process:
    """Sets the first timed iteration.

    A process that has it is returned itself, because savers keep its text.
    """
    limit = _limit(first, process)
    return process if process.timed_from == limit else replace(process, timed_from=limit)


def _find_first(processes: Sequence[Process]) -> int:
    counts = Counter(one.warmup_class for one in processes)
    common = {name for name in _STEADY if counts[name] and counts[name] >= _LEAST_PROCESSES * len(processes)}
    return max((one.steady_from or 0 for one in processes if one.warmup_class in common), default=1)


def _limit(first: int, process: Process) -> int | None:
    count = len(process.forward_ns)
    if process.slices:
        start = first_of_turns(process.slices, count)
        return process.steady_from if start is None else start
    return first if count - first >= _LEAST_REMAINDER * count and count > first else process.steady_from
