"""A place in a document that another tool wrote: what stands there, or one line that says what is wrong with it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from fastrnns_rs.documents.soundness import TIME_END
from fastrnns_rs.errors import UsageError
from fastrnns_rs.escaping import visible

#: Shorter than any clock tells, and long enough that quotients of times stay numbers.
_SHORTEST_NS = 1e-6
_LONGEST_SHOWN = 40
_LONGEST_TOLD = 200
_COUNTS_END = 2**63


class UnmeasuredError(Exception):
    """One benchmark has no numbers that could be compared, whatever the rest of its file holds; says why."""


@dataclass(frozen=True, slots=True)
class Place:
    """A value inside a foreign document.

    Attributes:
        value: What stands there.
        path: The keys that lead there, such as `benchmarks[0].runs`.
        file: The path of the file.
        tool: Who wrote it.
        hint: What to do where it is damaged.
    """

    value: Any
    path: str
    file: str
    tool: str
    hint: str

    def __getitem__(self, key: str) -> Place:
        """What stands under a key that every such document has.

        Raises:
            UsageError: This is no object, or has no such key.
        """
        if key not in self.object():
            raise self.damage(f"the key {self._beneath(key)} is missing")
        return self._at(self._beneath(key), self.value[key])

    def get(self, key: str) -> Place | None:
        """What stands under a key that may be absent or null.

        Raises:
            UsageError: This is no object.
        """
        value = self.object().get(key)
        return None if value is None else self._at(self._beneath(key), value)

    def object(self) -> dict[str, Any]:
        """The object that stands here.

        Raises:
            UsageError: Something else does, as for the other readings.
        """
        if not isinstance(self.value, dict):
            raise self._wrong("an object")
        return self.value

    def items(self) -> list[Place]:
        """The places of a list."""
        return [self._at(f"{self.path}[{index}]", one) for index, one in enumerate(self._list())]

    def text(self) -> str:
        """The string that stands here."""
        if not isinstance(self.value, str):
            raise self._wrong("a string")
        return self.value

    def integer(self) -> int:
        """The integer that stands here."""
        if type(self.value) is not int:
            raise self._wrong("an integer")
        return self.value

    def count(self) -> int:
        """The count, of at least one, that stands here."""
        if not 0 < self.integer() < _COUNTS_END:
            raise self._wrong("a count above 0")
        return self.integer()

    def flag(self) -> bool:
        """The truth value that stands here."""
        if not isinstance(self.value, bool):
            raise self._wrong("true or false")
        return self.value

    def time_ns(self, unit_ns: float) -> float:
        """The duration that stands here, in nanoseconds.

        Args:
            unit_ns: How many nanoseconds the file's unit has.

        Raises:
            UnmeasuredError: It is a number that no clock gives, such as 0.
        """
        if type(self.value) is not int and type(self.value) is not float:
            raise self._wrong("a number")
        time_ns = _float(self.value) * unit_ns
        if not _SHORTEST_NS <= time_ns < TIME_END:
            wanted = f"of at least {_SHORTEST_NS:g} ns" if 0.0 < time_ns < 1.0 else "above 0"
            wanted = "of less than 2⁶² ns" if time_ns >= TIME_END else wanted
            raise UnmeasuredError(f"{self.path} is {self.shown()}, not a time {wanted}")
        return time_ns

    def times_ns(self, unit_ns: float) -> list[float]:
        """The durations of the list that stands here, in nanoseconds; see `time_ns`."""
        values = self._list()
        # Files have a million samples: checked at the speed of the interpreter's own loop.
        if all(type(one) is float for one in values):
            times = [one * unit_ns for one in values]
            if all(_SHORTEST_NS <= one < TIME_END for one in times):
                return times
        return [one.time_ns(unit_ns) for one in self.items()]

    def damage(self, what: str) -> UsageError:
        """The error for a document that is not what its tool writes."""
        what = visible(what)
        shown = what if len(what) <= _LONGEST_TOLD else what[: _LONGEST_TOLD - 1] + "…"
        return UsageError(f"{visible(self.file)} is not a {self.tool} file that can be read: {shown}", self.hint)

    def shown(self) -> str:
        """What stands here, short enough for a message."""
        # The text of a deep list overflows the interpreter's stack, that of a long integer takes for ever.
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
