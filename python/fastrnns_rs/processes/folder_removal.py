"""Removal of folders, also of deep ones."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path


def remove_folder(path: str | Path) -> None:
    """Removes a folder with everything in it, as far as the system allows.

    A runner may leave a thousand folders in each other. `shutil.rmtree` calls itself for each, and keeps it open.
    """
    with suppress(RecursionError):
        shutil.rmtree(path, ignore_errors=True)
    if os.path.lexists(path):
        with suppress(OSError):
            _flatten(path)
        with suppress(RecursionError):
            shutil.rmtree(path, ignore_errors=True)


def remove_folders(parent: Path, prefix: str) -> None:
    """Removes the folders with names that begin like this."""
    # A folder that cannot be read is an error elsewhere.
    with suppress(OSError):
        for path in parent.glob(f"{prefix}*"):
            remove_folder(path)


def _flatten(path: str | Path) -> None:
    """Moves all folders in a folder to its first level.

    Raises:
        OSError: If the system refuses.
    """
    top = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        names, number = _list_folders(top), 0
        # The list grows.
        for name in names:
            # A folder of mode 0 cannot be opened.
            with suppress(OSError):
                inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
                try:
                    for one in _list_folders(inner):
                        number += 1
                        names.append(f"{os.getpid()}-{number}-moved")
                        os.rename(one, names[-1], src_dir_fd=inner, dst_dir_fd=top)
                finally:
                    os.close(inner)
    finally:
        os.close(top)


def _list_folders(descriptor: int) -> list[str]:
    with os.scandir(descriptor) as entries:
        return [one.name for one in entries if one.is_dir(follow_symlinks=False)]
