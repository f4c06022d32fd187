"""What the CUDA allocator does while a module runs, written down for torch's viewer of memory."""

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
    """Records some calls of a module for a CUDA device; the file is written whole or not at all.

    Args:
        loaded: The module, warmed up: what compiling it allocates is of no interest.
        path: Where the pickled snapshot goes.

    Returns:
        `memory_snapshot`, True: the snapshot is there.
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
    """Has the allocator write down what it does; it stops whatever happens, for recording slows every allocation."""
    allocator: Any = torch.cuda.memory
    allocator._record_memory_history(max_entries=_MOST_EVENTS)  # noqa: SLF001
    try:
        yield allocator
    finally:
        allocator._record_memory_history(enabled=None)  # noqa: SLF001
