"""Hashes of the code that defines runners: equal hashes mean equal models."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import fastrnns_rs
from fastrnns_rs.documents.reading import content
from fastrnns_rs.runners.imported_files import MOST_BYTES, Stamp, find_root, list_imported, make_stamp

if TYPE_CHECKING:
    from fastrnns_rs.runners.runner import Source

_PACKAGE = Path(fastrnns_rs.__file__).parent
#: Code of the runners of this package: the models, and the modules of workers that they import.
_MODELS = ("models/*.py", "worker/cells.py", "worker/recurrence.py", "worker/torch_settings.py")


def source_sha256(source: Source, path: Sequence[str] | None = None) -> str | None:
    """Returns the hash of the code of a runner. None if a file cannot be read.

    A file of more than 512 MiB is not read either.

    Runners of this package share modules, so that their hash is that of all models, with their cells and time loops.
    For other runners it is the hash of the file that defines the runner, and of the Python modules that it imports, and
    that these import: those beside it (beside a plug-in or an installed module, those of its own top-level package),
    those on the module search path, and those of editable packages. Installed packages are not part of the hash, nor
    are modules that are imported by a computed name, or beyond 500 files, or 2,000 names of one file.

    Args:
        source: Source of the runner.
        path: Module search path of its worker; None for that of this process.
    """
    own = source.module.startswith(f"{fastrnns_rs.__name__}.") and source.package is None
    root = _PACKAGE if own else find_root(source)
    try:
        stamps = _stamp_models() if own else list_imported(source, root, path)
        return _digest(tuple(stamps))
    except OSError:
        return None


def find_change(source: Source, known: str | None, path: Sequence[str] | None = None) -> str | None:
    """Returns why a runner fails whose code is no longer that of a hash.

    What is measured would be of two programs.

    Args:
        source: Source of the runner.
        known: Hash of its code at the start; None if it could not be read.
        path: Module search path of its worker; None for that of this process.

    Returns:
        None if the code is the same, or was not known.
    """
    # The file may be no file any more, or be unreadable: the hash is then None.
    if known is None or known == source_sha256(source, path):
        return None
    return f"{source.file} or a module that it imports changed during the run"


def _stamp_models() -> list[Stamp]:
    return [make_stamp(_PACKAGE, one) for pattern in _MODELS for one in sorted(_PACKAGE.glob(pattern))]


@lru_cache(maxsize=64)
def _digest(stamps: tuple[Stamp, ...]) -> str:
    """Returns the hash of files, the first of which has no folder in it."""
    found = hashlib.sha256()
    for number, one in enumerate(stamps):
        name = one.file.relative_to(one.root) if number else one.file.name
        found.update(os.fsencode(name) + b"\0" + content(one.file, MOST_BYTES) + b"\0")
    return found.hexdigest()
