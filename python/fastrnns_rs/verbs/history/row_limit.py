"""Limit on the rows of an index: rows that share pages could fill the memory."""

from __future__ import annotations

import marshal
import sqlite3
from collections.abc import Sequence
from typing import Any

from fastrnns_rs.documents.statement_limit import limit_statements

#: Number of rows that are fetched between two checks of their length.
_AT_ONCE = 32
#: Longest form of a value of an index, relative to its place there: marshal writes five bytes for a number of one.
_MOST_FORMS = 5
#: Number of bytes that another process may add while a statement is prepared.
_GROWTH = 1 << 20
#: Largest length of all rows: half a million runs. A file with a hole is as large as its author likes.
_MOST_BYTES = 1 << 27


def fetch(database: sqlite3.Connection, text: str, values: Sequence[str | bytes | int]) -> list[Any]:
    """Returns the rows of a statement.

    Raises:
        sqlite3.DatabaseError: If there are more rows than the size of the database allows.
    """
    found: list[Any] = []
    size = size_bytes(database)
    left = min(_MOST_FORMS * size + _GROWTH, _MOST_BYTES)
    with limit_statements(database, size):
        cursor = database.execute(text, values)
        while some := cursor.fetchmany(_AT_ONCE):
            # The fastest measure of their length.
            left -= len(marshal.dumps(some))
            if left < 0:
                raise sqlite3.DatabaseError("the index has more rows than its size allows")
            found += some
    return found


def size_bytes(database: sqlite3.Connection) -> int:
    """Returns the size of a database, which may be in memory."""
    [(pages,)], [(page_bytes,)] = (database.execute(f"PRAGMA {name}") for name in ("page_count", "page_size"))
    return int(pages * page_bytes)
