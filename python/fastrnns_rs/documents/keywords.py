"""Arguments of public functions: checks, suggestions and old names."""

from __future__ import annotations

import operator
import os

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")
    #: Function that returns the plain value or raises TypeError, message, hint, and constants that are valid too.
    Check = tuple[Callable[[Any], Any], str, str, tuple[bool | None, ...]]

#: Other words for keywords, which the edit distance does not find.
_MEANT = {
    "tolerance": "rtol",
    "tol": "rtol",
    "iterations": "nloops",
    "loops": "nloops",
    "reps": "nloops",
    "repeats": "nloops",
    "runner": "runners",
    "names": "runners",
    "gpu": "device",
    "cuda": "device",
    "precision": "dtype",
    "verbose": "progress",
    "profiler": "tool",
    "folder": "output_dir",
}

#: Flag of a function that takes any number of positional arguments, as in the module `inspect`, which is slow to load.
_HAS_REST = 4
#: Attributes that `help` and `inspect.signature` read. `functools` is slow to load.
_COPIED = ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__", "__kwdefaults__")


def _switch(value: object) -> bool:
    kind = type(value)
    # A text such as "no" would count as true.
    if kind is bool or (kind.__module__ == "numpy" and kind.__name__.startswith("bool")):
        return bool(value)
    raise TypeError


def _integer(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError
    return operator.index(value)


def _path(value: object) -> object:
    # An integer, True among them, would be used as a file descriptor.
    if isinstance(value, (str, os.PathLike)):
        return value
    raise TypeError


SWITCH: Check = (_switch, "invalid value", "Use True or False.", ())
_PATH: Check = (_path, "not a path", "Use a path: str or os.PathLike.", ())
_CHECKS: dict[str, Check] = {
    "bool": SWITCH,
    "int": (_integer, "invalid integer", "Use an integer.", ()),
    "str | Path": _PATH,
    "str | os.PathLike[str]": _PATH,
}


def _find_check(annotation: str) -> Check | None:
    """Returns the check of an annotation; None for an annotation that is not checked."""
    given = annotation.removesuffix(" | None")
    kind = given.removesuffix(" | Literal[False]")
    if kind not in _CHECKS:
        return None
    convert, message, hint, _ = _CHECKS[kind]
    constants = ((None, given != annotation), (False, kind != given))
    return convert, message, hint, tuple(one for one, is_valid in constants if is_valid)


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
    if any(value is one for one in constants):
        return value
    try:
        return convert(value)
    except TypeError:
        from fastrnns_rs.errors import UsageError

        # The text of a document has a table below its first line.
        shown = repr(value).partition("\n")[0]
        raise UsageError(f"{message}: {shown}", hint, where=name, value=value) from None


def checked_keywords(*, several: str = "", **renamed: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Makes a decorator that checks the arguments of a function.

    A call raises UsageError for a value that is not the switch, the integer or the path that its annotation requires.
    For an unknown keyword, it raises TypeError that names the nearest keyword.

    The signature is that of the function: `inspect.signature`, `help` and type checkers see it.

    Args:
        several: Parameter that takes a list, for a call with too many positional arguments.
        renamed: Old names of keywords, which still work and warn, each with the new name.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        code = function.__code__
        most: int = code.co_argcount
        names: tuple[str, ...] = code.co_varnames[: most + code.co_kwonlyargcount]
        known = frozenset(names)
        # The name of `*paths` follows the names of all other parameters.
        rest: str = code.co_varnames[len(names)] if code.co_flags & _HAS_REST else ""
        checks = {name: check for name, kind in function.__annotations__.items() if (check := _find_check(kind))}

        def plain(name: str, value: Any) -> Any:
            return check_value(checks[name], name, value) if name in checks else value

        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if len(args) > most and several:
                hint = f"use a list for several {several}: {several}=[...]"
                raise TypeError(f"{function.__name__}() takes {most} positional argument; {hint}")
            given: Any = kwargs if known.issuperset(kwargs) else _corrected(function.__name__, kwargs, known, renamed)
            first: Any = [plain(names[place] if place < most else rest, one) for place, one in enumerate(args)]
            return function(*first, **{name: plain(name, one) for name, one in given.items()})

        for name in _COPIED:
            setattr(call, name, getattr(function, name))
        call.__wrapped__ = function  # type: ignore[attr-defined]
        return call

    return decorate


def _corrected(function: str, given: dict[str, Any], known: frozenset[str], renamed: dict[str, str]) -> dict[str, Any]:
    """Returns the keywords with their new names.

    Raises:
        TypeError: If a keyword is unknown, or is given under both names.
    """
    found = {}
    for name, value in given.items():
        new = renamed.get(name)
        if new is not None and new not in given:
            import warnings

            warnings.warn(f"{function}({name}=...) is now {function}({new}=...)", DeprecationWarning, stacklevel=3)
            found[new] = value
        elif name in known:
            found[name] = value
        else:
            meant = new or nearest_keyword(name, known)
            hint = "" if meant is None else f"; did you mean {meant!r}?"
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")
    return found


def nearest_keyword(name: str, known: frozenset[str]) -> str | None:
    """Returns the keyword that was probably meant: `hidden_size` for `hiddenSize`."""
    from fastrnns_rs.errors import closest

    if _MEANT.get(name) in known:
        return _MEANT[name]
    meant = closest(name.replace("_", "-"), [one.replace("_", "-") for one in known])
    return None if meant is None else meant.replace("-", "_")
