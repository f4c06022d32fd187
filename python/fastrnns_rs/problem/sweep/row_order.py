"""`--sort`: in which order rows are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastrnns_rs.errors import UsageError, nearest
from fastrnns_rs.problem.sweep.conditions import MEASURED, row_of
from fastrnns_rs.problem.sweep.names import find, flag

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Result

_PHASES = ("forward", "backward")
_KEYS = ("name", *_PHASES, *MEASURED)


def check(key: str) -> tuple[str, bool]:
    """What to sort by, and whether the largest comes first.

    Raises:
        UsageError: Rows have no such key.
    """
    down = key.startswith("-") and not key.startswith("--")
    name = key.removeprefix("-") if down else key
    if not name:
        raise UsageError("sort has no key", nearest(key, map(flag, _KEYS)))
    found = find(name, _KEYS, "key of a row")
    return "runner" if found == "name" else found, down


def ordered(results: list[Result], key: str) -> list[Result]:
    """The results by `key`; what has no such value comes last, and equals keep their order.

    Raises:
        UsageError: Rows have no such key.
    """
    name, down = check(key)
    values: list[Any] = [_value(one, name) for one in results]
    known = [index for index, value in enumerate(values) if value is not None]
    known.sort(key=lambda index: values[index], reverse=down)
    return [results[index] for index in (*known, *(index for index, value in enumerate(values) if value is None))]


def _value(result: Result, name: str) -> Any:
    if name in _PHASES:
        phase = result.forward if name == "forward" else result.backward
        return None if phase is None else phase.estimate_ns
    return row_of(result.runner, result.group, result.problem, status=result.status, side=result.side)[name]
