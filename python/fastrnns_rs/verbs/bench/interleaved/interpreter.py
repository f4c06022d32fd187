"""Another Python interpreter as a side: whether it can run our worker, asked before anything is measured."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.errors import MissingError, UsageError
from fastrnns_rs.processes.launcher import Setting

if TYPE_CHECKING:
    from collections.abc import Mapping

#: From a cold disk an interpreter may take seconds.
_TIMEOUT_S = 60.0
_LEAST = (3, 11)
_MARK = "fastrnns-rs asks:"
_CODE = f"import sys; print({_MARK!r}, *sys.version_info[:2], flush=True); import fastrnns_rs._core"


def check(python: str, variables: Mapping[str, str] | None = None) -> str:
    """The interpreter's path, if it can run our worker.

    Args:
        python: A path, or the name of a program.
        variables: Environment variables beside our own.

    Raises:
        MissingError: There is no such program.
        UsageError: It is no Python, too old for us, or cannot load our extension.
    """
    found = shutil.which(python)
    if found is None:
        raise MissingError(f"there is no program {python}", "give the path of a Python interpreter")
    # Not resolved: an interpreter finds the packages of its environment by the path that it is called by.
    path = str(Path(os.path.abspath(found)))  # noqa: PTH100
    setting = Setting(python=path, variables=variables or {})
    try:
        done = subprocess.run(
            [path, "-c", _CODE],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
            env=setting.environment(),
            # The folder one stands in is where an interpreter looks first.
            cwd="/",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"{python} does not run: {error}", "give the path of a Python interpreter") from error
    # Whatever else is printed at its start.
    answers = [line.partition(_MARK)[2].split() for line in done.stdout.splitlines() if _MARK in line]
    version = answers[-1] if answers else []
    if len(version) != len(_LEAST) or not all(part.isdecimal() for part in version):
        raise UsageError(f"{python} is no Python interpreter", "give the path of one")
    if tuple(map(int, version)) < _LEAST:
        message = f"{python} is Python {'.'.join(version)}, which cannot load the extension"
        raise UsageError(message, f"give Python {'.'.join(map(str, _LEAST))} or newer")
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it does not say why"])[-1]
        raise UsageError(f"{python} cannot load the extension: {last}", "give an interpreter for the same machine")
    return path
