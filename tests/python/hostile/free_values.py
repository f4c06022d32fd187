"""Values of a document that no other value holds: each can be changed alone, and the document is still read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from fastrnns_rs.documents.document import Document
from fastrnns_rs.documents.json_schema import json_schema
from fastrnns_rs.errors import UsageError

#: Places of one name that are tried: of a thousand samples, two say as much.
_FEW = 2

Place = tuple[str | int, ...]


def find_free(kind: type[Document], plain: Any) -> set[str]:
    """The names of the values that can be changed alone, such as `rows[].runner`.

    A value that is left out is no wrong one. But it may let another one go: `min_ns without median_ns` says that only
    with `median_ns` null is `min_ns` free.
    """
    kind.from_dict(plain)
    found: set[str] = set()
    places: dict[str, list[tuple[Place, Any]]] = {}
    for place, value in _places(plain):
        places.setdefault(_name(place), []).append((place, value))
    words = [*_words(json_schema(kind, ""))]
    for name, known in places.items():
        # As of another row.
        others = [*dict.fromkeys(value for _, value in known if value is not None and not isinstance(value, list))]
        for place, value in known[:_FEW]:
            if any(_is_read(kind, plain, place, other) for other in [*_changes(value, words), *others[: 2 * _FEW]]):
                found.add(name)
            if value is not None and not isinstance(value, list) and _is_read(kind, plain, place, None):
                found.update(_let_go(kind, _with(plain, place, None), place))
    alone = {one for one in found if " without " not in one}
    return alone | {one for one in found if one.partition(" without ")[0] not in alone}


def _let_go(kind: type[Document], plain: Any, place: Place) -> Iterator[str]:
    """Yields the names of the values of the same object that are free now."""
    *owner, key = place
    for sibling, value in _at(plain, owner).items() if isinstance(key, str) else ():
        other = (*owner, sibling)
        if sibling != key and any(_is_read(kind, plain, other, one) for one in _changes(value)):
            yield f"{_name(other)} without {key}"


def _places(plain: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yields each value that is neither an object nor a list of objects, with its place."""
    if isinstance(plain, dict):
        for key, value in plain.items():
            yield from _places(value, (*place, key))
    elif isinstance(plain, list):
        for number, value in enumerate(plain):
            yield from _places(value, (*place, number))
    else:
        yield place, plain


def _name(place: Place) -> str:
    return "".join("[]" if isinstance(key, int) else f".{key}" for key in place).removeprefix(".")


def _words(schema: Any) -> Iterator[list[str]]:
    """Yields the lists of words of which a value may be one."""
    for key, value in schema.items() if isinstance(schema, dict) else enumerate(schema):
        if key == "enum":
            yield value
        elif isinstance(value, dict | list):
            yield from _words(value)


def _changes(value: Any, words: Sequence[Sequence[str]] = ()) -> list[Any]:
    """Values of the same type that are clearly others."""
    match value:
        case bool():
            return [not value]
        case int():
            return [value + 1, 3 * value + 7, value // 2, 0]
        case float():
            return [1.5 * value + 0.001, value / 2, 0.0]
        case str():
            return ["another", *(one for known in words if value in known for one in known)]
        case _:
            return []


def _is_read(kind: type[Document], plain: Any, place: Place, value: Any) -> bool:
    if _at(plain, place) == value:
        return False
    try:
        kind.from_dict(_with(plain, place, value))
    except UsageError:
        return False
    return True


def _at(plain: Any, place: Any) -> Any:
    for key in place:
        plain = plain[key]
    return plain


def _with(plain: Any, place: Place, value: Any) -> Any:
    changed = json.loads(json.dumps(plain))
    _at(changed, place[:-1])[place[-1]] = value
    return changed
