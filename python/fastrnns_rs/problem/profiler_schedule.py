"""Which iterations torch's profiler records."""

from __future__ import annotations

from dataclasses import dataclass, fields

from fastrnns_rs.errors import UsageError, nearest
from fastrnns_rs.problem.problem import check_count


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Cycles of iterations; the names and meanings are those of `torch.profiler.schedule`.

    Attributes:
        wait: Iterations at the beginning of a cycle that the profiler lets pass.
        warmup: Iterations after them that it traces and throws away, since it makes the first ones slower.
        active: Iterations after those that it records.
        repeat: Cycles; 0 stands for as many as there are iterations for.
        skip_first: Iterations before the first cycle.
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
        """Reads what `str` writes, in any order; a key that is missing has its default.

        Raises:
            UsageError: A key is unknown or given twice, or a value is not a count.
        """
        known = [field.name for field in fields(cls)]
        found: dict[str, int] = {}
        for part in text.split(","):
            key, equals, value = (word.strip() for word in part.partition("="))
            name = key.replace("-", "_")
            if not equals:
                raise UsageError(f"the schedule has {part.strip()!r}", "give pairs such as wait=1,active=3")
            if name not in known:
                hint = nearest(_dashed(name), map(_dashed, known))
                raise UsageError(f"a schedule has no {key!r}", hint)
            if name in found:
                raise UsageError(f"the schedule gives {_dashed(name)} twice", "keep one of them")
            if not (value.isascii() and value.removeprefix("-").isdecimal()):
                raise UsageError(f"the schedule's {_dashed(name)} is {value!r}", "give a whole number")
            found[name] = int(value)
        return cls(**found)

    def __str__(self) -> str:
        return ",".join(f"{_dashed(field.name)}={getattr(self, field.name)}" for field in fields(self))

    @property
    def needed(self) -> int:
        """Iterations that all cycles take, or one cycle where they go on for as long as there are iterations."""
        return self.skip_first + self._length * max(self.repeat, 1)

    def cycles(self, iterations: int) -> list[list[int]]:
        """The iterations that each cycle records, where `iterations` are run.

        The last cycle may be cut short: torch's profiler saves what it has recorded when it stops.
        """
        found: list[list[int]] = []
        while not self.repeat or len(found) < self.repeat:
            first = self.skip_first + len(found) * self._length + self.wait + self.warmup
            recorded = list(range(first, min(first + self.active, iterations)))
            if not recorded:
                break
            found.append(recorded)
        return found

    def check(self, iterations: int) -> None:
        """Refuses to begin what cannot be ended.

        Raises:
            UsageError: The schedule needs more iterations than are run.
        """
        if self.needed > iterations:
            raise UsageError(
                f"the schedule {self} needs {self.needed} iterations, and {iterations} are run",
                f"give --nloops {self.needed} or a shorter --schedule",
            )

    @property
    def _length(self) -> int:
        return self.wait + self.warmup + self.active


def _dashed(name: str) -> str:
    return name.replace("_", "-")
