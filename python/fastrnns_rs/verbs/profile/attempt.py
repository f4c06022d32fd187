"""An attempt at a capture: what was run for it, what that said, and what it left."""

from __future__ import annotations

import json
import os
import shlex
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from fastrnns_rs._core import Completed, run_command
from fastrnns_rs.documents import file_names
from fastrnns_rs.documents.codec import Notice
from fastrnns_rs.errors import FastrnnsError, of_system
from fastrnns_rs.processes.launcher import MARK
from fastrnns_rs.verbs.profile import tool_messages

#: How long a profiler that is told to stop has for what it saw until then. No process of ours lives two seconds longer.
_GRACE_S = 1.5


class Entry(NamedTuple):
    """A part of the log: what we say, or what a command printed."""

    text: str
    printed: bool = False


@dataclass(frozen=True, slots=True)
class Lost:
    """End of a command that killed its supervisor, with the attributes of `Completed`.

    Attributes:
        reason: Why nothing else is known.
    """

    reason: str
    exit_status: None = None
    signal: None = None
    timed_out: bool = False
    stdout_tail: str = ""
    stderr_tail: str = ""
    duration_ns: int = 0


Ended: TypeAlias = Completed | Lost


@dataclass(slots=True)
class Attempt:
    """What there is of a capture so far.

    Attributes:
        stem: The path of its files without their suffixes.
        timeout: Seconds that each command may take.
        redact: What nobody else should read is taken out: of the log, all that commands print.
        command: The one that was run under the profiler.
        started: When.
        completed: How it ended.
        answer: What the process that was profiled says of itself; see `fastrnns_rs.worker.profile.answer.Answer`.
        ratio: How much longer the captured iterations took than without the profiler.
        ratio_interval: Its 95 % interval, from ten iterations on.
        unprofiled_ns: How long one of them took without it, by runner; see `Baseline.iteration_ns`.
        ran_out_of_time: Whether a command was ended because it took too long.
        variables: Environment variables of each command beside our own.
        said_by_tool: What the profiler printed: neither what the process in it did, nor what ran without it.
    """

    stem: Path
    timeout: float
    redact: bool = False
    command: list[str] = field(default_factory=list)
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    completed: Ended | None = None
    answer: dict[str, Any] = field(default_factory=dict)
    ratio: float | None = None
    ratio_interval: tuple[float, float] | None = None
    unprofiled_ns: dict[str, int] = field(default_factory=dict)
    ran_out_of_time: bool = False
    variables: dict[str, str] = field(default_factory=dict)
    said_by_tool: list[str] = field(default_factory=list)
    log: list[Entry] = field(default_factory=list)
    warnings: list[Notice] = field(default_factory=list)

    @property
    def log_path(self) -> Path:
        """The file with every command that was run, and what it printed."""
        return file_names.with_suffix(self.stem, ".log")

    @property
    def where_printed(self) -> str:
        """Where to look for what commands printed, as a hint."""
        if self.redact:
            return f"without --redact {self.log_path} has what was printed too"
        return f"everything that was printed is in {self.log_path}"

    @property
    def answer_path(self) -> Path:
        """Where the process says how it went, until that is known."""
        return file_names.with_suffix(self.stem, ".answer.json")

    @property
    def runners(self) -> list[dict[str, Any]]:
        """How each runner went; empty when the process died before it could say."""
        found: list[dict[str, Any]] = self.answer.get("runners", [])
        return found

    @property
    def cycles(self) -> list[dict[str, Any]]:
        """What torch's profiler made, where that is the tool."""
        found: list[dict[str, Any]] = self.answer.get("cycles", [])
        return found

    @property
    def phases(self) -> dict[str, list[str]]:
        """The phases of each runner that went well."""
        return {one["name"]: one["phases"] for one in self.runners if one["status"] == "ok"}

    def run(self, command: list[str], purpose: str) -> Ended:
        """Runs a command of the profiler's, and adds what it printed to the log.

        Raises:
            FastrnnsError: It cannot be started.
        """
        completed = self._run(command, purpose)
        self.said_by_tool += _printed(completed)
        return completed

    def run_and_listen(
        self, command: list[str], purpose: str, timeout: float | None = None
    ) -> tuple[Ended, dict[str, Any]]:
        """The same for a command that runs the runners; its answer is empty if it died before it could.

        Args:
            command: What to run.
            purpose: Why, for the log.
            timeout: Seconds that it may take, where those are not `timeout`'s.
        """
        self.answer_path.unlink(missing_ok=True)
        completed = self._run(command, purpose, timeout)
        # The last one counts: before it they ran without the profiler, or it wrote nothing.
        self.said_by_tool = [tool_messages.of_the_tool(text) for text in _printed(completed)]
        return completed, self.said()

    def _run(self, command: list[str], purpose: str, timeout: float | None = None) -> Ended:
        completed: Ended
        self.log.append(Entry(f"# {purpose}\n$ {shlex.join(command)}"))
        try:
            seconds = self.timeout if timeout is None else timeout
            variables = {**child_environment(), **self.variables}
            completed = run_command(command, timeout=seconds, env=variables, grace=_GRACE_S)
        except OSError as error:
            refused = of_system(error)
            message = f"{error.filename or command[0]} cannot be started: {error.strerror}"
            raise FastrnnsError(message, refused.hint) from error
        except RuntimeError as error:
            completed = Lost(str(error))
        self.ran_out_of_time |= completed.timed_out
        self.log += [Entry(text, printed=True) for text in _printed(completed)]
        self.log.append(Entry(f"# {end_of(completed)} after {completed.duration_ns / 1e9:.1f} s"))
        return completed

    def said(self) -> dict[str, Any]:
        """The answer of the command that runs or ran, as far as it has come."""
        try:
            said = json.loads(self.answer_path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return said if isinstance(said, dict) else {}


def child_environment() -> dict[str, str]:
    """The variables of the process that is profiled."""
    # What was asked for by variables it is told by flags: the same twice may contradict itself.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("FASTRNNS_PROFILE_")}
    return {
        **inherited,
        # Kineto speaks of its inner state in every cycle.
        "KINETO_LOG_LEVEL": os.environ.get("KINETO_LOG_LEVEL", "99"),
        # Runners may be in modules that only this process knows where to find.
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        MARK: "1",
    }


def end_of(completed: Ended | None) -> str:
    """How a command ended, in words."""
    if completed is None:
        return "it never began"
    if isinstance(completed, Lost):
        return completed.reason
    if completed.timed_out:
        return "its time was up"
    if completed.signal is not None:
        return f"it was killed by signal {completed.signal}"
    return f"exit status {completed.exit_status}"


def _printed(completed: Ended) -> list[str]:
    return [_settled(text) for text in (completed.stdout_tail, completed.stderr_tail)]


def _settled(text: str) -> str:
    """What was printed as it stands in the end: a bar of progress writes over itself."""
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
