"""JSON from dataclasses and back.

A dataclass is an object. Its keys are its fields, except those with a leading underscore. Missing keys, unknown keys
and values of the wrong type are rejected. The error names their path in the document.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from operator import countOf
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from fastrnns_rs.documents.part import Part
from fastrnns_rs.errors import UsageError

T = TypeVar("T")

#: Unknown keys of a document: from the identity of their object to that object, its path, and the keys.
Kept = dict[int, tuple[object, str, dict[str, Any]]]

#: Longest value and path in a message.
_LONGEST_SHOWN = 40
_LONGEST_PATH = 200

#: JSON types of Python types.
SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean", types.NoneType: "null"}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunWarning(Part):
    """Warning that a reader should know before trusting a number.

    Attributes:
        code: Code of the warning, which `fastrnns-rs explain` describes.
        message: Effect on the result.
        evidence: Numbers that show the effect.
        hint: Next step for the reader.
        rows: Rows that the warning concerns, such as `cudnn/forward`; empty for a warning about the whole document.
    """

    code: str
    message: str
    evidence: str | None = None
    hint: str | None = None
    rows: list[str] = field(default_factory=list, metadata={"since": "1.3"})


def since(version: str) -> dict[str, str]:
    """Returns metadata for a field whose key a minor version added.

    The default of the field applies where the key is missing or null.
    """
    return {"since": version}


@cache
def added_keys(document: Any) -> dict[str, str | None]:
    """Returns the keys of a document class, each with the version that added it.

    The version is a minor version, or None for a key of the first version.
    """
    return {one.name: one.metadata.get("since") for one in fields(document) if not one.name.startswith("_")}


def to_plain(value: Any, kept: Kept | None = None) -> Any:
    """Returns a document, or part of a document, as dictionaries, lists and scalars.

    Args:
        value: Dataclass.
        kept: Unknown keys to write with the objects that had them.
    """
    if is_dataclass(value):
        plain = {key: to_plain(getattr(value, key), kept) for key in added_keys(value.__class__)}
        owner, _, unknown = (kept or {}).get(id(value), (None, "", {}))
        return {**plain, **to_plain(unknown)} if owner is value else plain
    if isinstance(value, Mapping):
        return {key: to_plain(item, kept) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        # A run has a million samples and is saved after each process, so lists of integers are copied whole.
        return list(value) if {*map(type, value)} <= {int} else [to_plain(item, kept) for item in value]
    # Python keeps undecodable bytes of names and arguments as lone surrogates, which are invalid in JSON.
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def from_plain(expected: type[T], plain: object, kept: Kept | None = None) -> T:
    """Returns the object of the dataclass `expected` that `plain` describes.

    Args:
        expected: Dataclass.
        plain: Dictionaries, lists and scalars.
        kept: Mapping that receives unknown keys; None rejects them.

    Raises:
        UsageError: If a key is missing or unknown, or a value has the wrong type.
    """
    read: T = _read(expected, plain, "", kept)
    return read


@cache
def list_key_types(document: type) -> dict[str, Any]:
    """Returns the keys of a document class, each with its type."""
    hints = get_type_hints(document)
    return {key: hints[key] for key in added_keys(document)}


def _read(expected: Any, plain: Any, path: str, kept: Kept | None) -> Any:  # noqa: C901, PLR0911
    if expected is Any:
        return plain
    origin, arguments = get_origin(expected), get_args(expected)
    if origin in {Union, types.UnionType}:
        return _read_union(expected, arguments, plain, path, kept)
    if origin is Literal:
        if plain in arguments:
            return plain
        raise _wrong(path, expected, plain)
    if origin is list:
        if not isinstance(plain, list):
            raise _wrong(path, expected, plain)
        # A long run has a million samples, so a loop of the interpreter checks them.
        if arguments[0] is int and countOf(map(type, plain), int) == len(plain):
            return plain
        return [_read(arguments[0], item, f"{path}[{index}]", kept) for index, item in enumerate(plain)]
    if origin is dict:
        if not isinstance(plain, dict):
            raise _wrong(path, expected, plain)
        return {key: _read(arguments[1], item, f"{path}.{key}", kept) for key, item in plain.items()}
    if is_dataclass(expected):
        return _read_object(expected, plain, path, kept)
    if type(plain) is expected or (expected is float and type(plain) is int):
        return plain
    raise _wrong(path, expected, plain)


def _read_union(expected: Any, options: tuple[Any, ...], plain: Any, path: str, kept: Kept | None) -> Any:
    if plain is None and types.NoneType in options:
        return None
    others = [option for option in options if option is not types.NoneType]
    if len(others) == 1:
        return _read(others[0], plain, path, kept)
    for option in others:
        try:
            return _read(option, plain, path, kept)
        except UsageError:
            continue
    raise _wrong(path, expected, plain)


def _read_object(expected: Any, plain: Any, path: str, kept: Kept | None) -> Any:
    if not isinstance(plain, dict):
        raise _wrong(path, expected, plain)
    keys, hints = added_keys(expected), list_key_types(expected)
    for key, version in keys.items():
        if version is None and key not in plain:
            raise UsageError(f"missing key: {place(join(path, key))}")
    unknown = {key: value for key, value in plain.items() if key not in keys}
    if unknown and kept is None:
        raise UsageError(f"unknown key: {place(join(path, next(iter(unknown))))}")
    # The first documents had some of the later keys, with the value null.
    given = [key for key, version in keys.items() if version is None or plain.get(key) is not None]
    found = expected(**{key: _read(hints[key], plain[key], join(path, key), kept) for key in given})
    if unknown and kept is not None:
        kept[id(found)] = found, path, unknown
    return found


def _wrong(path: str, expected: Any, plain: object) -> UsageError:
    return UsageError(f"{place(path) or 'the document'} is {shown(plain)}, not {_name(expected)}")


def shown(value: object) -> str:
    """Returns a value as Python writes it, shortened for a message."""
    # The whole value may have a million characters, or be nested deeper than Python can write.
    if isinstance(value, (list, dict)):
        import reprlib

        text = reprlib.repr(value)
    else:
        text = repr(value[:_LONGEST_SHOWN] if isinstance(value, str) else value)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"


def _name(expected: Any) -> str:
    if is_dataclass(expected) or get_origin(expected) is dict:
        return "an object"
    if get_origin(expected) is list:
        return "a list"
    if get_origin(expected) is Literal:
        return "one of " + ", ".join(map(str, get_args(expected)))
    if get_origin(expected) in {Union, types.UnionType}:
        return " or ".join(_name(option) for option in get_args(expected))
    return f"a {SCALARS.get(expected, expected)}"


def join(path: str, key: str) -> str:
    """Returns the path of a key of the object at `path`."""
    return f"{path}.{key}" if path else key


def place(path: str) -> str:
    """Returns a path, shortened for a message: keys may have any length."""
    return path if len(path) <= _LONGEST_PATH else path[: _LONGEST_PATH - 1] + "…"
