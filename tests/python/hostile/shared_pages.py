"""SQLite databases whose pages refer to the same pages without end."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from pathlib import Path

_LEVELS, _FANOUT = 12, 60


def share_pages(path: Path, table: str = "") -> None:
    """Replaces the root of a table by a tree of 12 levels, in which each page names the next page 61 times.

    Args:
        path: Path of the database.
        table: Name of a table that needs one page; empty for the list of tables.
    """
    with closing(sqlite3.connect(path)) as database:
        (size,) = database.execute("PRAGMA page_size").fetchone()
        found = database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [table]).fetchone()
    content = path.read_bytes()
    (root,) = found or (1,)
    at, head, first = (root - 1) * size, 0 if found else 100, len(content) // size + 1
    # The first page has the header of the file in front.
    leaf = content[at + head : at + head + 100] + content[at + 100 : at + size]
    # The rows come first: the history searches the beginning of an index for its statements.
    inner = [_page(size, 0, b"", first + level) for level in (*range(2, _LEVELS), 0)]
    changed = _page(size, head, content[at : at + head], first + 1)
    content = content[:at] + changed + content[at + size :] + leaf + b"".join(inner)
    path.write_bytes(content[:28] + struct.pack(">I", len(content) // size) + content[32:])


def _page(size: int, head: int, start: bytes, child: int) -> bytes:
    """Returns an inner page, all of whose children are one page."""
    cell = struct.pack(">IB", child, 1)
    place = size - len(cell)
    names = struct.pack(">BHHHBI", 5, 0, _FANOUT, place, 0, child) + struct.pack(">H", place) * _FANOUT
    return (start + names).ljust(place, b"\0") + cell
