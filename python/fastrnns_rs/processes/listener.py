"""One worker process: what it says, how much time it has, and how it ended."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from fastrnns_rs._core import Process
from fastrnns_rs.errors import FastrnnsError

if TYPE_CHECKING:
    from fastrnns_rs._core import Completed

#: A runner may raise an error with megabytes of text.
_REASON_LENGTH = 400
#: How much is kept of what was no message.
_GARBAGE_LENGTH = 64 * 1024
#: From here on it is cut, which takes longer than adding to it.
_GARBAGE_MOST = 16 * _GARBAGE_LENGTH
#: How long a worker that is told to stop has to send what it measured. Ctrl-C is to end within a second.
_GRACE_S = 0.45


@dataclass(frozen=True, slots=True)
class Answer:
    """How a worker ended.

    Attributes:
        content: Its result; empty when it died without one.
        ended: `answered`, `died`, `timed_out` or `interrupted`.
        reason: One line on why it is not a good result, if it is not.
        printed: The end of what it wrote to standard error, its runner's standard output included.
    """

    content: dict[str, Any]
    ended: str
    reason: str | None
    printed: str


@dataclass(frozen=True, slots=True)
class Limit:
    """How long a worker may stay in a phase, in seconds, and the reason where it stays longer."""

    seconds: float
    reason: str


def _heed_not(_said: Any) -> None:
    """Whoever does not ask to be told is told nothing."""


def _has_no_parts(_content: dict[str, Any]) -> bool:
    """Most jobs have a result without parts."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """On what terms a worker runs.

    Attributes:
        timeout: Seconds after which it is stopped, since it began or last had a part of its result.
        limits: How long it may stay in a phase, by the phase's name.
        on_phase: Called with each phase that it reports.
        on_part: Called with each part of its result, of a job that has several. Returns False for what is no such part
            and gives the worker no more time: a runner may write parts without end.
    """

    timeout: float
    limits: Mapping[str, Limit] = field(default_factory=dict)
    on_phase: Callable[[str], None] = _heed_not
    on_part: Callable[[dict[str, Any]], bool] = _has_no_parts


class _Deadline(NamedTuple):
    at: float
    reason: str


class Listener:
    """Follows a worker from its start to its end.

    Args:
        command: What starts it.
        environment: Its environment variables, all of them.
        terms: How long it may take, and who is told what it says.

    Attributes:
        done: Whether nothing more is to come of it.

    Raises:
        FastrnnsError: If the process cannot be supervised.
        OSError: If the system refuses it.
    """

    def __init__(self, command: list[str], environment: dict[str, str], terms: Terms) -> None:
        self._terms = terms
        self._limits = terms.limits
        self._partial = b""
        self._garbage = bytearray()
        self._result: dict[str, Any] | None = None
        self._ended = "answered"
        self._over: str | None = None
        self._lost: str | None = None
        self._of_all = self._of_phase = self._in_all()
        self.done = False
        self._process = started(command, environment)

    def tell(self, line: str) -> None:
        """Sends a line; a worker that is gone does not hear it."""
        self._process.write(line.encode() + b"\n")

    def listen(self, seconds: float) -> None:
        """Reads what it says for so long, or until it has ended or has no more time; then it is told to stop."""
        until = time.monotonic() + seconds
        while not self.done:
            end = min(self._of_all, self._of_phase)
            left = min(end.at, until) - time.monotonic()
            try:
                said = self._partial + self._process.read_lines(max(0.0, left))
            except RuntimeError as error:
                # A runner can kill the process that supervises it. Both are gone then.
                self._lost, self.done = str(error), True
                return
            *complete, self._partial = said.split(b"\n")
            for line in complete:
                self._hear(line)
            if self._process.ended:
                self.done = True
            elif left <= 0:
                # A phase or a part that ended just now took no longer than it may.
                if time.monotonic() >= end.at and end is min(self._of_all, self._of_phase):
                    self._expire(end.reason)
                return

    def stop(self, ended: str, reason: str) -> None:
        """Asks it for what it has by now, and gives it a moment to send that."""
        if not self.done and self._over is None:
            self._ended, self._over = ended, reason
            self._limits = {}
            self._of_all = self._of_phase = _Deadline(time.monotonic() + _GRACE_S, reason)
            self.tell("stop")

    def end(self) -> Answer:
        """Ends it, if it has not ended, with every process that it started."""
        try:
            completed = self._process.end()
        except RuntimeError as error:
            self._lost = str(error)
            completed = self._process.end()
        content = self._result or {}
        ended, reason = self._ended, self._over
        if reason is None and self._lost is not None:
            ended, reason = "died", self._lost
        elif reason is None and self._result is None:
            ended, reason = "died", _death(completed)
        elif reason is None:
            reason = content.get("reason")
        printed = self._garbage[-_GARBAGE_LENGTH:].decode("utf-8", errors="replace") + completed.stderr_tail
        return Answer(content, ended, reason and _one_line(reason), printed)

    def _in_all(self) -> _Deadline:
        seconds = self._terms.timeout
        return _Deadline(time.monotonic() + seconds, f"no result after {seconds:g} s")

    def _expire(self, reason: str) -> None:
        if self._over is None:
            # A runner that stops its supervisor leaves a process whose end is not noticed.
            has_answered = self._result is not None
            self.stop("timed_out", "it measured, but its process did not end in time" if has_answered else reason)
        else:
            self.done = True

    def _hear(self, line: bytes) -> None:
        """Takes a message. What is none was written by a runner that found our pipe: it goes with what it printed."""
        try:
            message = json.loads(line)
            kind, content = message.pop("kind"), message
        except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
            self._discard(line)
            return
        if kind == "phase":
            self._begin_phase(str(content.get("name")))
        elif kind == "part":
            if self._terms.on_part(content) and self._over is None:
                self._of_all = self._of_phase = self._in_all()
        elif kind == "result":
            self._result = content
        else:
            self._discard(line)

    def _discard(self, line: bytes) -> None:
        """Keeps what is no message for those who ask what was printed, but not gigabytes of it."""
        self._garbage += line[-_GARBAGE_LENGTH:] + b"\n"
        if len(self._garbage) > _GARBAGE_MOST:
            del self._garbage[:-_GARBAGE_LENGTH]

    def _begin_phase(self, name: str) -> None:
        limit = self._limits.get(name)
        self._of_phase = self._of_all
        if limit is not None:
            self._of_phase = _Deadline(time.monotonic() + limit.seconds, limit.reason)
        self._terms.on_phase(name)


def started(command: list[str], environment: dict[str, str]) -> Process:
    """Starts a process.

    Raises:
        FastrnnsError: If it cannot be supervised.
        OSError: If the system refuses it.
    """
    try:
        return Process(command, env=environment)
    except RuntimeError as error:
        hint = "check the limits of processes, memory and open files: ulimit -a"
        raise FastrnnsError(str(error), hint) from error


def _one_line(text: str) -> str:
    """A reason as it may stand in a table: without control characters, and not longer than a few lines."""
    valid = str(text).encode("utf-8", "backslashreplace").decode()
    shown = "".join(letter if letter.isprintable() else " " for letter in valid).strip()
    return shown if len(shown) <= _REASON_LENGTH else shown[: _REASON_LENGTH - 1] + "…"


def _death(completed: Completed) -> str:
    number = completed.signal
    if number is None:
        return f"the process exited with status {completed.exit_status} before it had a result"
    name = signal.Signals(number).name if number in set(signal.Signals) else "a signal"
    cause = "; the kernel does this when memory runs out" if number == signal.SIGKILL else ""
    return f"the process was killed by signal {number} ({name}){cause}"
