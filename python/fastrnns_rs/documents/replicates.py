"""Replicates: a process, or the ranks of one index, which ran at the same time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from fastrnns_rs._core import quantiles

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Process


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


def median(samples: Sequence[int]) -> float:
    """Returns the median of a process's timed samples, in nanoseconds."""
    return quantiles(samples, [0.5])[0]


def levels(replicates: Sequence[Sequence[Sequence[int]]]) -> list[float]:
    """Returns the time of each replicate in nanoseconds.

    It is the median of its process, or the geometric mean of the medians of its ranks.
    """
    return [level([median(one) for one in ranks]) for ranks in replicates]
