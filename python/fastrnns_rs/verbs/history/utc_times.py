"""Times of run files in one notation, whatever program wrote them."""

from __future__ import annotations

from datetime import UTC, datetime


def in_utc(time: str) -> str:
    """Returns a time in one notation; a text that is no time stays as it is.

    The order of texts is then that of the times. Parts of a second are left out.

    >>> in_utc("2026-11-28T05:00:00.5+14:00"), in_utc("20261128T0500Z")
    ('2026-11-27T15:00:00Z', '2026-11-28T05:00:00Z')
    """
    try:
        found = datetime.fromisoformat(time)
        # Without an offset, it is UTC: this package has always written times in UTC.
        utc = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return time
    return utc.isoformat(timespec="seconds").replace("+00:00", "Z")
