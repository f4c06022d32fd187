"""SQLite databases whose pages refer to the same pages without end."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from pathlib import Path

_LEVELS, _FANOUT = 12, 60
_INDEX_LEAF = 10


def share_pages(path: Path, table: str = "") -> None:
    """Replaces the root of a table or index by a tree of 12 levels, in which each page names the next page 61 times.

    Args:
        path: Path of the database.
        table: Name of a table or index that needs one page; empty for the list of tables.
    """
    with closing(sqlite3.connect(path)) as database:
        (size,) = database.execute("PRAGMA page_size").fetchone()
        found = database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [table]).fetchone()
    content = path.read_bytes()
    (root,) = found or (1,)
    at, head, first = (root - 1) * size, 0 if found else 100, len(content) // size + 1
    # The first page has the header of the file in front.
    leaf = content[at + head : at + head + 100] + content[at + 100 : at + size]
    row = _first_row(leaf) if leaf[0] == _INDEX_LEAF else b""
    # The rows come first: the history searches the beginning of an index for its statements.
    inner = [_page(size, 0, b"", first + level, row) for level in (*range(2, _LEVELS), 0)]
    changed = _page(size, head, content[at : at + head], first + 1, row)
    content = content[:at] + changed + content[at + size :] + leaf + b"".join(inner)
    path.write_bytes(content[:28] + struct.pack(">I", len(content) // size) + content[32:])


def _first_row(leaf: bytes) -> bytes:
    """Returns the first row of an index, which has less than 16 kB, with its length."""
    (at,) = struct.unpack(">H", leaf[8:10])
    length = leaf[at] + 1 if leaf[at] < 128 else ((leaf[at] & 127) << 7 | leaf[at + 1]) + 2
    return leaf[at : at + length]


def _page(size: int, head: int, start: bytes, child: int, row: bytes) -> bytes:
    """Returns an inner page, all of whose children are one page; with a row of an index, or a page of a table."""
    cell = struct.pack(">I", child) + (row or b"\1")
    place = size - len(cell)
    kind = 2 if row else 5
    names = struct.pack(">BHHHBI", kind, 0, _FANOUT, place, 0, child) + struct.pack(">H", place) * _FANOUT
    return (start + names).ljust(place, b"\0") + cell
