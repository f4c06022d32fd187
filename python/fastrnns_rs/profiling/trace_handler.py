"""The user's function that traces of torch's profiler are handed to, and whether there is one."""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from fastrnns_rs._core import run_command
from fastrnns_rs.errors import UsageError, first_line
from fastrnns_rs.profiling.attempt import child_environment, end_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastrnns_rs._core import Completed

_FOLDER_HINT = "put its folder on PYTHONPATH"


def imported(module: str, name: str) -> Callable[[Any], Any]:
    """The user's function.

    Raises:
        UsageError: There is none.
    """
    try:
        found: Any = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        raise UsageError(f"cannot import {module}: {first_line(error)}", _FOLDER_HINT) from error
    for part in name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise UsageError(f"{module} has no function {name}", "--on-trace-ready takes module:function")
    function: Callable[[Any], Any] = found
    return function


def check(module: str, name: str, timeout: float) -> None:
    """Refuses a function that the process that is profiled would not find.

    Another process looks for it, with the same path: the module most likely imports torch, which this one never does.

    Raises:
        UsageError: There is none.
    """
    command = [sys.executable, "-P", "-m", __name__, module, name]
    completed = run_command(command, timeout=timeout, env=child_environment())
    if completed.exit_status != 0:
        raise UsageError(*_complaint(module, completed))


def _complaint(module: str, completed: Completed) -> tuple[str, str]:
    """What the other process said, or how it ended if a module ended it."""
    try:
        message, hint = json.loads(completed.stdout_tail.rpartition("\n")[2])
    except (ValueError, TypeError):
        return f"cannot import {module}: {end_of(completed)}", _FOLDER_HINT
    return str(message), str(hint)


def _main() -> None:
    try:
        imported(*sys.argv[1:])
        answer, status = "", 0
    except UsageError as error:
        answer, status = json.dumps([error.message, error.hint]), error.exit_code
    # A module may print too, or replace what `print` writes to: the last line is ours.
    os.write(1, f"\n{answer}".encode())
    # What a module left to be done at exit would print behind it, or wait for ever.
    os._exit(status)


if __name__ == "__main__":
    _main()
