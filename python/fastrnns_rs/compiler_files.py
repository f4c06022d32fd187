"""Where a child process keeps what `torch.compile` makes: a folder of its own, gone when it is."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What tells Inductor and Triton where to keep their files, and the folder of each within one.
_PARTS = {"TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton"}
VARIABLES = frozenset(_PARTS)


def variables_for(folder: str | Path) -> dict[str, str]:
    """The environment variables that have a process keep its files in a folder."""
    return {name: str(Path(folder).resolve() / part) for name, part in _PARTS.items()}


@contextmanager
def own_folder() -> Iterator[str]:
    """A new and empty folder for the length of the block."""
    folder = tempfile.mkdtemp(prefix="fastrnns-rs-compile-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
