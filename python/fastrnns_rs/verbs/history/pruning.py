"""Selection of the runs to delete from the history."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.documents.history import KeptRun

_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
_BYTES = {"B": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "KB": 10**3, "MB": 10**6, "GB": 10**9}


def parse_age(text: str) -> timedelta:
    """Parses an age: `90d`, `12w`, `6m` of 30 days each, `1y` of 365.

    Raises:
        UsageError: If the age is invalid.
    """
    found = re.fullmatch(r"([0-9]{1,5})([dwmy])", text.strip().lower())
    if found is None:
        hint = "Use days, weeks, months or years: 90d, 12w, 6m or 1y."
        raise UsageError(f"invalid age: {text!r}", hint, where="older_than", value=text)
    return timedelta(days=int(found[1]) * _DAYS[found[2]])


def parse_size(text: str) -> int:
    """Parses a size: `500MiB`, `2GiB`, `1.5 GB`, `900 B`.

    A number alone is refused: it could be meant as a number of runs.

    Raises:
        UsageError: If the size is invalid.
    """
    found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,6})?) ?([kmg]i?b|b)", text.strip().lower())
    if found is None:
        raise UsageError(f"invalid size: {text!r}", "Use a size such as 500MiB or 2GiB.", where="keep", value=text)
    return int(float(found[1]) * _BYTES[found[2].upper()])


def outdated(
    runs: Sequence[KeptRun], *, now: datetime, older_than: timedelta | None = None, keep_bytes: int | None = None
) -> list[KeptRun]:
    """Selects the runs to delete; runs with a tag are kept.

    Args:
        runs: All runs, with the last run at the end.
        now: Current time.
        older_than: Minimum age of the last session of deleted runs; None for no limit. A run whose time is invalid
            has no age.
        keep_bytes: Maximum size of the remaining runs, in bytes; the oldest runs are deleted first. None for no limit.
    """
    gone = []
    total = sum(one.size_bytes for one in runs)
    for one in runs:
        if one.tags:
            continue
        began = _started(one)
        old = older_than is not None and began is not None and now - began > older_than
        if old or (keep_bytes is not None and total > keep_bytes):
            gone.append(one)
            total -= one.size_bytes
    return gone


def _started(one: KeptRun) -> datetime | None:
    """Returns the start of a run's last session; None if the time is invalid."""
    try:
        found = datetime.fromisoformat(one.last_started_utc)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
