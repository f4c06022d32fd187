"""Matching of kernels of two sides by name, or by shape if renamed.

Renamed kernels match by category and launch shape, if names are similar and numbers of launches differ by at most 10 %.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from fastrnns_rs.similarity import similarity
from fastrnns_rs.verbs.compare.captures.capture_stats import NormalisedTimes

#: Largest relative difference in the number of launches of a renamed kernel.
_NEARLY = 0.1
#: Smallest similarity of the names of a renamed kernel: 1 is the same name.
_SIMILAR = 0.6
#: Similarity is not computed for longer names: letters of a function, words and marks of a full name.
_LONGEST = 200
#: Most steps of all similarities: each letter or word by each of another name. A pair alone is 16 by 16 steps.
_MOST_STEPS = 25_000_000
_PAIR = 16
#: Words and marks of a name.
_WORD = re.compile(r"\w+|\W")

MatchedBy = Literal["name", "shape"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelPair:
    """A kernel of both sides, or of one side."""

    baseline: NormalisedTimes | None
    candidate: NormalisedTimes | None
    matched_by: MatchedBy | None

    @property
    def either(self) -> NormalisedTimes:
        """The candidate's kernel if it exists, otherwise the baseline's."""
        found = self.candidate or self.baseline
        assert found is not None  # noqa: S101  # `match` makes no pair of nothing
        return found


@dataclass(frozen=True, slots=True)
class _Named:
    """A kernel, with the parts of its names that are compared.

    `function` is empty where all kernels are of the same.
    """

    kernel: NormalisedTimes
    function: str
    words: tuple[str, ...]


def match(baseline: Iterable[NormalisedTimes], candidate: Iterable[NormalisedTimes]) -> list[KernelPair]:
    """Pairs kernels of equal names, then renamed kernels.

    A renamed kernel has the same category, grid and block, nearly as many launches and a similar name. Examples are
    another instance of a template, or another version of a library's kernel. The most similar names are paired first.
    """
    first, second = {one.key: one for one in baseline}, {one.key: one for one in candidate}
    pairs = [
        KernelPair(baseline=one, candidate=second[key], matched_by="name")
        for key, one in first.items()
        if key in second
    ]
    vanished = [one for key, one in first.items() if key not in second]
    appeared = [one for key, one in second.items() if key not in first]
    renamed = [*_renamed(vanished, appeared)]
    pairs += [KernelPair(baseline=one, candidate=other, matched_by="shape") for one, other in renamed]
    known = {one.key for one, _ in renamed}, {other.key for _, other in renamed}
    pairs += [KernelPair(baseline=one, candidate=None, matched_by=None) for one in vanished if one.key not in known[0]]
    pairs += [KernelPair(baseline=None, candidate=one, matched_by=None) for one in appeared if one.key not in known[1]]
    return pairs


def _renamed(
    vanished: list[NormalisedTimes], appeared: list[NormalisedTimes]
) -> Iterator[tuple[NormalisedTimes, NormalisedTimes]]:
    # Kernels of the same function come first, then those with few others: with very many kernels, the rest is not
    # compared.
    taken: set[int] = set()
    allowed = _MOST_STEPS
    for with_function in (True, False):
        left = _by_shape((one for one in vanished if id(one) not in taken), with_function=with_function)
        right = _by_shape((one for one in appeared if id(one) not in taken), with_function=with_function)
        groups = [(left[key], right[key]) for key in left if key in right]
        counted = [(_length(ones) * _length(others), ones, others) for ones, others in groups]
        for steps, ones, others in sorted(counted, key=lambda found: found[0]):
            if steps > allowed:
                break
            allowed -= steps
            for one, other in _most_similar(ones, others):
                if id(one.kernel) not in taken and id(other.kernel) not in taken:
                    taken |= {id(one.kernel), id(other.kernel)}
                    yield one.kernel, other.kernel


def _length(group: Iterable[_Named]) -> int:
    return sum(_PAIR + len(one.function) + len(one.words) for one in group)


def _most_similar(ones: Iterable[_Named], others: Sequence[_Named]) -> list[tuple[_Named, _Named]]:
    """Returns the pairs of similar names, the most similar first.

    The order is by the functions, then by the full names.
    """
    found = []
    for one in ones:
        for other in others:
            few, many = sorted((one.kernel.launches, other.kernel.launches))
            likeness = similarity(one.function, other.function) if many - few <= _NEARLY * many else 0.0
            if likeness >= _SIMILAR:
                found.append((likeness, similarity(one.words, other.words), one, other))
    found.sort(key=lambda pair: (-pair[0], -pair[1], pair[2].kernel.name, pair[3].kernel.name))
    return [(one, other) for _, _, one, other in found]


def _by_shape(kernels: Iterable[NormalisedTimes], *, with_function: bool) -> dict[Hashable, list[_Named]]:
    found: dict[Hashable, list[_Named]] = {}
    for one in kernels:
        if one.shape is not None:
            common, function = (one.short_name, "") if with_function else ("", one.short_name[:_LONGEST])
            words = tuple(word[0] for word in islice(_WORD.finditer(one.name), _LONGEST))
            found.setdefault((one.category, one.shape, common), []).append(_Named(one, function, words))
    return found
