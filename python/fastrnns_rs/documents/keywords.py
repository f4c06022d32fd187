"""Keywords of public functions: checks of values, suggestions and old names."""

from __future__ import annotations

from fastrnns_rs.documents.argument_checks import check_value, find_check

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")

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


def checked_keywords(*, several: str = "", **renamed: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Makes a decorator that checks the arguments of a function.

    A call raises UsageError for a value that is not the switch, integer, path or list that its annotation requires.
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
        checks = {name: check for name, kind in function.__annotations__.items() if (check := find_check(kind))}

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
