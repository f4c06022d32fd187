"""The user's function that traces of torch's profiler are handed to, and whether there is one."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from fastrnns_rs._core import run_command
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.profile.attempt import child_environment, end_of

if TYPE_CHECKING:
    from fastrnns_rs._core import Completed

_FOLDER_HINT = "put its folder on PYTHONPATH"


def check(module: str, name: str, timeout: float) -> None:
    """Refuses a function that the process that is profiled would not find.

    Another process looks for it, with the same path: the module most likely imports torch, which this one never does.

    Raises:
        UsageError: There is none.
    """
    command = [sys.executable, "-P", "-m", "fastrnns_rs.worker.profile.trace_handler", module, name]
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
