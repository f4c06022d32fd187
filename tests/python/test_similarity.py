"""Similarity of names: that of difflib, in bounded time."""

from __future__ import annotations

import random
from difflib import Match, SequenceMatcher
from pathlib import Path

import pytest

from fastrnns_rs.documents import missing_file
from fastrnns_rs.errors import closest
from fastrnns_rs.similarity import similarity

WORDS = ("at", "native", "elementwise", "kernel", "vectorized", "gemm", "float", "half", "128", "4", "relu", "tn")


def test_similarity_of_ordinary_names_is_that_of_difflib() -> None:
    chance = random.Random(3)
    for _ in range(300):
        one = "_".join(chance.choices(WORDS, k=chance.randint(1, 8)))
        other = "_".join(chance.choices([*one.split("_"), *WORDS[:2]], k=chance.randint(1, 8)))
        expected = SequenceMatcher(None, one, other, autojunk=False).ratio()
        if expected >= 0.6:
            assert similarity(one, other) == expected, (one, other)
            assert similarity(one.split("_"), other.split("_")) > 0
    assert (similarity("", ""), similarity("a", ""), similarity("a", "b")) == (1, 0, 0)


def test_similarity_of_names_with_many_short_common_parts_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """difflib needed 21 times the product of their lengths, and more for longer names."""
    steps = []
    find = SequenceMatcher.find_longest_match

    def counted(
        self: SequenceMatcher[str], alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        steps.append(((ahi or 0) - alo) * ((bhi or 0) - blo))
        return find(self, alo, ahi, blo, bhi)

    monkeypatch.setattr(SequenceMatcher, "find_longest_match", counted)
    one, other = "ab" * 100, "aabb" * 50
    assert 0 < similarity(one, other) < 0.6
    assert len(one) * len(other) < sum(steps) <= 4 * len(one) * len(other)


def test_the_nearest_name_is_the_most_similar_one() -> None:
    assert closest("cudn", ["py", "cudnn", "cudnns", "aten"]) == "cudnn"
    assert closest("CUDN", ["CuDNN"]) == "CuDNN"
    assert closest("x", ["py", "cudnn"]) is None
    assert closest("x", []) is None


def test_not_all_long_names_of_a_folder_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error for a missing file took seconds beside a thousand of them."""
    for number in range(300):
        (tmp_path / f"{'ab' * 95}{number:03}.json").touch()
    compared = []
    monkeypatch.setattr(missing_file, "closest", lambda name, _known: compared.append(name))
    assert missing_file.file_not_found(tmp_path / f"{'aabb' * 48}.json").correction is None
    assert 20 < len(compared) < 100


def test_a_near_name_among_many_is_found(tmp_path: Path) -> None:
    for number in range(1000):
        (tmp_path / f"other{number:03}.txt").touch()
    (tmp_path / "before.json").touch()
    assert missing_file.file_not_found(tmp_path / "befor.json").correction == str(tmp_path / "before.json")
