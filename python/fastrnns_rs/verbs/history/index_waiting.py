"""Waiting for an index that another command has locked."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from typing import TypeVar

#: Time in seconds that a command waits for another.
_PATIENCE_S = 30.0
#: Time in seconds until it tries again.
_PAUSE_S = 0.01
#: Part of an error number of SQLite that is its kind.
_PRIMARY = 0xFF
#: Indexes that this process has waited for in vain: it only looks whether they are free.
_in_vain: set[str] = set()

_T = TypeVar("_T")


def patiently(place: str, call: Callable[[], _T]) -> _T:
    """Repeats a call while another command has locked the index.

    A COMMIT that fails so can be repeated too.

    Args:
        place: Path of the index.
        call: Call of SQLite.

    Raises:
        sqlite3.OperationalError: If the index is locked for long, or has been before.
    """
    end = time.monotonic() + (0.0 if place in _in_vain else _PATIENCE_S)
    while True:
        try:
            return call()
        except sqlite3.OperationalError as error:
            if not is_busy(error):
                raise
            if time.monotonic() >= end:
                _in_vain.add(place)
                raise
        # SQLite does not wait for every lock.
        time.sleep(_PAUSE_S)


def is_busy(error: sqlite3.OperationalError) -> bool:
    """Returns True if another connection has locked the index."""
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY == sqlite3.SQLITE_BUSY
