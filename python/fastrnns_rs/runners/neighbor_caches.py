"""Imports modules beside a runner file, without caches of other users."""

from __future__ import annotations

import os
import stat
import sys
from functools import cache
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastrnns_rs.processes.ownership import others_may_write

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.abc import PathEntryFinder


class _Loader(SourceFileLoader):
    """Loader that ignores a cache to which other users may write."""

    def path_stats(self, path: str) -> Mapping[str, Any]:
        """Returns what a cache must agree with.

        Python neither reads nor writes one after an error.

        Raises:
            OSError: If other users may write to the cache, or it cannot be inspected.
        """
        if not _is_own(Path(cache_from_source(path))):
            raise PermissionError(f"other users may write to its cache: {path!r}")
        return super().path_stats(path)


def _is_own(cached: Path) -> bool:
    """Returns True if only this user and root may write to a cache, or make it."""
    # A link that leads nowhere counts: its target may be made later.
    place = next(one for one in (cached, *cached.parents) if os.path.lexists(one))
    if place != cached:
        return _is_own_folder(place)
    found = cached.lstat()
    # A large project has thousands of such files.
    is_plain = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022
    return _is_own_folder(cached.parent) if is_plain else others_may_write(cached) is None


@cache
def _is_own_folder(folder: Path) -> bool:
    return others_may_write(folder) is None


@cache
def ignore_caches_of_others(folder: Path) -> None:
    """Makes Python read no caches of others for modules in a folder and below.

    It compiles them. Caches of this user are read: a large project would otherwise be compiled in each worker.
    """
    find = FileFinder.path_hook(
        # The order is Python's.
        (ExtensionFileLoader, EXTENSION_SUFFIXES),
        (_Loader, SOURCE_SUFFIXES),
        (SourcelessFileLoader, BYTECODE_SUFFIXES),
    )

    def find_below(path: str) -> PathEntryFinder:
        if not _is_below(folder, path):
            raise ImportError(f"not below {folder}", path=path)
        return find(path)

    sys.path_hooks.insert(0, find_below)
    for path in [*sys.path_importer_cache]:
        if _is_below(folder, path):
            del sys.path_importer_cache[path]


def _is_below(folder: Path, path: str) -> bool:
    try:
        return Path(path).absolute().is_relative_to(folder)
    except FileNotFoundError:
        # The path is relative, and the working directory was removed.
        return False
