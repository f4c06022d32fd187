"""Where the tables go: a file of their own, or their place on a page that has one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from fastrnns_rs.documents import writing

if TYPE_CHECKING:
    from pathlib import Path

#: The lines between which the tables are; all else on a page is somebody's.
BEGIN = "<!-- real noise -->\n"
END = "<!-- end -->"


def check(path: Path) -> None:
    """Ends the program where a page has no place for the tables: to be called before half an hour of measuring."""
    _around(path)


def write(path: Path, text: str) -> None:
    """Writes the tables into their place, or a new file; all else of a page stays as it is."""
    before, after = _around(path)
    writing.write(path, [(before + text + after).encode()])


def _around(path: Path) -> tuple[str, str]:
    if not path.exists():
        return BEGIN, f"{END}\n"
    before, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        sys.exit(f"{path} has no lines {BEGIN.strip()} and {END}: add them, or name a new file; nothing was written")
    return before + begin, end + after
