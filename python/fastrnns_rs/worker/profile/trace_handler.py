"""The user's function that traces of torch's profiler are handed to, imported; as a program, whether there is one."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from fastrnns_rs.errors import UsageError, first_line

FOLDER_HINT = "put its folder on PYTHONPATH"


def imported(module: str, name: str) -> Callable[[Any], Any]:
    """The user's function.

    Raises:
        UsageError: There is none.
    """
    try:
        found: Any = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        raise UsageError(f"cannot import {module}: {first_line(error)}", FOLDER_HINT) from error
    for part in name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise UsageError(f"{module} has no function {name}", "--on-trace-ready takes module:function")
    function: Callable[[Any], Any] = found
    return function


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
