"""Similarity of two names, in bounded time."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import Match, SequenceMatcher

#: Most steps of a pair, per letter of one name and letter of the other. Similar names of kernels need 2.5 at most.
_PASSES = 4


def similarity(one: Sequence[str], other: Sequence[str]) -> float:
    """Returns the similarity of two names: 0 without a common part, 1 if equal.

    It is `ratio` of difflib, but time is at most proportional to the product of both lengths. Names with very many
    short parts in common, such as `abab…` and `aabb…`, need more: only their longest common parts count.

    Args:
        one: Letters or words of a name.
        other: Those of the other name.

    >>> similarity("lstm_forward", "lstm_backward")
    0.72
    """
    return 1.0 if one == other else _BoundedMatcher(one, other).ratio()


class _BoundedMatcher(SequenceMatcher[str]):
    """Matcher that finds no further common parts after its last step."""

    def __init__(self, one: Sequence[str], other: Sequence[str]) -> None:
        super().__init__(None, one, other, autojunk=False)
        self._lengths = len(one), len(other)
        self._steps_left = _PASSES * len(one) * len(other)

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        """Returns the longest common part of a range of each name, or an empty one."""
        end, other_end = (
            length if given is None else given for given, length in zip((ahi, bhi), self._lengths, strict=True)
        )
        self._steps_left -= (end - alo) * (other_end - blo)
        return super().find_longest_match(alo, end, blo, other_end) if self._steps_left >= 0 else Match(alo, blo, 0)
