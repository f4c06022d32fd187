"""Properties of an output stream: terminal, width and symbols."""

from __future__ import annotations

import os
import sys

from fastrnns_rs.errors import UsageError
from fastrnns_rs.views.prose import WIDTH

TYPE_CHECKING = False  # As in the package: `typing` is slow to load.
if TYPE_CHECKING:
    from typing import TextIO


def is_terminal(stream: TextIO | None) -> bool:
    """Returns True if a stream is an open terminal.

    An object that a program puts in the place of a stream may have `write` alone.
    """
    if stream is None or getattr(stream, "closed", False):
        return False
    return hasattr(stream, "isatty") and stream.isatty()


#: Locales without symbols. Python writes UTF-8 there, which the terminal may not show.
_PLAIN_LOCALES = {"C", "POSIX"}


def is_ascii(stream: TextIO | None) -> bool:
    """Returns True if a stream does not show the symbols of tables.

    Its encoding lacks them, or `LC_ALL=C` requests ASCII.
    """
    chosen = os.environ.get("PYTHONIOENCODING") or os.environ.get("PYTHONUTF8")
    if not chosen and os.environ.get("LC_ALL") in _PLAIN_LOCALES:
        return True
    try:
        "↓→…±µ×━─".encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return True
    return False


#: Maximum width of a table in characters.
MAX_WIDTH = 1_000_000


def check_width(width: int | None) -> None:
    """Checks the width of a table in characters.

    Raises:
        UsageError: If the width is out of range.
    """
    if width is not None and not 1 <= width <= MAX_WIDTH:
        raise UsageError(
            f"out of range: {width}", f"Use an integer from 1 to {MAX_WIDTH:,}.", where="width", value=width
        )


def environment_count(name: str) -> int:
    """Returns the count in a variable, cut to nine digits; 0 if it has none."""
    text = os.environ.get(name, "")
    return int(text[:9]) if text.isdecimal() else 0


def terminal_width(stream: TextIO | None = None) -> int:
    """Returns the width of screens: `COLUMNS`, or that of the terminal, or 80.

    Args:
        stream: Stream that may be a terminal; None for stdout.
    """
    if columns := environment_count("COLUMNS"):
        return min(columns, MAX_WIDTH)
    stream = stream or sys.stdout
    if is_terminal(stream):
        try:
            return os.get_terminal_size(stream.fileno()).columns or WIDTH
        except (OSError, ValueError):
            return WIDTH
    return WIDTH
