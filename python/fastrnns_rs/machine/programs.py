"""Search for programs on `PATH`."""

from __future__ import annotations

import errno
import os


def find_program(name: str) -> str | None:
    """Returns the path of a program; None if it is not installed.

    Relative folders on `PATH`, and an empty one, are skipped: the working directory may contain a program of others.

    Args:
        name: Name of the program, or its path.
    """
    import shutil  # The first screen of a run needs no program.

    folders = [folder for folder in os.get_exec_path() if folder.startswith("/")]
    return shutil.which(name, path=os.pathsep.join(folders))


def program_path(name: str) -> str:
    """Returns the path of a program.

    Raises:
        FileNotFoundError: If it is not installed.
    """
    found = find_program(name)
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return found
