"""Numbers with their nouns."""

from __future__ import annotations


def counted(number: int, one: str, many: str | None = None) -> str:
    """Returns a number with its noun.

    >>> counted(1, "runner"), counted(1200, "process", "processes")
    ('1 runner', '1,200 processes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
