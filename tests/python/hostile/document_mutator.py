"""Documents that were damaged by chance or on purpose: mutants of a JSON document, the same for the same seed."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

from fastrnns_rs.documents.document import VERSION

NUMBERS = [
    *(0, -1, 1, 7, -0.0, 0.5, 1e308, -1e308, 5e-324, 1e16, 1e-7, 10**18, 10**30, 10**400, -(10**400)),
    *(sign * ((1 << bits) + more) for sign in (1, -1) for bits in (31, 32, 53, 62, 63, 64) for more in (-1, 0, 1)),
]
#: Numbers as text, some of which are none of JSON.
TOKENS = [
    *("NaN", "Infinity", "-Infinity", "-0", "1e309", "1E400", "-1e999", "0x10", "01", "+1", "1.", ".5", "1_0", "--1"),
    *("9" * 4299, "9" * 5000, "0." + "1" * 5000, "null", "true", "nul", "'a'", '""', "[]", "{}", "[[", "}", ""),
]
TEXTS = [
    *("", " ", "\x00", "\x1b[2J\x1b]0;title\x07", "\r\n\t", "\x7f\x85\x9b1m", "\u202e\u2066\u200b\ufeff\u2028"),
    *("\ud800", "\udc80\udfff", "\U000e0001", "漢字 e\u0301", "[/red]", "[bold]x", "[link=file:///]x[/]", "[", "\\[x]"),
    *(
        "=cmd()|'/c calc'!A0",
        "a|b\\|c `d`\n| --- |",
        "<script>&amp;]]>",
        "%s {0} {x!r}",
        "../../x",
        "/dev/zero",
        "a\0b",
    ),
    *("cuda:0", "cuda:99999999999999999999", "cuda:", "auto", "nan", "-1", "1e999", "cudnn", "fastrnns-rs/comparison"),
    *("x" * 300, "x " * 20_000, "é" * 5000, "(" * 2000, "a,b" * 1000, "--output", "--runner-file=x.py", "-h", "--"),
]
CONTAINERS: list[Any] = [[], {}, [[]], [{}], {"": None}, {"x": 1}, [None], [1, "a", None, 1.5, True]]
#: Bytes that UTF-8 never contains, or only at the start.
_WRONG = [b"\x00", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xfe"]
_DEEP = [50, 150, 400, 900, 3000, 100_000]


def mutant(seeds: list[Any], number: object) -> bytes:
    """The bytes of a mutant.

    Args:
        seeds: Documents as plain dictionaries and lists.
        number: Of the mutant: the same gives the same again.
    """
    dice = random.Random(f"{number}")
    document = json.loads(json.dumps(dice.choice(seeds)))
    kind = dice.random()
    for _ in range(dice.choice([1, 1, 1, 1, 2, 3, 8])):
        document = changed(document, dice)
    if kind < 0.1:
        document = newer(document, dice)
    text = json.dumps(document, ensure_ascii=dice.random() < 0.5, indent=dice.choice([None, None, 2]))
    if kind > 0.8:
        text = _with_other_tokens(text, dice)
    found = text.encode("utf-8", "surrogatepass")
    return _with_other_bytes(found, dice) if kind > 0.9 else found


def newer(document: Any, dice: random.Random) -> Any:
    """The document as a newer build may have written it, with unknown keys in one of its objects."""
    if not isinstance(document, dict):
        return document
    objects = [one for one in _containers(document) if isinstance(one, dict)]
    dice.choice(objects)[dice.choice(["novel", "past_ns", *TEXTS])] = _value(dice)
    return {**document, "schema_version": dice.choice(["1.99", "1.99", "2.0", "1." + "9" * 30, VERSION])}


def _containers(document: Any) -> list[Any]:
    found = [document]
    for one in found:
        inner = one.values() if isinstance(one, dict) else one
        found += [part for part in inner if isinstance(part, dict | list) and part]
    return found


def changed(document: Any, dice: random.Random) -> Any:
    """The document with one place of it changed."""
    if not isinstance(document, dict | list) or not document:
        return _value(dice) if dice.random() < 0.1 else document
    # Not each number by the same chance: most of them are samples.
    owners = _containers(document)
    owner = dice.choice(owners)
    key = dice.choice([*owner] if isinstance(owner, dict) else range(len(owner)))
    change = dice.choice(_CHANGES)
    change(owner, key, dice, owners)
    return document


def crossed(document: Any, other: Any, dice: random.Random) -> Any:
    """The document with one value replaced by what another document has under the same key."""
    named: dict[str, list[Any]] = {}
    for one in _containers(other) if isinstance(other, dict) else []:
        for key, value in one.items() if isinstance(one, dict) else ():
            named.setdefault(key, []).append(value)
    owners = [one for one in _containers(document) if isinstance(one, dict)] if isinstance(document, dict) else []
    places = [(one, key) for one in owners for key in one if key in named]
    if places:
        owner, key = dice.choice(places)
        owner[key] = copy.deepcopy(dice.choice(named[key]))
    return document


def _replace(owner: Any, key: Any, dice: random.Random, _owners: list[Any]) -> None:
    owner[key] = _value(dice)


def _nudge(owner: Any, key: Any, dice: random.Random, _owners: list[Any]) -> None:
    """Another value of the same type, which gets further than one of another."""
    value = owner[key]
    if isinstance(value, bool):
        owner[key] = not value
    elif isinstance(value, int):
        owner[key] = dice.choice([value + 1, value - 1, -value, value * 1000, value << 20, 0, *_SMALL])
    elif isinstance(value, float):
        owner[key] = dice.choice([-value, value * 1e9, value * 1e-9, value + 1, 0.0, 1e308, 5e-324])
    elif isinstance(value, str):
        text = dice.choice(TEXTS)
        owner[key] = dice.choice([text, value + text, value.upper(), value[: len(value) // 2], value * 2])
    elif isinstance(value, list):
        _LISTS[dice.randrange(len(_LISTS))](value, dice)
    else:
        owner[key] = dice.choice([None, value, _value(dice)])


def _drop(owner: Any, key: Any, _dice: random.Random, _owners: list[Any]) -> None:
    del owner[key]


def _rename(owner: Any, key: Any, dice: random.Random, _owners: list[Any]) -> None:
    if isinstance(owner, dict):
        owner[dice.choice([*TEXTS, str(key).upper(), f"{key}_ns", *owner])] = owner.pop(key)


def _swap(owner: Any, key: Any, dice: random.Random, owners: list[Any]) -> None:
    """Returns a value from another place in the document."""
    other = dice.choice(owners)
    place = dice.choice([*other] if isinstance(other, dict) else range(len(other)))
    # A copy: no document holds itself.
    owner[key] = json.loads(json.dumps(other[place]))


def _nest(owner: Any, key: Any, dice: random.Random, _owners: list[Any]) -> None:
    deep: Any = owner[key]
    for _ in range(dice.choice([1, 2, 60, 120])):
        deep = [deep] if dice.random() < 0.5 else {"x": deep}
    owner[key] = deep


_SMALL = [1, 2, 3, 4, 5, 7, 8, 16, 64]
_CHANGES: list[Callable[[Any, Any, random.Random, list[Any]], None]] = [
    # Most documents of wrong types are refused at once.
    *([_nudge] * 10),
    *(_replace, _drop, _rename, _swap, _swap, _nest),
]
_LISTS: list[Callable[[list[Any], random.Random], object]] = [
    lambda one, dice: one.extend(json.loads(json.dumps(one * dice.choice([1, 2, 6])))),
    lambda one, dice: dice.shuffle(one),
    lambda one, _: one.clear(),
    lambda one, _: one.reverse(),
    lambda one, dice: one.append(_value(dice)),
    lambda one, dice: one.insert(0, one[dice.randrange(len(one))] if one else 0),
    lambda one, _: one.pop() if one else None,
]


def _value(dice: random.Random) -> Any:
    # A copy, for what is in a document may be changed again.
    container = copy.deepcopy(dice.choice(CONTAINERS))
    return dice.choice([dice.choice(NUMBERS), dice.choice(TEXTS), container, None, True, False])


def _with_other_tokens(text: str, dice: random.Random) -> str:
    """A text in which a number, a bracket or a comma is another one, or a key is there twice."""
    places = [place for place, one in enumerate(text) if one in '0123456789[]{},:"']
    if not places:
        return text
    place = dice.choice(places)
    choice = dice.random()
    if choice < 0.6:
        end = place + 1
        while end < len(text) and text[end] in "0123456789.e+-":
            end += 1
        return text[:place] + dice.choice(TOKENS) + text[end:]
    if choice < 0.8:
        depth = dice.choice(_DEEP)
        return text[:place] + dice.choice(["[", '{"":', "[[],"]) * depth + text[place:]
    return text[:place] + text[dice.choice(places) : dice.choice(places)] + text[place:]


def _with_other_bytes(found: bytes, dice: random.Random) -> bytes:
    made = bytearray(found)
    for _ in range(dice.choice([1, 1, 2, 10])):
        place = dice.randrange(len(made) + 1)
        match dice.randrange(6):
            case 0:
                made[place : place + 1] = bytes([dice.randrange(256)])
            case 1:
                del made[place : place + dice.choice([1, 10, 1000])]
            case 2:
                made[place:place] = dice.choice(
                    [b"\x00", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xfe"]
                )
            case 3:
                del made[place:]
            case 4:
                made[place:place] = made[dice.randrange(len(made) + 1) :][: dice.choice([1, 20, 500])]
            case 5:
                made[:0] = b"\xef\xbb\xbf" if dice.random() < 0.5 else b" \n"
    return bytes(made)
