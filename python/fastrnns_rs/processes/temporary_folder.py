"""Temporary folders that no interrupt leaves behind."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def temporary_folder(prefix: str) -> Iterator[str]:
    """A new and empty folder for the length of the block.

    Unlike `tempfile.TemporaryDirectory` it removes the folder even if Ctrl-C comes while it is made.

    Args:
        prefix: First letters of its name.

    Raises:
        OSError: If the folder cannot be made.
    """
    folder = Path(tempfile.gettempdir()) / f"{prefix}{secrets.token_hex(8)}"
    try:
        # Within the block: between the call and its return a signal's handler may raise.
        folder.mkdir(mode=0o700)
        yield str(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
