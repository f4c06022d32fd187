"""Times of run files that other programs wrote with an offset."""

from __future__ import annotations

from datetime import UTC, datetime


def in_utc(time: str) -> str:
    """Returns a time without its offset; a text that is no time stays as it is.

    The order of texts is then that of the times.

    >>> in_utc("2026-11-28T05:00:00+14:00")
    '2026-11-27T15:00:00Z'
    """
    try:
        found = datetime.fromisoformat(time)
        return found.astimezone(UTC).isoformat().replace("+00:00", "Z") if found.utcoffset() else time
    except (ValueError, OverflowError):
        return time
