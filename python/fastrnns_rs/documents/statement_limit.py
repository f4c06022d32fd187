"""Limit on the statements of SQLite databases that are not trusted.

SQLite detects neither cycles nor shared pages in its trees. In a damaged file of some kilobytes, one statement can
visit the same pages for ever. The first such statement reads the list of tables.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from itertools import count
from time import thread_time_ns

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Iterator

#: Number of steps between two checks. A row takes some ten steps.
_STRIDE = 10_000
#: Number of steps for a file without pages, and for each byte. Reading a file takes less than a step for each byte.
_LEAST = 1_000_000
_PER_BYTE = 5
#: Largest size that counts. A file with a hole is as large as its author likes.
_LARGEST = 1 << 26
#: Time on a CPU for a file without pages, and for each byte: a step can parse a statement that is as long as the file.
_LONGEST_NS = 2_000_000_000
_PER_BYTE_NS = 1000


class EndlessStatementError(sqlite3.DatabaseError):
    """A statement took more steps than the size of its file explains."""


@contextmanager
def limit_statements(database: sqlite3.Connection, size_bytes: int) -> Iterator[None]:
    """Ends the statements of a block that a file of this size cannot explain.

    Raises:
        EndlessStatementError: If the statements take too many steps.
        KeyboardInterrupt: If a signal arrives in a statement.
    """
    size_bytes = min(size_bytes, _LARGEST)
    most = (_LEAST + _PER_BYTE * size_bytes) // _STRIDE
    end_ns = thread_time_ns() + _LONGEST_NS + _PER_BYTE_NS * size_bytes
    completed, is_late = 0, False

    def check(number: int) -> bool:
        nonlocal completed, is_late
        is_late = is_late or number >= most or thread_time_ns() > end_ns
        completed = number + 1
        return is_late

    begun = count()
    database.set_progress_handler(map(check, begun).__next__, _STRIDE)
    try:
        yield
    except sqlite3.DatabaseError as error:
        _raise_lost(completed, begun)
        if not is_late:
            raise
        raise EndlessStatementError("its pages refer to each other without end") from error
    finally:
        database.set_progress_handler(None, 0)
    _raise_lost(completed, begun)


def _raise_lost(completed: int, begun: Iterator[int]) -> None:
    """Raises the exception of a signal, which SQLite has dropped."""
    if next(begun) > completed:
        raise KeyboardInterrupt
