"""Matching of kernels of two sides by name, or by shape if renamed.

Renamed kernels match by category, launch shape and number of launches.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from fastrnns_rs.verbs.compare.captures.capture_stats import NormalisedTimes

#: Largest relative difference in the number of launches of a renamed kernel.
_NEARLY = 0.1
#: Smallest similarity of the names of a renamed kernel: 1 is the same name.
_SIMILAR = 0.6
#: Similarity is not computed for more pairs of one category and shape, nor for longer names.
_MOST_PAIRS = 10_000
_LONGEST = 200

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
    # Kernels of the same function come first: with very many kernels, only these are compared.
    taken: set[int] = set()
    for with_function in (True, False):
        left = _by_shape((one for one in vanished if id(one) not in taken), with_function=with_function)
        right = _by_shape((one for one in appeared if id(one) not in taken), with_function=with_function)
        for key in left.keys() & right.keys():
            if len(left[key]) * len(right[key]) > _MOST_PAIRS:
                continue
            scored = (
                # The order is by the function names, then by the full names.
                ((_ratio(one.short_name, other.short_name), _ratio(one.name, other.name)), one, other)
                for one in left[key]
                for other in right[key]
                if abs(one.launches - other.launches) <= _NEARLY * max(one.launches, other.launches)
            )
            similar = [found for found in scored if found[0][0] >= _SIMILAR]
            similar.sort(key=lambda found: (*(-part for part in found[0]), found[1].name, found[2].name))
            for _, one, other in similar:
                if id(one) not in taken and id(other) not in taken:
                    taken |= {id(one), id(other)}
                    yield one, other


def _by_shape(kernels: Iterable[NormalisedTimes], *, with_function: bool) -> dict[Hashable, list[NormalisedTimes]]:
    found: dict[Hashable, list[NormalisedTimes]] = {}
    for one in kernels:
        if one.shape is not None:
            function = one.short_name if with_function else None
            found.setdefault((one.category, one.shape, function), []).append(one)
    return found


def _ratio(one: str, other: str) -> float:
    if one == other:
        return 1.0
    return SequenceMatcher(None, one[:_LONGEST], other[:_LONGEST], autojunk=False).ratio()
