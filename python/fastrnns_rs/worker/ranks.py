"""Worker of a rank that `torchrun` started.

It joins the process group of the ranks, and begins its loop when all ranks do.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import torch.distributed as dist

from fastrnns_rs.errors import RunnerError
from fastrnns_rs.processes.phases import WAIT

if TYPE_CHECKING:
    from torch._C._distributed_c10d import Store

    from fastrnns_rs.worker.timed_loop import More

#: Interval between checks of the other ranks, in seconds. Nothing is timed meanwhile.
_GLANCE_S = 0.002


def connect(meeting: dict[str, Any], timeout_s: float) -> Store:
    """Returns the store that the ranks of a meeting share.

    Args:
        meeting: Result of `torchrun.World.meeting`.
        timeout_s: Time limit for answers of the store, in seconds.
    """
    store = dist.TCPStore(  # type: ignore[attr-defined]
        meeting["address"],
        meeting["port"],
        meeting["size"],
        is_master=meeting["hosts"],
        timeout=timedelta(seconds=timeout_s),
        wait_for_workers=False,
        # A process that has hosted it before may host it again.
        multi_tenant=True,
    )
    shared: Store = dist.PrefixStore(meeting["name"], store)  # type: ignore[attr-defined]
    return shared


class Ranks:
    """Workers of one process index.

    Args:
        meeting: Result of `torchrun.World.meeting`, with a name that no other index has.
        timeout_s: Time limit for the other ranks, in seconds.
        on_phase: Called with the phase that begins.

    Raises:
        RunnerError: If another rank ended before it came here.
    """

    def __init__(self, meeting: dict[str, Any], timeout_s: float, on_phase: Callable[[str], None]) -> None:
        self._rank, self._size = meeting["rank"], meeting["size"]
        self._timeout_s = timeout_s
        self._on_phase = on_phase
        on_phase(WAIT)
        # torchrun or the rank channel of rank 0 hosts it already, and the rank channels are connected.
        self._store = connect({**meeting, "hosts": False}, timeout_s)
        self._wait_for_all("here")
        timeout = timedelta(seconds=timeout_s)
        # Gloo also on CUDA: the barrier is the host's, and NCCL would hold memory and a stream of the device.
        dist.init_process_group("gloo", store=self._store, rank=self._rank, world_size=self._size, timeout=timeout)

    def together(self, more: More) -> More:
        """Makes all ranks begin together, each after its first iteration.

        The first iteration compiles, tunes and allocates, which takes each rank a different time.

        Args:
            more: Function that returns the number of iterations to run next.
        """

        def after_all(count: int, phases: Any) -> int:
            if count == 1:
                self._on_phase(WAIT)
                self._wait_for_all("ready")
                dist.barrier()
                self._on_phase("measure")
            return more(count, phases)

        return after_all

    def _wait_for_all(self, place: str) -> None:
        self._store.set(f"{place}/{self._rank}", "")
        others = [rank for rank in range(self._size) if rank != self._rank]
        deadline = time.monotonic() + self._timeout_s
        while others:
            rank = others[0]
            if self._store.check([f"{place}/{rank}"]):
                others.pop(0)
            # The parent of each rank sends this to the others at the end of its worker.
            elif self._store.check([f"answer/{rank}"]):
                raise RunnerError(f"rank {rank} ended while this rank waited for it")
            elif time.monotonic() > deadline:
                raise RunnerError(f"rank {rank} did not come within {self._timeout_s:g} s")
            else:
                time.sleep(_GLANCE_S)
