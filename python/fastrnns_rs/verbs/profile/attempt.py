"""Attempt at a capture: commands, their output, and the results so far."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from fastrnns_rs._core import Completed, run_command
from fastrnns_rs.documents import file_names
from fastrnns_rs.documents.codec import RunWarning
from fastrnns_rs.errors import FastrnnsError, make_system_error
from fastrnns_rs.processes.module_path import own_path
from fastrnns_rs.processes.worker_setting import MARK, guarded_environment, python_path
from fastrnns_rs.verbs.profile import tool_messages
from fastrnns_rs.verbs.profile.answer_file import read_answer, remove_answer
from fastrnns_rs.verbs.profile.private_folder import PrivateFolder
from fastrnns_rs.verbs.profile.tools import SAFE_FOLDER

#: Time in which a stopped profiler can write its data. Worker processes end within two seconds.
_GRACE_S = 1.5


class Entry(NamedTuple):
    """Part of the log: a line of fastrnns-rs, or printed output of a command."""

    text: str
    printed: bool = False


@dataclass(frozen=True, slots=True)
class Lost:
    """End of a command that killed its supervisor; compatible with `Completed`.

    Attributes:
        reason: Reason why nothing else is known.
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
    """State of an attempt at a capture.

    Attributes:
        stem: Path of its files without suffixes.
        timeout: Time limit of each command, in seconds.
        redact: Remove private data; from the log, all output of commands.
        command: Command that ran under the profiler.
        started: Start time of the attempt.
        completed: End of the command; None if it never ran.
        answer: Report of the profiled process; see `fastrnns_rs.worker.profile.answer.Answer`.
        left_out: Results of runners that ended a process before its iterations: later processes are without them.
        ratio: Time of the captured iterations over their time without the profiler; None if unknown.
        ratio_interval: 95 % interval of `ratio`, from ten iterations on.
        unprofiled_ns: Time of an iteration without the profiler, by runner; see `Baseline.iteration_ns`.
        ran_out_of_time: True if a command exceeded its time limit.
        variables: Environment variables added for each command.
        said_by_tool: Output of the profiler, without the output of the profiled process and of other commands.
        log: Entries of the log.
        warnings: Warnings about the attempt.
        private: Folder of files that are not redacted yet; None for the folder of `stem`.
        placed: Kind of each redacted file that has left the private folder, by its path.
        traces: Folder of the traces of torch's profiler; None for that of the other files.
        iterations: Number of iterations of each runner.
        shown: State of the report's file when the progress last read it; None before.
    """

    stem: Path
    timeout: float
    redact: bool = False
    command: list[str] = field(default_factory=list)
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    completed: Ended | None = None
    answer: dict[str, Any] = field(default_factory=dict)
    left_out: list[dict[str, Any]] = field(default_factory=list)
    ratio: float | None = None
    ratio_interval: tuple[float, float] | None = None
    unprofiled_ns: dict[str, int] = field(default_factory=dict)
    ran_out_of_time: bool = False
    variables: dict[str, str] = field(default_factory=dict)
    said_by_tool: list[str] = field(default_factory=list)
    log: list[Entry] = field(default_factory=list)
    warnings: list[RunWarning] = field(default_factory=list)
    private: PrivateFolder | None = None
    placed: dict[Path, str] = field(default_factory=dict)
    traces: Path | None = None
    iterations: int = 0
    shown: tuple[int, int, int] | None = None

    @property
    def raw_stem(self) -> Path:
        """Path of the files before redaction, without suffixes.

        It is `stem` if no folder is private.
        """
        return self.stem if self.private is None else self.private.path / self.stem.name

    @property
    def trace_folder(self) -> Path:
        """Folder of the traces of torch's profiler, before redaction."""
        return self.raw_stem.parent if self.traces is None else self.traces

    @property
    def folders(self) -> tuple[Path, ...]:
        """Folders of the files, before and after redaction."""
        return (self.stem.parent,) if self.private is None else (self.stem.parent, self.private.path)

    def final_text(self, text: str) -> str:
        """Returns a text with the folders of the files after redaction."""
        return text if self.private is None else self.private.final_text(text)

    @property
    def log_path(self) -> Path:
        """Path of the file with all commands and their output."""
        return file_names.with_suffix(self.stem, ".log")

    @property
    def where_printed(self) -> str:
        """Hint that names the file with the output of commands."""
        if self.redact:
            return f"without `redact` {self.log_path} has what was printed too"
        return f"everything that was printed is in {self.log_path}"

    @property
    def answer_path(self) -> Path:
        """Path of the profiled process's report, until it is read."""
        return file_names.with_suffix(self.raw_stem, ".answer.json")

    @property
    def runners(self) -> list[dict[str, Any]]:
        """Results of each runner; empty if the process died before its report."""
        return [*self.left_out, *self.answer.get("runners", [])]

    @property
    def cycles(self) -> list[dict[str, Any]]:
        """Results of torch's profiler, if it is the tool."""
        found: list[dict[str, Any]] = self.answer.get("cycles", [])
        return found

    @property
    def phases(self) -> dict[str, list[str]]:
        """Phases of each runner that ended well."""
        return {one["name"]: one["phases"] for one in self.runners if one["status"] == "ok"}

    def run(self, command: list[str], purpose: str) -> Ended:
        """Runs a command of the profiler, and adds its output to the log.

        Raises:
            FastrnnsError: If the command cannot be started.
        """
        completed = self._run(command, purpose, directory=SAFE_FOLDER)
        self.said_by_tool += _printed(completed)
        return completed

    def forget_answer(self) -> None:
        """Removes the report of an earlier process."""
        remove_answer(self.answer_path)

    def run_and_listen(
        self, command: list[str], purpose: str, timeout: float | None = None, *, directory: str | None = None
    ) -> tuple[Ended, dict[str, Any]]:
        """Runs a command that executes the runners, and returns its report.

        The report is empty if the process died before it. An earlier report must have been removed.

        Args:
            command: Command to run.
            purpose: Purpose of the command, for the log.
            timeout: Time limit in seconds; None for the attempt's `timeout`.
            directory: Working directory; None for that of this process.

        Raises:
            FastrnnsError: If the command cannot be started.
        """
        completed = self._run(command, purpose, timeout, directory)
        # Only the last output counts: earlier commands ran without the profiler, or it wrote nothing.
        self.said_by_tool = [tool_messages.select_tool_output(text) for text in _printed(completed)]
        return completed, self.said()

    def _run(
        self, command: list[str], purpose: str, timeout: float | None = None, directory: str | None = None
    ) -> Ended:
        completed: Ended
        self.log.append(Entry(f"# {purpose}\n$ {shlex.join(map(self.final_text, command))}"))
        try:
            seconds = self.timeout if timeout is None else timeout
            variables = {**child_environment(), **self.variables}
            completed = run_command(command, timeout=seconds, env=variables, cwd=directory, grace=_GRACE_S)
        except OSError as error:
            refused = make_system_error(error)
            message = f"cannot start program: {error.filename or command[0]!r}"
            raise FastrnnsError(message, refused.hint, reason=error.strerror or str(error)) from error
        except RuntimeError as error:
            completed = Lost(str(error))
        self.ran_out_of_time |= completed.timed_out
        self.log += [Entry(text, printed=True) for text in _printed(completed)]
        self.log.append(Entry(f"# {describe_end(completed)} after {completed.duration_ns / 1e9:.1f} s"))
        return completed

    def said(self) -> dict[str, Any]:
        """Returns the report of the current or last command, as far as it is written."""
        return read_answer(self.answer_path, self.iterations)

    def read_progress(self) -> dict[str, Any]:
        """Returns the report for the progress; empty if it is as at the last call.

        Parsing all times of a long report takes the processor from the runner that is measured.
        """
        try:
            found = self.answer_path.lstat()
        except OSError:
            return {}
        before, self.shown = self.shown, (found.st_ino, found.st_size, found.st_mtime_ns)
        return {} if self.shown == before else self.said()


def child_environment() -> dict[str, str]:
    """Returns the environment variables of the profiled process."""
    # Options set by variables are passed as flags. Passing them twice could cause contradictions.
    inherited = {
        name: value for name, value in guarded_environment().items() if not name.startswith("FASTRNNS_PROFILE_")
    }
    return {
        **inherited,
        # Kineto logs internal state in every cycle.
        "KINETO_LOG_LEVEL": os.environ.get("KINETO_LOG_LEVEL", "99"),
        # Modules of runners may be importable only through the search path of this process.
        "PYTHONPATH": python_path(own_path()),
        MARK: "1",
    }


def describe_end(completed: Ended | None) -> str:
    """Returns the end of a command in words."""
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
    return [_apply_overwrites(text) for text in (completed.stdout_tail, completed.stderr_tail)]


def _apply_overwrites(text: str) -> str:
    """Returns the final state of printed lines: progress bars overwrite themselves."""
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
