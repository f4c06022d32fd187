"""Where a child process keeps what `torch.compile` makes: a folder of its own, gone when it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.processes.temporary_folder import temporary_folder

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

#: What tells Inductor and Triton where to keep their files, and the folder of each within one.
_PARTS = {"TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton"}
VARIABLES = frozenset(_PARTS)


def variables_for(folder: str | Path) -> dict[str, str]:
    """The environment variables that have a process keep its files in a folder."""
    return {name: str(Path(folder).resolve() / part) for name, part in _PARTS.items()}


def own_folder() -> AbstractContextManager[str]:
    """A new and empty folder for the length of the block."""
    return temporary_folder("fastrnns-rs-compile-")
