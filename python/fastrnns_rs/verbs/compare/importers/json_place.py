"""Locations in a foreign JSON document, with typed access and one-line errors."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from fastrnns_rs.documents.soundness import TIME_END
from fastrnns_rs.errors import UsageError
from fastrnns_rs.escaping import visible

#: Shorter than the resolution of any clock, and long enough that quotients of times stay finite.
_SHORTEST_NS = 1e-6
_LONGEST_SHOWN = 200
_COUNTS_END = 2**63


class UnmeasuredError(Exception):
    """Missing numbers of one benchmark; the rest of its file may be valid."""


class NoTimeError(UnmeasuredError):
    """Sample that is not a time.

    The other samples of the benchmark are not a fair sample.
    """


@dataclass(frozen=True, slots=True)
class Place:
    """A value inside a foreign document.

    Attributes:
        value: Value at the location.
        path: Keys that lead to the value, such as `benchmarks[0].runs`.
        file: Path of the file.
        tool: Tool that wrote the file.
        hint: Hint for a damaged file.
    """

    value: Any
    path: str
    file: str
    tool: str
    hint: str

    def __getitem__(self, key: str) -> Place:
        """Returns the value of a required key.

        Raises:
            UsageError: If this value is not an object, or does not have the key.
        """
        if key not in self.object():
            raise self.damage(f"the key {self._beneath(key)} is missing")
        return self._at(self._beneath(key), self.value[key])

    def get(self, key: str) -> Place | None:
        """Returns the value of an optional key; None if it is absent or null.

        Raises:
            UsageError: If this value is not an object.
        """
        value = self.object().get(key)
        return None if value is None else self._at(self._beneath(key), value)

    def object(self) -> dict[str, Any]:
        """Returns the value as an object.

        Raises:
            UsageError: If the value has another type, as for the other typed accessors.
        """
        if not isinstance(self.value, dict):
            raise self._wrong("an object")
        return self.value

    def items(self) -> list[Place]:
        """Returns the items of a list."""
        return [self._at(f"{self.path}[{index}]", one) for index, one in enumerate(self._list())]

    def text(self) -> str:
        """Returns the value as a string."""
        if not isinstance(self.value, str):
            raise self._wrong("a string")
        return self.value

    def integer(self) -> int:
        """Returns the value as an integer."""
        if type(self.value) is not int:
            raise self._wrong("an integer")
        return self.value

    def count(self) -> int:
        """Returns the value as a count of at least one."""
        if not 0 < self.integer() < _COUNTS_END:
            raise self._wrong("a count above 0")
        return self.integer()

    def flag(self) -> bool:
        """Returns the value as a boolean."""
        if not isinstance(self.value, bool):
            raise self._wrong("true or false")
        return self.value

    def time_ns(self, unit_ns: float) -> float:
        """Returns the value as a duration in nanoseconds.

        Args:
            unit_ns: Length of the file's unit in nanoseconds.

        Raises:
            NoTimeError: If no clock can give the number, such as 0.
        """
        if type(self.value) is not int and type(self.value) is not float:
            raise self._wrong("a number")
        time_ns = _float(self.value) * unit_ns
        if not _SHORTEST_NS <= time_ns < TIME_END:
            wanted = f"of at least {_SHORTEST_NS:g} ns" if 0.0 < time_ns < 1.0 else "above 0"
            wanted = "of less than 2⁶² ns" if time_ns >= TIME_END else wanted
            raise NoTimeError(f"{self.path} is {self.shown()}, not a time {wanted}")
        return time_ns

    def times_ns(self, unit_ns: float) -> list[float]:
        """Returns the durations of a list in nanoseconds; see `time_ns`."""
        values = self._list()
        # Files can have a million samples, so they are checked in comprehensions.
        if all(type(one) is float for one in values):
            times = [one * unit_ns for one in values]
            if all(_SHORTEST_NS <= one < TIME_END for one in times):
                return times
        return [one.time_ns(unit_ns) for one in self.items()]

    def damage(self, what: str) -> UsageError:
        """Returns the error for a document that its tool would not write."""
        what = visible(what)
        shown = what if len(what) <= _LONGEST_SHOWN else what[: _LONGEST_SHOWN - 1] + "…"
        return UsageError(f"{visible(self.file)} is not a {self.tool} file that can be read: {shown}", self.hint)

    def shown(self) -> str:
        """Returns the value as text, short enough for a message."""
        # `repr` of a deep list overflows the interpreter's stack, and `repr` of a huge integer takes too long.
        if isinstance(self.value, dict):
            return "an object"
        if isinstance(self.value, list):
            return "a list"
        if isinstance(self.value, int) and math.isinf(_float(self.value)):
            return "a number beyond all bounds"
        if self.value is None or isinstance(self.value, bool):
            return json.dumps(self.value)
        shown = repr(self.value[: _LONGEST_SHOWN + 1] if isinstance(self.value, str) else self.value)
        return shown if len(shown) <= _LONGEST_SHOWN else shown[: _LONGEST_SHOWN - 1] + "…"

    def _list(self) -> list[Any]:
        if not isinstance(self.value, list):
            raise self._wrong("a list")
        return self.value

    def _at(self, path: str, value: Any) -> Place:
        return Place(value, path, self.file, self.tool, self.hint)

    def _beneath(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def _wrong(self, expected: str) -> UsageError:
        return self.damage(f"{self.path or 'the document'} is {self.shown()}, not {expected}")


def _float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
