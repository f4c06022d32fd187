"""What a side runs, and in what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from fastrnns_rs.errors import UsageError
from fastrnns_rs.runners.plan import Options


@dataclass(frozen=True, slots=True, kw_only=True)
class SideRequest:
    """One of two sides.

    Attributes:
        runner: Its name.
        options: Problem and machine.
        words: Those options that were given for this side alone, as they were written.
        affinity: The CPUs that its processes may use.
        python: The interpreter; None for ours.
        variables: Environment variables beside our own.
    """

    name: Literal["a", "b"]
    runner: str
    options: Options
    words: list[str] = field(default_factory=list)
    affinity: tuple[int, ...] | None = None
    python: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What it is, for people: the runner, and what is special about this side."""
        python = [] if self.python is None else [f"python={self.python}"]
        return " ".join(
            [self.runner, *self.words, *(f"{key}={value}" for key, value in self.variables.items()), *python]
        )


def variables(given: Iterable[str]) -> dict[str, str]:
    """Environment variables from texts as `NAME=VALUE`.

    Raises:
        UsageError: One is not written so.
    """
    found = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or "\0" in value:
            raise UsageError(f"no variable is written {one!r}", "give NAME=VALUE")
        found[name] = value
    return found
