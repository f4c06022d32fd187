"""Temporary folders that no interrupt leaves behind, among them those where `torch.compile` keeps what it makes."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

#: Attempts to remove the folder: each Ctrl-C interrupts one.
_TRIES = 5


@contextmanager
def temporary_folder(prefix: str) -> Iterator[str]:
    """A new and empty folder for the length of the block.

    Unlike `tempfile.TemporaryDirectory` it removes the folder even if Ctrl-C comes while it is made or removed.

    Args:
        prefix: First letters of its name.

    Raises:
        OSError: If the folder cannot be made.
    """
    folder = Path(tempfile.gettempdir()) / f"{prefix}{secrets.token_hex(8)}"
    try:
        # Within the block: between the call and its return a signal's handler may raise.
        # With its parent: a runner may have removed that.
        folder.mkdir(mode=0o700, parents=True)
        yield str(folder)
    finally:
        interrupt: BaseException | None = None
        for _ in range(_TRIES):
            try:
                shutil.rmtree(folder, ignore_errors=True)
                break
            except BaseException as error:  # noqa: BLE001  # a signal's handler may raise here too: removing comes first
                interrupt = error
        if interrupt is not None:
            raise interrupt


#: What tells Inductor and Triton where to keep their files, and the folder of each within one.
_PARTS = {"TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton"}
VARIABLES = frozenset(_PARTS)


def variables_for(folder: str | Path) -> dict[str, str]:
    """The environment variables that have a process keep its files in a folder."""
    return {name: str(Path(folder).resolve() / part) for name, part in _PARTS.items()}


def compiler_folder() -> AbstractContextManager[str]:
    """A new and empty folder for what a child process compiles, gone when that has ended."""
    return temporary_folder("fastrnns-rs-compile-")
