"""Hashes of the code that defines runners: equal hashes mean equal models."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import fastrnns_rs

if TYPE_CHECKING:
    from fastrnns_rs.runners.runner import Source

_PACKAGE = Path(fastrnns_rs.__file__).parent


def source_sha256(source: Source) -> str | None:
    """Returns the hash of the code of a runner. None if its file cannot be read.

    Runners of this package share modules, so that their hash is that of all models. For other runners it is the hash of
    the file that defines the runner. Modules that this file imports are not part of the hash.
    """
    own = source.module.startswith(f"{fastrnns_rs.__name__}.") and source.package is None
    files = sorted((_PACKAGE / "models").glob("*.py")) if own else [Path(source.file)]
    try:
        stamps = [(file, found.st_ino, found.st_size, found.st_ctime_ns) for file in files if (found := file.stat())]
        return _digest(tuple(stamps))
    except OSError:
        return None


@lru_cache(maxsize=64)
def _digest(stamps: tuple[tuple[Path, int, int, int], ...]) -> str:
    """Returns the hash of files. The stamps are what changes with their content."""
    found = hashlib.sha256()
    for file, *_ in stamps:
        found.update(os.fsencode(file.name) + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()
