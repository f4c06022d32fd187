"""Text of JSON documents: indented, with arrays of numbers on one line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from functools import cache
from json.encoder import encode_basestring
from typing import Any

from fastrnns_rs.documents.codec import added_keys
from fastrnns_rs.documents.document import Document
from fastrnns_rs.escaping import json_safe

_INDENT = b"  "
#: Range of integers that JSON readers of other languages support.
_LEAST, _MOST = -(1 << 63), (1 << 64) - 1
#: Power of ten that Python writes as an exponent and other programs write with zeros.
_NO_EXPONENT = -5


class Layout:
    """Formatter of documents that share objects.

    An example is a run that is saved after each of its processes.

    Args:
        keep: Class of the objects whose text is kept for the next document. These objects must not change, and must
            always have the same depth. None keeps no text.
    """

    def __init__(self, keep: type | None = None) -> None:
        self._keep = keep
        self._kept: dict[int, tuple[object, bytes]] = {}
        self._used: dict[int, tuple[object, bytes]] = {}

    def pieces(self, document: object) -> list[bytes]:
        """Returns the text of a document in pieces of UTF-8; it ends with a newline.

        Args:
            document: Dataclasses, dictionaries, lists and scalars.

        Raises:
            ValueError: If a number is not finite.
        """
        self._used = {}
        found: list[bytes] = []
        # Only the document itself knows the keys of a newer build.
        if isinstance(document, Document) and document.has_unknown_keys:
            document = document.to_dict()
        self._write(document, b"\n", found)
        self._kept = self._used
        return [*found, b"\n"]

    def _write(self, value: Any, end: bytes, found: list[bytes]) -> None:
        """Appends the pieces of a value.

        `end` ends a line at the value's depth.
        """
        if self._keep is not None and type(value) is self._keep:
            known = self._kept.get(id(value))
            if known is None:
                made: list[bytes] = []
                self._write_object(value, end, made)
                # The object is kept with its text, so that no other object gets its id.
                known = (value, b"".join(made))
            self._used[id(value)] = known
            found.append(known[1])
        elif _is_object(value.__class__):
            self._write_object(value, end, found)
        elif isinstance(value, (list, tuple)):
            kinds = {*map(type, value)}
            if any(map(_is_nested, kinds)):
                self._write_block(b"[]", ((b"", item) for item in value), end, found)
            else:
                # A run has a million samples, so a loop of the interpreter writes integers.
                found.append((repr([*value]).replace(" ", "") if kinds == {int} else flat(value)).encode())
        else:
            found.append(flat(value).encode())

    def _write_object(self, value: Any, end: bytes, found: list[bytes]) -> None:
        entries = ((flat(key).encode() + b": ", item) for key, item in _entries(value))
        self._write_block(b"{}", entries, end, found)

    def _write_block(
        self, brackets: bytes, entries: Iterable[tuple[bytes, object]], end: bytes, found: list[bytes]
    ) -> None:
        inner = end + _INDENT
        before = brackets[:1] + inner
        for key, item in entries:
            found.append(before + key)
            self._write(item, inner, found)
            before = b"," + inner
        found.append(brackets if before[:1] != b"," else end + brackets[1:])


def text(document: object) -> str:
    """Returns the text of a document; it ends with a newline.

    Raises:
        ValueError: If a number is not finite.
    """
    return b"".join(Layout().pieces(document)).decode()


def flat(value: Any) -> str:
    """Returns a value on one line, without spaces.

    Numbers have the format of most programs. Control characters are escaped.
    """
    if isinstance(value, str):
        # Python keeps undecodable bytes of names and arguments as lone surrogates, which are invalid in JSON.
        return json_safe(encode_basestring(value.encode("utf-8", "backslashreplace").decode()))
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(flat, value))}]"
    return _float(value) if isinstance(value, float) else json.dumps(value)


def _float(value: float) -> str:
    """Returns the shortest digits that give the number back.

    Numbers below 1e-5 and from 1e16 on have an exponent.
    """
    if not math.isfinite(value):
        raise ValueError(f"Out of range float values are not JSON compliant: {value}")
    digits, _, exponent = repr(value).partition("e")
    if not exponent:
        return digits
    power = int(exponent)
    if power == _NO_EXPONENT:
        sign, digits = ("-", digits[1:]) if value < 0 else ("", digits)
        return f"{sign}0.0000{digits.replace('.', '')}"
    return f"{digits}e{power:+d}"


def check(value: Any) -> None:
    """Rejects numbers that JSON readers of other languages reject.

    Raises:
        ValueError: If a number of a document is not finite, or is an integer of more than 64 bits.
    """
    if isinstance(value, float):
        _float(value)
    elif isinstance(value, int):
        if not _LEAST <= value <= _MOST:
            raise ValueError("a number has more than 64 bits")
    elif isinstance(value, (list, tuple)):
        integers = {*map(type, value)} == {int}
        for item in (min(value), max(value)) if integers else value:
            check(item)
    elif _is_object(value.__class__):
        for _, item in _entries(value):
            check(item)


def _entries(value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return value.items()
    return ((key, getattr(value, key)) for key in added_keys(value.__class__))


def _is_nested(kind: type) -> bool:
    return _is_object(kind) or issubclass(kind, (list, tuple))


@cache
def _is_object(kind: type) -> bool:
    return is_dataclass(kind) or issubclass(kind, Mapping)
