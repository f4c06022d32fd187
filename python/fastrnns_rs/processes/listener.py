"""Supervision of one worker process: its messages, time limits and end."""

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

#: Largest length of a reason: a runner may raise an error with megabytes of text.
_REASON_LENGTH = 400
#: Number of bytes that are kept of lines that are not messages.
_GARBAGE_LENGTH = 64 * 1024
#: Number of bytes above which these lines are cut, since cutting is slower than appending.
_GARBAGE_MOST = 16 * _GARBAGE_LENGTH
#: Time in seconds for a stopped worker to send its results. Ctrl-C must end the run within a second.
_GRACE_S = 0.45
#: Longest time of a read in seconds, and smallest delay of its end that counts as a pause of this process.
_GLANCE_S, _LATE_S = 1.0, 1.0


@dataclass(frozen=True, slots=True)
class Answer:
    """End of a worker.

    Attributes:
        content: Result of the worker; empty when it died without a result.
        ended: `answered`, `died`, `timed_out` or `interrupted`.
        reason: Reason in one line why the result is missing or bad; None for a good result.
        printed: End of its standard error, including the standard output of its runner.
    """

    content: dict[str, Any]
    ended: str
    reason: str | None
    printed: str


@dataclass(frozen=True, slots=True)
class Limit:
    """Time limit of a phase in seconds, with the reason for a longer phase."""

    seconds: float
    reason: str


def _ignore_phase(_said: Any) -> None:
    """Ignores a phase, for callers without a callback."""


def _has_no_parts(_content: dict[str, Any]) -> bool:
    """Returns False, since most jobs have a result without parts."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Time limits and callbacks of a worker.

    Attributes:
        timeout: Time in seconds until the worker is stopped, since its start, its first empty part, or the last part
            of its result.
        limits: Time limits of phases, by name of the phase.
        on_phase: Callback for each phase that the worker reports.
        on_part: Callback for each part of its result, of a job with several. It returns False for an invalid part,
            which gives the worker no more time: a runner may write parts without end.
    """

    timeout: float
    limits: Mapping[str, Limit] = field(default_factory=dict)
    on_phase: Callable[[str], None] = _ignore_phase
    on_part: Callable[[dict[str, Any]], bool] = _has_no_parts


class _Deadline(NamedTuple):
    at: float
    reason: str


class Listener:
    """Listener to a worker from its start to its end.

    Args:
        command: Command line that starts the worker.
        environment: All environment variables of the worker.
        terms: Time limits and callbacks.

    Attributes:
        done: True if nothing more can come from the worker.

    Raises:
        FastrnnsError: If the process cannot be supervised.
        OSError: If the system rejects the process.
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
        self._has_begun = False
        self._total_deadline = self._phase_deadline = self._restart_deadline()
        self.done = False
        self._process = started(command, environment)

    def tell(self, line: str) -> None:
        """Sends a line to the worker; the line is lost if the worker has ended."""
        self._process.write(line.encode() + b"\n")

    def listen(self, seconds: float, is_enough: Callable[[], bool] = lambda: False) -> float:
        """Reads messages for a time in seconds, or until the worker ends or must stop.

        A worker that exceeds its time limit is stopped.

        Args:
            seconds: Time in seconds.
            is_enough: Function that ends the reading early, asked after each message.

        Returns:
            Time in seconds in which this process was stopped. The limits of this worker are extended by it.
        """
        paused = 0.0
        until = time.monotonic() + seconds
        while not self.done and not is_enough():
            end = min(self._total_deadline, self._phase_deadline)
            begin = time.monotonic()
            left = min(end.at, until) - begin
            wait = min(max(0.0, left), _GLANCE_S)
            try:
                said = self._partial + self._process.read_lines(wait)
            except RuntimeError as error:
                # A runner can kill its supervisor. Then both have ended.
                self._lost, self.done = str(error), True
                break
            late = time.monotonic() - begin - wait
            if late > _LATE_S:
                # This process was stopped, and most likely the worker too, as in a container that is paused.
                self.extend(late)
                paused += late
            *complete, self._partial = said.split(b"\n")
            for line in complete:
                self._handle_line(line)
            if self._process.ended:
                self.done = True
            elif left <= 0:
                # A phase or a part that ended just now was within its limit.
                if time.monotonic() >= end.at and end is min(self._total_deadline, self._phase_deadline):
                    self._expire(end.reason)
                break
        return paused

    def extend(self, seconds: float) -> None:
        """Extends the time limits by a time in which the worker did nothing."""
        self._total_deadline, self._phase_deadline = (
            one._replace(at=one.at + seconds) for one in (self._total_deadline, self._phase_deadline)
        )

    def stop(self, ended: str, reason: str) -> None:
        """Requests the results until now, and gives the worker a moment to send them."""
        if not self.done and self._over is None:
            self._ended, self._over = ended, reason
            self._limits = {}
            self._total_deadline = self._phase_deadline = _Deadline(time.monotonic() + _GRACE_S, reason)
            self.tell("stop")

    def end(self) -> Answer:
        """Ends the worker, if it still runs, with every process that it started."""
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

    def _restart_deadline(self) -> _Deadline:
        seconds = self._terms.timeout
        return _Deadline(time.monotonic() + seconds, f"no result after {seconds:g} s")

    def _expire(self, reason: str) -> None:
        if self._over is None:
            # A runner that stops its supervisor leaves a process whose end is not detected.
            has_answered = self._result is not None
            self.stop("timed_out", "it measured, but its process did not end in time" if has_answered else reason)
        else:
            self.done = True

    def _handle_line(self, line: bytes) -> None:
        """Handles a message of the worker.

        Other lines were written by a runner that found the pipe, and are kept with the printed output.
        """
        try:
            message = json.loads(line)
            kind, content = message.pop("kind"), message
        except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
            self._discard(line)
            return
        if kind == "phase":
            self._begin_phase(_one_line(content.get("name")))
        elif kind == "part":
            # An empty part is the begin of the work, after torch was imported. It counts once.
            begins = not content and not self._has_begun
            self._has_begun |= begins
            if (begins or self._terms.on_part(content)) and self._over is None:
                self._total_deadline = self._phase_deadline = self._restart_deadline()
        elif kind == "result":
            self._result = content
        else:
            self._discard(line)

    def _discard(self, line: bytes) -> None:
        """Keeps the end of lines that are not messages, as part of the printed output.

        The kept size is limited, since there may be gigabytes.
        """
        self._garbage += line[-_GARBAGE_LENGTH:] + b"\n"
        if len(self._garbage) > _GARBAGE_MOST:
            del self._garbage[:-_GARBAGE_LENGTH]

    def _begin_phase(self, name: str) -> None:
        limit = self._limits.get(name)
        self._phase_deadline = self._total_deadline
        if limit is not None:
            self._phase_deadline = _Deadline(time.monotonic() + limit.seconds, limit.reason)
        self._terms.on_phase(name)


def started(command: list[str], environment: dict[str, str]) -> Process:
    """Starts a process.

    Raises:
        FastrnnsError: If it cannot be supervised.
        OSError: If the system rejects it.
    """
    try:
        return Process(command, env=environment)
    except RuntimeError as error:
        hint = "check the limits of processes, memory and open files: ulimit -a"
        raise FastrnnsError(str(error), hint) from error


def _one_line(text: object) -> str:
    """Returns a text of the worker in one line that is not too long.

    It has no control characters and no lone surrogates.
    """
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
