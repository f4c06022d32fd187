"""The answer of the profiled process to its parent."""

from __future__ import annotations

import json
import traceback
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fastrnns_rs.documents import writing
from fastrnns_rs.errors import FastrnnsError, MissingError, UsageError, own_text, type_name

#: A runner may raise an error with megabytes of text.
_REASON_LENGTH = 400


@dataclass(slots=True, kw_only=True)
class RunnerAnswer:
    """Outcome of a runner: `pending`, `running`, `ok` or `failed`.

    Durations are in nanoseconds, one for each iteration. `step` is the running step, for the progress.
    """

    name: str
    status: str = "pending"
    step: str = ""
    reason: str | None = None
    hint: str = ""
    phases: list[str] = field(default_factory=list)
    forward_ns: list[int] = field(default_factory=list)
    backward_ns: list[int] | None = None

    def fail(self, error: BaseException) -> None:
        """Records the reason of a failure, and prints the traceback."""
        # A runner may have closed or replaced standard error.
        with suppress(Exception):
            traceback.print_exception(error)
        self.status = "failed"
        self.reason, self.hint = _describe_error(error)


@dataclass(slots=True, kw_only=True)
class Refusal:
    """Reason why the process stops, with the error message and the kind of error."""

    message: str
    hint: str
    kind: str


@dataclass(slots=True, kw_only=True)
class Answer:
    """Outcome of the process so far. It is written again after each runner."""

    runners: list[RunnerAnswer]
    refusal: Refusal | None = None
    cycles: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    finished: bool = False

    def save(self, path: Path | None) -> None:
        """Writes the answer, if a path was given.

        Raises:
            UsageError: If it cannot be written.
        """
        if path is not None:
            writing.write(path, [json.dumps(asdict(self)).encode()], str(path))

    def refuse(self, error: Exception) -> None:
        """Records the reason why the process stops."""
        text, hint = _describe_error(error)
        kinds = (one.__name__ for one in (UsageError, MissingError) if isinstance(error, one))
        self.refusal = Refusal(message=text, hint=hint, kind=next(kinds, FastrnnsError.__name__))


def _describe_error(error: BaseException) -> tuple[str, str]:
    """Returns an error in one line, and its hint."""
    if isinstance(error, FastrnnsError):
        text, hint = error.message, error.hint
    else:
        text, hint = f"{type_name(error)}: {own_text(error)}", ""
    return " ".join(text.split())[:_REASON_LENGTH], hint
