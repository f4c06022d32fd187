"""Search for programs on `PATH`."""

from __future__ import annotations

import errno
import os


def find_program(name: str) -> str | None:
    """Returns the path of a program; None if it is not installed.

    Args:
        name: Name of the program, or its path.
    """
    import shutil  # The first screen of a run needs no program.

    return shutil.which(name, path=absolute_folders())


def absolute_folders() -> str:
    """Returns `PATH` without relative folders and empty ones.

    The working directory may contain a program of others.
    """
    # An empty `PATH` would be the working directory.
    return os.pathsep.join(folder for folder in os.get_exec_path() if folder.startswith("/")) or os.defpath


def program_path(name: str) -> str:
    """Returns the path of a program.

    Raises:
        FileNotFoundError: If it is not installed.
    """
    found = find_program(name)
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return found
