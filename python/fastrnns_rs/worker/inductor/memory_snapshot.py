"""Snapshot of the CUDA allocator during calls, for torch's memory viewer."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from fastrnns_rs.worker.inductor.loader import Loaded

#: As upstream: that many events are kept, the last ones, and that many calls are recorded.
_MOST_EVENTS = 100_000
_CALLS = 10


def write(loaded: Loaded, path: str) -> dict[str, Any]:
    """Records some calls of a module for a CUDA device, and writes the snapshot.

    The file is written completely or not at all.

    Args:
        loaded: Module after its warm-up, so that the snapshot does not contain compiling.
        path: Path of the pickled snapshot.

    Returns:
        `memory_snapshot`, True: the snapshot exists.
    """
    with _recording() as allocator:
        for _ in range(_CALLS):
            loaded.run()
        loaded.wait()
        try:
            allocator._dump_snapshot(path)  # noqa: SLF001  # torch has no public name for it, nor below
        except BaseException:
            Path(path).unlink(missing_ok=True)
            raise
    return {"memory_snapshot": True}


@contextlib.contextmanager
def _recording() -> Iterator[Any]:
    """Records the events of the allocator inside the block.

    Recording always ends with the block, because it slows every allocation.
    """
    allocator: Any = torch.cuda.memory
    allocator._record_memory_history(max_entries=_MOST_EVENTS)  # noqa: SLF001
    try:
        yield allocator
    finally:
        allocator._record_memory_history(enabled=None)  # noqa: SLF001
