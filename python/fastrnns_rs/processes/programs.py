"""Search for programs on `PATH`, and the variables that they start with."""

from __future__ import annotations

import errno
import os
import sys

from fastrnns_rs.errors import MissingError

#: Lists of folders of libraries, headers and programs, where an empty entry is the working directory.
_FOLDER_LISTS = (
    *("LD_LIBRARY_PATH", "LIBRARY_PATH", "LD_RUN_PATH"),
    *("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "COMPILER_PATH"),
)


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


def absolute_environment() -> dict[str, str]:
    """Returns this process's variables, with no relative folder in lists.

    The working directory may contain libraries, headers and programs of others.
    """
    found = {**os.environ, "PATH": absolute_folders()}
    for name in _FOLDER_LISTS:
        listed, absolute = found.pop(name, ""), ["/"]
        if name == "LD_LIBRARY_PATH":
            # The loader has two separators, and a name for the folder of the program that is started.
            listed = listed.replace(";", os.pathsep)
            absolute += ["$ORIGIN/", "${ORIGIN}/"]
        folders = [one for one in listed.split(os.pathsep) if f"{one}/".startswith(tuple(absolute)) and one]
        if folders:
            found[name] = os.pathsep.join(folders)
    return found


def module_command(*words: str, python: str | None = None) -> list[str]:
    """Returns the command line that runs a module in another interpreter.

    Args:
        words: Flags and name of the module, then its arguments.
        python: Interpreter; None for the present one.

    Raises:
        MissingError: If the path of the present interpreter is unknown, as in programs that contain Python.
    """
    if not (python or sys.executable):
        raise MissingError("`sys.executable` is empty", "Set it to the path of a Python with fastrnns_rs.")
    # -P: modules in the working directory must not hide the standard library.
    return [python or sys.executable, "-P", "-m", *words]


def program_path(name: str) -> str:
    """Returns the path of a program.

    Raises:
        FileNotFoundError: If it is not installed.
    """
    found = find_program(name)
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return found
