"""Values of an axis: `128,256`, `64:256:64`, `pow2:6:10`, and lists of these.

The stop of `64:256:64` is included.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from fastrnns_rs.errors import UsageError, unknown
from fastrnns_rs.problem.problem import MOST as LARGEST
from fastrnns_rs.problem.sweep.names import NUMBERS, WORDS, flag

#: Largest number of values and points: each point takes at least one process of some seconds.
MOST = 1000
#: Spellings of the values of an option that is on or off.
SWITCH = {"on": True, "off": False, "true": True, "false": False, "yes": True, "no": False}
_FORMS = "Use numbers such as 128,256, start:stop:step, or pow2:6:10 for powers of two."


def parse_values(name: str, given: object) -> tuple[Any, ...]:
    """Returns the unique values of the axis `name`, in the given order.

    Args:
        name: Name of the option.
        given: A text as on the command line, one value, or several of either.

    Raises:
        UsageError: If there are no values, duplicates, too many values, or values that the option does not accept.
    """
    # A range may have more values than fit into memory.
    words = [given] if isinstance(given, str) or not isinstance(given, Iterable) else given
    found: list[Any] = []
    for word in words:
        for part in word.split(",") if isinstance(word, str) else [word]:
            for value in _part(name, part.strip() if isinstance(part, str) else part):
                if value in found:
                    raise _wrong(name, value, "Use each value once.", what="duplicate value")
                found.append(value)
                if len(found) > MOST:
                    raise _too_many(name, f"more than {MOST}")
    if not found:
        raise UsageError(f"missing values: {flag(name)}", _such_as(name), where="axes")
    return tuple(found)


def shown(value: object) -> str:
    """Returns a value as written on the command line."""
    return str(value) if not isinstance(value, bool) else "on" if value else "off"


def _part(name: str, part: object) -> Iterable[Any]:
    if part == "":
        raise UsageError(f"empty value: {flag(name)}", _such_as(name), where="axes")
    if name in NUMBERS:
        return _numbers(name, part)
    if name in WORDS:
        if part not in WORDS[name]:
            raise unknown(f"invalid value of {flag(name)}", part, WORDS[name], where="axes")
        return [part]
    switch = part if isinstance(part, bool) else SWITCH.get(str(part).lower())
    if switch is None:
        raise _wrong(name, part, "Use on, off, or on,off.")
    return [switch]


def _numbers(name: str, part: object) -> Iterable[int]:
    if not isinstance(part, str):
        found: Iterable[object] = [part]
    elif re.fullmatch(r"\d{1,19}", part, re.ASCII):
        found = [int(part)]
    elif bounds := re.fullmatch(r"pow2:(\d{1,3}):(\d{1,3})", part, re.ASCII):
        first, last = int(bounds[1]), int(bounds[2])
        found = [1 << power for power in range(first, last + 1)]
        if first > last:
            raise _wrong(name, part, "Use a start that is at most the stop.")
    elif bounds := re.fullmatch(r"(\d{1,19}):(\d{1,19}):(-?\d{1,19})", part, re.ASCII):
        found = _range(name, part, int(bounds[1]), int(bounds[2]), int(bounds[3]))
    else:
        raise _wrong(name, part, _FORMS)
    return _checked(name, found)


def _range(name: str, part: str, start: int, stop: int, step: int) -> range:
    if step <= 0:
        raise _wrong(name, part, "Use a step of at least 1.")
    if start > stop:
        raise _wrong(name, part, "Use a start that is at most the stop.")
    count = (stop - start) // step + 1
    if count > MOST:
        raise _too_many(name, str(count))
    return range(start, stop + 1, step)


def _checked(name: str, numbers: Iterable[Any]) -> Iterator[int]:
    for number in numbers:
        if number is None:
            raise _wrong(name, number, _FORMS)
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= LARGEST:
            raise _wrong(name, number, f"Use integers from 1 to {LARGEST}.")
        yield number


def _too_many(name: str, count: str) -> UsageError:
    message = f"too many values of {flag(name)}: {count}, and a sweep supports {MOST}"
    return UsageError(message, "Use a larger step.", where="axes")


def _wrong(name: str, value: object, hint: str, *, what: str = "invalid value") -> UsageError:
    return UsageError(f"{what} of {flag(name)}: {value!r}", hint, where="axes", value=value)


def _such_as(name: str) -> str:
    return f"Use values such as {flag(name)}={_example(name)}."


def _example(name: str) -> str:
    return "128,256" if name in NUMBERS else ",".join(WORDS[name][:2]) if name in WORDS else "on,off"
