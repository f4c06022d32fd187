"""Long texts, and many of them, on a screen."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fastrnns_rs.documents.comparison import Difference
from fastrnns_rs.views import kernel_names, prose
from fastrnns_rs.views.comparison import sides
from fastrnns_rs.views.screen import in_ascii
from fastrnns_rs.views.text import width


def differences(count: int) -> list[Difference]:
    return [
        Difference(key=f"variables.V{number}", baseline=f"{number % 7}", candidate="x" * (number % 11))
        for number in range(count)
    ]


def slow_differences(found: list[Difference], limit: int) -> str:
    """The most differences that fit, each number of them tried."""
    texts = [sides._difference(one) for one in found]
    for count in range(len(texts), 0, -1):
        left = len(texts) - count
        line = sides._LABEL + ", ".join(texts[:count]) + (f", {left:,} more" if left else "")
        if width(line) <= limit:
            return line
    return ""


@pytest.mark.parametrize("limit", [40, 61, 80, 79, 200, 100_000])
@pytest.mark.parametrize("count", [1, 2, 3, 11, 101])
def test_as_many_differences_as_fit_are_shown(count: int, limit: int) -> None:
    found = differences(count)
    expected = slow_differences(found, limit)
    assert expected or count > 1
    if expected:
        assert sides._differences(found, limit) == expected


def test_broken_words_keep_all_characters() -> None:
    text = "reason: " + "".join(chr(ord("a") + number % 26) for number in range(100_000))
    lines = prose.wrapped(text, 80, breaks=True)
    assert max(map(len, lines)) == 80
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert [line.startswith("  ") for line in lines] == [False, *[True] * (len(lines) - 1)]
    assert prose.wrapped(" " * 100, 80) == prose.wrapped(" " * 100, 80, breaks=True) == [""]


def test_namespaces_of_a_long_name_are_removed() -> None:
    names = [("void f<a::b::c<int>, (anonymous namespace)::d, 9::e>(int)", "f")]
    assert kernel_names._plain(["a::b::c<x::y>", "(anonymous namespace)::d", "::e", "long_word"]) == [
        "c<y>",
        "d",
        "::e",
        "long_word",
    ]
    assert len(kernel_names.shortened(names, 20)[0]) <= 20


def test_words_of_all_related_names_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """They were compared for each group of names that stayed equal."""
    compared = []
    by_words = kernel_names._by_words
    monkeypatch.setattr(
        kernel_names, "_by_words", lambda texts, room: compared.append(len(texts)) or by_words(texts, room)
    )
    names = [
        f"bench.py --model triton_fused_of_the_training_loop_u{number:06}_{kind * 8}_{'cd'[number % 2] * 8}_kernel"
        for number in range(100)
        for kind in "ab"
    ]
    assert len({*kernel_names.shortened([(one, one) for one in names], 40)}) == len(names)
    assert sum(compared) <= 2 * len(names)


@pytest.mark.parametrize(
    "use",
    [
        lambda count: sides._differences(differences(count), 80),
        lambda count: prose.wrapped("x" * 1000 * count, 80, breaks=True),
        lambda count: in_ascii("→" * 20 * count, 80),
        lambda count: kernel_names.shortened([(f"void f<{'a' * 20 * count}, 2>(int)", "f")], 60),
        lambda count: kernel_names.shortened([(f"void {'a' * 20 * count}(int)", "a")], 60),
        lambda count: kernel_names.shortened([(f"void f<{'(anonymous namespace)::' * 20 * count}1>(int)", "f")], 60),
        lambda count: kernel_names.shortened(
            [(f"void {'a' * 200 * count}<int>::{'a' * 100 * count}(int)", "a" * 100 * count)], 60
        ),
        lambda count: kernel_names.shortened([(f"void f<int>({kind})", "f") for kind in range(count)], 60),
    ],
    ids=["differences", "words", "symbols", "namespaces", "place", "anonymous", "places", "parameters"],
)
def test_a_long_text_comes_to_its_end(use: Callable[[int], object]) -> None:
    """It took many seconds, and minutes for a few times the length."""
    assert use(10_000)
