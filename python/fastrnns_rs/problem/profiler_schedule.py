"""Schedule of the iterations that torch's profiler records."""

from __future__ import annotations

from dataclasses import dataclass, fields

from fastrnns_rs.errors import UsageError, unknown
from fastrnns_rs.problem.problem import check_count

_MOST_DIGITS = 20
#: A trace of more iterations would take gigabytes, and the list of them is made before anything runs.
_MOST_RECORDED = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Cycles of iterations, with the names and meanings of `torch.profiler.schedule`.

    >>> import fastrnns_rs
    >>> schedule = fastrnns_rs.Schedule(wait=0, warmup=1, active=2)
    >>> fastrnns_rs.Schedule.parse("wait=0,warmup=1,active=2") == schedule
    True

    Attributes:
        wait: Number of iterations at the start of a cycle that are not traced.
        warmup: Number of iterations after `wait` that are traced and discarded, since the profiler slows the first
            ones.
        active: Number of iterations after `warmup` that are recorded.
        repeat: Number of cycles; 0 for as many as the iterations allow.
        skip_first: Number of iterations before the first cycle.
    """

    wait: int = 1
    warmup: int = 1
    active: int = 3
    repeat: int = 1
    skip_first: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            least = 1 if field.name == "active" else 0
            check_count(f"the schedule's {_dashed(field.name)}", getattr(self, field.name), least=least)

    @classmethod
    def parse(cls, text: str) -> Schedule:
        """Parses the output of `str`, with keys in any order; missing keys have defaults.

        Raises:
            UsageError: If a key is unknown or given twice, or a value is not a count.
        """
        known = [field.name for field in fields(cls)]
        found: dict[str, int] = {}
        for part in text.split(","):
            key, equals, value = (word.strip() for word in part.partition("="))
            name = key.replace("-", "_")
            if not equals:
                raise _wrong("invalid pair", part.strip(), "Use pairs such as wait=1,active=3.")
            if name not in known:
                raise unknown("unknown key", key, map(_dashed, known), where="schedule")
            if name in found:
                raise _wrong("duplicate key", _dashed(name), "Use each key once.")
            # Python converts no more than 4,300 digits.
            if not (value.isascii() and value.removeprefix("-").isdecimal() and len(value) <= _MOST_DIGITS):
                raise _wrong(f"invalid integer of {_dashed(name)}", value, "Use an integer of at least 0.")
            found[name] = int(value)
        return cls(**found)

    def __str__(self) -> str:
        return ",".join(f"{_dashed(field.name)}={getattr(self, field.name)}" for field in fields(self))

    @property
    def needed(self) -> int:
        """Number of iterations that all cycles take, or one cycle where `repeat` is 0."""
        return self.skip_first + self._length * max(self.repeat, 1)

    def cycles(self, iterations: int) -> list[list[int]]:
        """Returns the iterations that each cycle records, out of `iterations`.

        The last cycle may be shorter: torch's profiler saves its recording when it stops.
        """
        found: list[list[int]] = []
        while not self.repeat or len(found) < self.repeat:
            recorded = self.cycle(len(found), iterations)
            if not recorded:
                break
            found.append(recorded)
        return found

    def cycle(self, index: int, iterations: int) -> list[int]:
        """Returns the iterations that one cycle records, out of `iterations`.

        Args:
            index: Number of the cycle, from 0.
            iterations: Number of iterations that run.
        """
        first = self.skip_first + index * self._length + self.wait + self.warmup
        return list(range(first, min(first + self.active, iterations)))

    def recorded(self, iterations: int) -> int:
        """Returns how many of `iterations` all cycles together record."""
        left = max(iterations - self.skip_first, 0)
        if self.repeat:
            left = min(left, self._length * self.repeat)
        whole, rest = divmod(left, self._length)
        return whole * self.active + min(max(rest - self.wait - self.warmup, 0), self.active)

    def check(self, iterations: int) -> None:
        """Rejects a schedule that cannot be completed.

        Raises:
            UsageError: If the schedule needs more iterations than are run, or records more than 100,000.
        """
        if self.needed > iterations:
            message = f"schedule too long: {str(self)!r} needs {self.needed} iterations, and {iterations} run"
            raise UsageError(message, f"Use `nloops={self.needed}` or a shorter schedule.", where="schedule")
        recorded = self.recorded(iterations)
        if recorded > _MOST_RECORDED:
            message = f"schedule too long: {str(self)!r} records {recorded} iterations"
            raise UsageError(message, f"Record at most {_MOST_RECORDED:,} iterations.", where="schedule")

    @property
    def _length(self) -> int:
        return self.wait + self.warmup + self.active


def _wrong(what: str, value: str, hint: str) -> UsageError:
    return UsageError(f"{what}: {value!r}", hint, where="schedule", value=value)


def _dashed(name: str) -> str:
    return name.replace("_", "-")
