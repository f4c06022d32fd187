"""Import of the user's function that receives traces of torch's profiler.

As a program, this module checks that the function exists.
"""

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
    """Returns the user's function.

    Raises:
        UsageError: If the function does not exist.
    """
    try:
        found: Any = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        raise UsageError(f"cannot import module: {module!r}: {first_line(error)}", FOLDER_HINT) from error
    for part in name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise UsageError(f"function not found: {name!r} in module {module!r}", "Use module:function.")
    function: Callable[[Any], Any] = found
    return function


def _main() -> None:
    try:
        imported(*sys.argv[1:])
        answer, status = "", 0
    except UsageError as error:
        answer, status = json.dumps([error.message, error.hint]), 1
    # The module may print too, or replace the stream of `print`, so only the last line is read.
    os.write(1, f"\n{answer}".encode())
    # Exit handlers of the module could print more, or wait for ever.
    os._exit(status)


if __name__ == "__main__":
    _main()
