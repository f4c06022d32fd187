"""Which runs go, where a user asks for less history."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.documents.history import KeptRun

_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
_BYTES = {"": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "KB": 10**3, "MB": 10**6, "GB": 10**9}


def age_of(text: str) -> timedelta:
    """Reads an age: `90d`, `12w`, `6m` of 30 days each, `1y` of 365.

    Raises:
        UsageError: It is none.
    """
    found = re.fullmatch(r"([0-9]{1,5})([dwmy])", text.strip().lower())
    if found is None:
        raise UsageError(f"{text!r} is no age", "give days, weeks, months or years: 90d, 12w, 6m, 1y")
    return timedelta(days=int(found[1]) * _DAYS[found[2]])


def bytes_of(text: str) -> int:
    """Reads a size: `500MiB`, `2GiB`, `1.5 GB`, or a number of bytes.

    Raises:
        UsageError: It is none.
    """
    found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,6})?) ?([kmg]i?b|b?)", text.strip().lower())
    if found is None:
        raise UsageError(f"{text!r} is no size", "give it as 500MiB or 2GiB")
    return int(float(found[1]) * _BYTES[found[2].upper().removeprefix("B") if found[2] == "b" else found[2].upper()])


def outdated(
    runs: Sequence[KeptRun], *, now: datetime, older_than: timedelta | None = None, keep_bytes: int | None = None
) -> list[KeptRun]:
    """Chooses the runs to delete. Those with a tag stay.

    Args:
        runs: All runs, the last one at the end.
        now: The current time.
        older_than: Runs whose last session began longer ago go.
        keep_bytes: Then the oldest go, until no more than so many bytes are left.
    """
    gone = []
    total = sum(one.size_bytes for one in runs)
    for one in runs:
        if one.tags:
            continue
        old = older_than is not None and now - started(one) > older_than
        if old or (keep_bytes is not None and total > keep_bytes):
            gone.append(one)
            total -= one.size_bytes
    return gone


def started(one: KeptRun) -> datetime:
    """Returns when the last session of a run began; a time that no build writes is the beginning of all."""
    try:
        found = datetime.fromisoformat(one.last_started_utc)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
