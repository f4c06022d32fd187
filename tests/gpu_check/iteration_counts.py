"""Counts of calls in one iteration of the timed loop, from a trace or from the emulated device's log."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emulated_cuda.machine import CallLog

#: The call that each forward begins with. Nothing else in the loop makes it.
BEGIN = "cudaStreamQuery"
#: Kinds of calls. A kind has several functions: which of them torch calls depends on its version.
KINDS = {
    "events": re.compile(r"cudaEventRecord(WithFlags)?"),
    "synchronisations": re.compile(r"cuda(Stream|Device|Event)Synchronize"),
    "waits": re.compile(r"cudaStreamWaitEvent"),
    "kernels": re.compile(r"cuda(LaunchKernel|LaunchKernelExC|LaunchCooperativeKernel)|cuLaunchKernel(Ex)?"),
    "graphs": re.compile(r"cudaGraphLaunch"),
    "copies": re.compile(r"cudaMemcpy\w*"),
    "sets": re.compile(r"cudaMemset\w*"),
}
#: The first iteration is checked, the second may still allocate.
_SKIPPED = 2


def of_iteration(log: CallLog) -> dict[str, int] | None:
    """Returns the counts of a usual iteration by kind, or None if the log has no iterations.

    The first iterations and the last ones differ from the others: they are checked.
    """
    # A version may have a suffix: `cudaLaunchKernel_v7000`.
    names = [re.sub(r"_(v\d+|ptsz)$", "", one.function) for one in log.calls]
    begins = [at for at, name in enumerate(names) if name == BEGIN]
    # The last one has no end here.
    windows = list(pairwise(begins))[_SKIPPED:-1]
    if not windows:
        return None
    counted = Counter(tuple(_count(names[begin:end])) for begin, end in windows)
    [(usual, _)] = counted.most_common(1)
    return dict(zip(KINDS, usual, strict=True))


def _count(names: list[str]) -> list[int]:
    return [sum(kind.fullmatch(name) is not None for name in names) for kind in KINDS.values()]
