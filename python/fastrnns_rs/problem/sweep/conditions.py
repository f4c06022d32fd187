"""Filters and sort keys of rows: `--filter` and `--sort`."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NoReturn

from fastrnns_rs.errors import UsageError, unknown
from fastrnns_rs.problem.problem import Problem
from fastrnns_rs.problem.sweep.names import find, flag
from fastrnns_rs.problem.sweep.values import SWITCH, shown

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Result

#: Keys of a row before it is measured.
PLANNED = ("runner", "group", *(one.name for one in fields(Problem)))
#: Keys of a row in a run file.
MEASURED = (*PLANNED, "status", "side")
_ORDER = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_HINT = "Use KEY, an operator (=, !=, <, <=, >, >= or ~) and a value: 'hidden-size>=256'."
#: In a shell, an unquoted operator becomes a redirection, and the rest of the condition the name of a file.
_QUOTE = "Quote the condition (the shell redirects > and <): '{key}>={value}'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Condition on a row.

    Attributes:
        key: `runner`, `group`, or a field of the problem.
        sign: `=`, `!=`, `<`, `<=`, `>`, `>=`, or `~`. `~` matches rows that contain the value, or match it as a pattern
            if it has a `*`, `?` or `[`.
        value: Value to compare with.
    """

    key: str
    sign: str
    value: str

    def __str__(self) -> str:
        return f"{flag(self.key)}{self.sign}{self.value}"

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Returns True if a row meets the condition.

        A row to which the key does not apply differs from every value, and is neither larger nor smaller.
        """
        found = row.get(self.key)
        if self.sign in _ORDER:
            return found is not None and bool(_ORDER[self.sign](found, int(self.value)))
        text = None if found is None else shown(found)
        if self.sign == "~":
            pattern = self.value if set("*?[") & {*self.value} else f"*{self.value}*"
            return text is not None and fnmatchcase(text, pattern)
        wanted = shown(SWITCH[self.value.lower()]) if isinstance(found, bool) else self.value
        return (text == wanted) is (self.sign == "=")


def parse_conditions(given: object, known: tuple[str, ...] = PLANNED) -> tuple[Condition, ...]:
    """Returns the requested conditions, all of which a row must meet.

    Args:
        given: One or several texts, as `hidden-size>=256`; None for no conditions.
        known: Keys of a row.

    Raises:
        UsageError: If a condition is invalid.
    """
    if given is None:
        return ()
    texts = [given] if isinstance(given, str) or not isinstance(given, Iterable) else [*given]
    return tuple(_condition(text, known) for text in texts)


def make_row(runner: str, group: str, problem: Problem, **more: object) -> dict[str, Any]:
    """Returns the values of a row by key, for conditions and sorting."""
    return {"runner": runner, "group": group, **problem.by_name(), **more}


def _condition(text: object, known: tuple[str, ...]) -> Condition:
    found = (
        re.fullmatch(r"([\w-]+)\s*(<=|>=|!=|=|<|>|~)\s*(.*)", text.strip(), re.DOTALL)
        if isinstance(text, str)
        else None
    )
    if found is None and isinstance(text, str) and re.fullmatch(r"\s*[\w-]+\s*", text):
        return _without_operator(text, known)
    if found is None or not found[3] or found[3].startswith("="):
        raise _invalid(text, "has no value" if found is not None and not found[3] else "", _HINT)
    key = find(found[1], known, "key", "filter")
    number = re.fullmatch(r"\d{1,19}", found[3], re.ASCII)
    if found[2] in _ORDER and (key not in _NUMBERS or number is None):
        what = "needs an integer" if key in _NUMBERS else f"orders {found[1]}, which is not a number"
        raise _invalid(text, what, _HINT)
    if key in _SWITCHES and (found[2] not in {"=", "!="} or found[3].lower() not in SWITCH):
        raise _invalid(text, "needs on or off", f"Use {found[1]}=on or {found[1]}=off.")
    if key in _NUMBERS and found[2] != "~" and number is None:
        raise _invalid(text, "needs an integer", _HINT)
    value = str(int(found[3])) if key in _NUMBERS and number else found[3]
    return Condition(key=key, sign=found[2], value=value)


def _without_operator(text: str, known: tuple[str, ...]) -> NoReturn:
    """Raises the error for a key alone: the shell redirects an unquoted `>`."""
    key = find(text, known, "key", "filter")
    quote = _QUOTE.format(key=flag(key), value=256) if key in _NUMBERS else None
    raise _invalid(text.strip(), "has no operator", _HINT, quote)


def _invalid(text: object, why: str, hint: str, command_hint: str | None = None) -> UsageError:
    message = f"invalid condition: {text!r}{f' {why}' if why else ''}"
    return UsageError(message, hint, where="filter", value=text, command_hint=command_hint)


_NUMBERS = {one.name for one in fields(Problem) if "int" in str(one.type)}
_SWITCHES = {one.name for one in fields(Problem) if "bool" in str(one.type)}


_PHASES = ("forward", "backward")
_KEYS = ("name", *_PHASES, *MEASURED)


def sort_key(key: str) -> tuple[str, bool]:
    """Returns the sort key, and True if the largest value comes first.

    Raises:
        UsageError: If rows do not have this key.
    """
    down = key.startswith("-") and not key.startswith("--")
    name = key.removeprefix("-") if down else key
    if not name:
        raise unknown("invalid key", key, map(flag, _KEYS), where="sort")
    found = find(name, _KEYS, "key", "sort")
    return "runner" if found == "name" else found, down


def ordered(results: list[Result], key: str) -> list[Result]:
    """Returns the results sorted by `key`.

    Results without a value come last, and equal results keep their order.

    Raises:
        UsageError: If rows do not have this key.
    """
    name, down = sort_key(key)
    values: list[Any] = [_value(one, name) for one in results]
    known = [index for index, value in enumerate(values) if value is not None]
    known.sort(key=lambda index: values[index], reverse=down)
    return [results[index] for index in (*known, *(index for index, value in enumerate(values) if value is None))]


def _value(result: Result, name: str) -> Any:
    if name in _PHASES:
        phase = result.forward if name == "forward" else result.backward
        return None if phase is None else phase.estimate_ns
    return make_row(result.runner, result.group, result.problem, status=result.status, side=result.side)[name]
