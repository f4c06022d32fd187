"""What counts as one replicate: a process, or the ranks of one index, which ran at the same time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.stats import quantiles

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Process


def by_index(processes: Iterable[Process]) -> list[list[Process]]:
    """The processes of each index, in order: one, or one of each rank."""
    found: dict[tuple[int, int | None], list[Process]] = {}
    for number, one in enumerate(processes):
        # Only ranks ran at the same time, whatever a file numbers alike.
        found.setdefault((one.index, None) if one.rank is not None else (number, number), []).append(one)
    return list(found.values())


def counted(processes: Iterable[Process]) -> list[list[Process]]:
    """Those replicates of which every process measured to its end."""
    return [one for one in by_index(processes) if all(process.status == "ok" for process in one)]


def level(medians: Sequence[float]) -> float:
    """The number of a replicate: the geometric mean of the medians of its ranks.

    Each rank weighs alike, however many samples it has, and the number moves smoothly where ranks differ: the median of
    all their samples together would fall into the gap between two ranks, wherever chance has it.

    Args:
        medians: One of each rank; 0 where a timer saw nothing.
    """
    if len(medians) == 1:
        return medians[0]
    return math.exp(sum(map(math.log, medians)) / len(medians)) if min(medians) > 0 else 0.0


def median(samples: Sequence[int]) -> float:
    """The median of a process's timed samples, in nanoseconds."""
    return quantiles(samples, [0.5])[0]


def levels(replicates: Sequence[Sequence[Sequence[int]]]) -> list[float]:
    """The number of each replicate, in nanoseconds: the median of its process, or what those of its ranks make."""
    return [level([median(one) for one in ranks]) for ranks in replicates]
