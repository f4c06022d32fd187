"""Observer of a capture while it is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

#: Function that returns the report of the running process as far as it is written; empty if it is unchanged.
Report = Callable[[], dict[str, Any]]


class Observer(Protocol):
    """Observer of a capture."""

    def process_begins(self, profiler: str | None, report: Report) -> None:
        """Reports the start of a process that runs the runners.

        Args:
            profiler: Name of the profiler; None without a profiler.
            report: Function that returns the report of the process so far; empty if it is unchanged.
        """

    def reads(self, program: str | None) -> None:
        """Reports that a program converts the capture.

        Args:
            program: Name of the program; None for the checks of this package.
        """

    def note(self, text: str) -> None:
        """Reports an unusual event in a sentence."""


class Silent:
    """Observer that does nothing."""

    def process_begins(self, profiler: str | None, report: Report) -> None:
        """Does nothing."""

    def reads(self, program: str | None) -> None:
        """Does nothing."""

    def note(self, text: str) -> None:
        """Does nothing."""
