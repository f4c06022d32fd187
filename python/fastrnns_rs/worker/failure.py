"""Errors of a runner, as a worker reports them."""

from __future__ import annotations

import contextlib
import traceback


def print_traceback() -> None:
    """For FASTRNNS_DEBUG; a runner may have closed standard error."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        traceback.print_exc()


def reason(error: BaseException) -> str:
    """One line that says what went wrong."""
    try:
        text = str(error).strip()
    except BaseException as second:  # noqa: BLE001  # an error whose text is an error too
        text = f"its message cannot be shown: {type(second).__name__}"
    first = text.splitlines()[0] if text else ""
    if type(error).__name__ == "OutOfMemoryError" or "can't allocate memory" in text:
        return f"out of memory: {first}"
    if isinstance(error, SystemExit):
        return f"sys.exit({error.code!r}) was called"
    from fastrnns_rs.errors import FastrnnsError

    if isinstance(error, FastrnnsError):
        return text
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
