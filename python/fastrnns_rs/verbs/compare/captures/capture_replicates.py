"""Captures of a side that count as one.

These are the captures of one process, and those of the ranks of one job.
"""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastrnns_rs.verbs.compare.captures.capture_side import CaptureSide


def find_replicates(side: CaptureSide) -> list[list[int]]:
    """Returns the places of the captures of each replicate.

    A replicate is a process with all its captures. If the captures are of several ranks of a job, it is a run of the
    job: the first process of every rank, the second of every rank, and so on.
    """
    by_rank: dict[tuple[int, ...], list[list[int]]] = {}
    for place, reading in enumerate(side.readings):
        processes = by_rank.setdefault(reading.ranks, [])
        for known in processes:
            if any(side.readings[one].processes & reading.processes for one in known):
                known.append(place)
                break
        else:
            processes.append([place])
    return [[*chain(*run)] for run in zip_longest(*by_rank.values(), fillvalue=())]
