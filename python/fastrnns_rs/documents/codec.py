"""JSON from dataclasses and back.

A dataclass is an object. Its keys are its fields, except those with a leading underscore. Missing keys, unknown keys
and values of the wrong type are rejected. The error names their path in the document.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from operator import countOf
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from fastrnns_rs.documents.part import Part
from fastrnns_rs.errors import UsageError

T = TypeVar("T")

#: Unknown keys of a document: from the identity of their object to that object, its path, and the keys.
Kept = dict[int, tuple[object, str, dict[str, Any]]]

#: Function that reads a plain value: the value, its path in the document, and where unknown keys go.
_Reader = Callable[[Any, str, Kept | None], Any]

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


def has_keys_since(version: str, value: Any) -> bool:
    """Returns True if a key that a version added has another value than its default.

    Args:
        version: Minor version, such as `1.3`.
        value: Document, or a part of one.
    """
    if isinstance(value, (list, tuple)):
        return any(has_keys_since(version, one) for one in value)
    if not is_dataclass(value):
        return False
    for one in fields(value):
        found = getattr(value, one.name)
        if one.metadata.get("since") == version and found != (
            one.default if one.default_factory is MISSING else one.default_factory()
        ):
            return True
        if has_keys_since(version, found):
            return True
    return False


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
    found: T = _read_object(expected, plain, "", kept)
    return found


@cache
def list_key_types(document: type) -> dict[str, Any]:
    """Returns the keys of a document class, each with its type."""
    hints = get_type_hints(document)
    return {key: hints[key] for key in added_keys(document)}


@cache
def _reader(expected: Any) -> _Reader:  # noqa: PLR0911
    """Returns the function that reads values of a type, found once a type."""
    origin, arguments = get_origin(expected), get_args(expected)
    if expected is Any:
        return lambda plain, _path, _kept: plain
    if origin in {Union, types.UnionType}:
        return _union_reader(expected, arguments)
    if origin is list:
        return _list_reader(expected, arguments[0])
    if origin is dict:
        return _dict_reader(expected, _reader(arguments[1]))
    if is_dataclass(expected):
        return lambda plain, path, kept: _read_object(expected, plain, path, kept)
    if origin is Literal:
        return _checking_reader(expected, lambda plain: plain in arguments)
    if expected is float:
        return _checking_reader(expected, lambda plain: type(plain) in {float, int})
    return _checking_reader(expected, lambda plain: type(plain) is expected)


def _checking_reader(expected: Any, is_right: Callable[[Any], bool]) -> _Reader:
    def read(plain: Any, path: str, _kept: Kept | None) -> Any:
        if is_right(plain):
            return plain
        raise _wrong(path, expected, plain)

    return read


def _list_reader(expected: Any, item: Any) -> _Reader:
    read_item = _reader(item)

    def read(plain: Any, path: str, kept: Kept | None) -> Any:
        if not isinstance(plain, list):
            raise _wrong(path, expected, plain)
        # A long run has a million samples, so a loop of the interpreter checks them.
        if item is int and countOf(map(type, plain), int) == len(plain):
            return plain
        return [read_item(one, f"{path}[{index}]", kept) for index, one in enumerate(plain)]

    return read


def _dict_reader(expected: Any, read_item: _Reader) -> _Reader:
    def read(plain: Any, path: str, kept: Kept | None) -> Any:
        if not isinstance(plain, dict):
            raise _wrong(path, expected, plain)
        return {key: read_item(item, f"{path}.{key}", kept) for key, item in plain.items()}

    return read


def _union_reader(expected: Any, options: tuple[Any, ...]) -> _Reader:
    readers = [_reader(option) for option in options if option is not types.NoneType]
    is_optional = len(readers) < len(options)

    def read(plain: Any, path: str, kept: Kept | None) -> Any:
        if plain is None and is_optional:
            return None
        if len(readers) == 1:
            return readers[0](plain, path, kept)
        for read_option in readers:
            try:
                return read_option(plain, path, kept)
            except UsageError:
                continue
        raise _wrong(path, expected, plain)

    return read


@cache
def _key_readers(document: type) -> dict[str, _Reader]:
    return {key: _reader(expected) for key, expected in list_key_types(document).items()}


def _read_object(expected: Any, plain: Any, path: str, kept: Kept | None) -> Any:
    if not isinstance(plain, dict):
        raise _wrong(path, expected, plain)
    keys, readers = added_keys(expected), _key_readers(expected)
    for key, version in keys.items():
        if version is None and key not in plain:
            raise UsageError(f"missing key: {place(join(path, key))}")
    unknown = {key: value for key, value in plain.items() if key not in keys}
    if unknown and kept is None:
        raise UsageError(f"unknown key: {place(join(path, next(iter(unknown))))}")
    # The first documents had some of the later keys, with the value null.
    given = [key for key, version in keys.items() if version is None or plain.get(key) is not None]
    found = expected(**{key: readers[key](plain[key], join(path, key), kept) for key in given})
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
    name = SCALARS.get(expected, expected)
    return f"an {name}" if name == "integer" else f"a {name}"


def join(path: str, key: str) -> str:
    """Returns the path of a key of the object at `path`."""
    return f"{path}.{key}" if path else key


def place(path: str) -> str:
    """Returns a path, shortened for a message: keys may have any length."""
    return path if len(path) <= _LONGEST_PATH else path[: _LONGEST_PATH - 1] + "…"
