"""Checks of arguments by the annotations of their parameters."""

from __future__ import annotations

import operator
import os

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    #: Function that returns the plain value or raises TypeError, message, hint, and constants that are valid too.
    Check = tuple[Callable[[Any], Any], str, str, tuple[bool | str | None, ...]]


def _switch(value: object) -> bool:
    kind = type(value)
    # A text such as "no" would count as true.
    if kind is bool or (kind.__module__ == "numpy" and kind.__name__.startswith("bool")):
        return bool(value)
    raise TypeError


#: Python refuses to print integers of more than 4300 digits.
_MOST_BITS = 1024


def check_size(name: str, value: object) -> None:
    """Refuses an integer that no message could show.

    Raises:
        UsageError: If the integer has more than 1024 bits.
    """
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        from fastrnns_rs.errors import UsageError

        raise UsageError(
            f"out of range: an integer of {value.bit_length():,} bits", "Use a smaller integer.", where=name
        )


def check_texts(name: str, *values: object) -> None:
    """Checks the texts of an argument, which are found in names of a capture.

    Raises:
        UsageError: If a value is neither a text of valid Unicode nor None.
    """
    from fastrnns_rs.errors import UsageError

    for value in values:
        if value is not None and not isinstance(value, str):
            raise UsageError(f"invalid value: {value!r}", "Use a text.", where=name, value=value)
        try:
            (value or "").encode()
        except UnicodeEncodeError:
            raise UsageError(f"invalid value: {value!r}", "Use a text of UTF-8.", where=name, value=value) from None


def _integer(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError
    return operator.index(value)


def _path(value: object) -> object:
    # An integer, True among them, would be used as a file descriptor.
    if isinstance(value, (str, os.PathLike)) and isinstance(os.fspath(value), str):
        return value
    raise TypeError


def _integers(values: Any) -> list[int]:
    return [*map(_integer, values)]


def _texts(values: Any) -> list[str]:
    # The letters of a text are texts, too.
    found = [*values]
    if isinstance(values, str) or not all(isinstance(one, str) for one in found):
        raise TypeError
    return found


SWITCH: Check = (_switch, "invalid value", "Use True or False.", ())
_PATH: Check = (_path, "not a path", "Use a path: str or os.PathLike.", ())
_CHECKS: dict[str, Check] = {
    "bool": SWITCH,
    "int": (_integer, "invalid integer", "Use an integer.", ()),
    "Iterable[int]": (_integers, "invalid value", "Use a list of integers.", ()),
    "Iterable[str]": (_texts, "invalid value", "Use a list of texts.", ()),
    "Sequence[str]": (_texts, "invalid value", "Use a list of texts.", ()),
    "str | Path": _PATH,
    "str | os.PathLike[str]": _PATH,
}
#: Values that an annotation may allow besides.
_CONSTANTS = {"None": None, "Literal[False]": False, "Literal['ray']": "ray"}


def find_check(annotation: str) -> Check | None:
    """Returns the check of an annotation; None for an annotation that is not checked."""
    parts = annotation.split(" | ")
    constants = tuple(_CONSTANTS[one] for one in parts if one in _CONSTANTS)
    found = _CHECKS.get(" | ".join(one for one in parts if one not in _CONSTANTS))
    return None if found is None else (*found[:3], constants)


def check_value(check: Check, name: str, value: Any) -> Any:
    """Checks an argument, and returns its plain value.

    Switches and integers of other libraries become those of Python.

    Args:
        check: Check of the argument.
        name: Name of the argument.
        value: Value of the argument.

    Raises:
        UsageError: If the value is invalid.
    """
    convert, message, hint, constants = check
    check_size(name, value)
    if any(value is one or (isinstance(value, str) and value == one) for one in constants):
        return value
    try:
        return convert(value)
    except TypeError:
        from fastrnns_rs.errors import UsageError

        # The text of a document has a table below its first line.
        shown = repr(value).partition("\n")[0]
        raise UsageError(f"{message}: {shown}", hint, where=name, value=value) from None
