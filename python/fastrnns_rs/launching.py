"""Starts a worker process, follows what it says and sees to it that nothing of it stays behind."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastrnns_rs._core import Process

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fastrnns_rs._core import Completed

#: Set in every worker: a runner's file that benches when it is imported would start workers without end.
MARK = "FASTRNNS_WORKER"
#: A runner may raise an error with megabytes of text.
_REASON_LENGTH = 400
#: How much is kept of what was no message.
_GARBAGE_LENGTH = 64 * 1024
#: How long a worker that is told to stop has to send what it measured. Ctrl-C is to end within a second.
_GRACE_S = 0.45
#: How long one of several workers is listened to before the next.
_GLANCE_S = 0.05


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


@dataclass(slots=True)
class _Heard:
    """What has come from a worker so far."""

    partial: bytes = b""
    garbage: list[str] = field(default_factory=list)
    result: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a worker runs in.

    Attributes:
        threads: How many threads its numeric libraries may start; None leaves that to them.
        affinity: The CPUs that it may use; None for those of this process.
        python: The interpreter; None for the one that runs this. Another has a torch of its own, and is lent this
            package alone.
        variables: Environment variables beside those of this process.
    """

    threads: int | None = None
    affinity: tuple[int, ...] | None = None
    python: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """Every environment variable of the worker."""
        found = {**os.environ, **self.variables, MARK: "1"}
        if self.threads is not None:
            found.update(OMP_NUM_THREADS=str(self.threads), MKL_NUM_THREADS=str(self.threads))
        if self.python is not None:
            # Our folder may hold a torch too. Not PYTHONPATH as it is: that is for our interpreter.
            found.pop("PYTHONHOME", None)
            found["PYTHONPATH"] = os.pathsep.join([_lent(), *self._folders()])
        return found

    def sys_path(self) -> list[str] | None:
        """Where the worker looks for modules; None for where its interpreter does."""
        return (
            None if self.python is not None else [*self._folders(), *(one for one in sys.path if isinstance(one, str))]
        )

    def _folders(self) -> list[str]:
        """The folders of modules that are given for this worker alone, which may hold another torch."""
        return [os.path.abspath(one) for one in self.variables.get("PYTHONPATH", "").split(os.pathsep) if one]  # noqa: PTH100


def launch(
    job: dict[str, Any],
    *,
    timeout: float,
    setting: Setting | None = None,
    on_phase: Callable[[str], None] = lambda _name: None,
) -> Answer:
    """Runs a job in a fresh interpreter.

    Args:
        job: What the worker reads; see `fastrnns_rs.worker`.
        timeout: Seconds after which it is stopped.
        setting: What it runs in; by default as this process.
        on_phase: Called with each phase that it reports.

    Returns:
        Its answer. On Ctrl-C this is what it had measured, marked `interrupted`.
    """
    setting = setting or Setting()
    heard = _Heard()
    worker = Process(_command(setting), env=setting.environment())
    ended = "answered"
    try:
        try:
            _tell(worker, json.dumps({**job, **_where(setting)}))
            finished = _listen(worker, heard, on_phase, time.monotonic() + timeout)
            ended = "answered" if finished else "timed_out"
        except KeyboardInterrupt:
            ended = "interrupted"
        if ended != "answered":
            _tell(worker, "stop")
            _listen(worker, heard, on_phase, time.monotonic() + _GRACE_S)
    finally:
        completed = worker.end()
    return _answer(heard, ended, completed, timeout)


def launch_together(
    jobs: Sequence[dict[str, Any]],
    *,
    timeout: float,
    settings: Sequence[Setting],
    on_phase: Callable[[str], None] = lambda _name: None,
) -> list[Answer]:
    """Runs jobs at the same time, each in a fresh interpreter of its own.

    Args:
        jobs: What the workers read.
        timeout: Seconds after which those that still run are stopped.
        settings: What each of them runs in.
        on_phase: Called with each phase that any of them reports.

    Returns:
        Their answers. On Ctrl-C those that had not answered are marked `interrupted`.
    """
    workers: list[Process] = []
    heard = [_Heard() for _ in jobs]
    completed: list[Completed] = []
    ended = "timed_out"
    late: set[int] = set()

    def listen(deadline: float) -> None:
        while running := [number for number, one in enumerate(workers) if not one.ended]:
            for number in running:
                until = min(deadline, time.monotonic() + _GLANCE_S)
                _listen(workers[number], heard[number], on_phase, until)
            if time.monotonic() >= deadline:
                return

    try:
        try:
            for job, setting in zip(jobs, settings, strict=True):
                workers.append(Process(_command(setting), env=setting.environment()))
                _tell(workers[-1], json.dumps({**job, **_where(setting)}))
            listen(time.monotonic() + timeout)
        except KeyboardInterrupt:
            ended = "interrupted"
        late = {number for number, one in enumerate(workers) if not one.ended}
        for number in late:
            _tell(workers[number], "stop")
        listen(time.monotonic() + _GRACE_S)
    finally:
        completed += [one.end() for one in workers]
    return [
        _answer(heard[number], ended if number in late else "answered", one, timeout)
        for number, one in enumerate(completed)
    ] + [Answer({}, "interrupted", "interrupted", "")] * (len(jobs) - len(completed))


@cache
def _lent() -> str:
    """A folder with this package and nothing else, for interpreters that have other packages."""
    folder = tempfile.mkdtemp(prefix="fastrnns-rs-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    package = Path(__file__).parent
    (Path(folder) / package.name).symlink_to(package, target_is_directory=True)
    return folder


def _command(setting: Setting) -> list[str]:
    # -P: the folder one happens to stand in must not hide the standard library from the worker.
    return [setting.python or sys.executable, "-P", "-m", "fastrnns_rs.worker"]


def _where(setting: Setting) -> dict[str, Any]:
    return {"sys_path": setting.sys_path(), "affinity": setting.affinity}


def _answer(heard: _Heard, ended: str, completed: Completed, timeout: float) -> Answer:
    content = heard.result or {}
    if ended == "timed_out":
        reason: str | None = f"no result after {timeout:g} s"
    elif ended == "interrupted":
        reason = "interrupted"
    elif heard.result is None:
        ended, reason = "died", _death(completed)
    else:
        reason = content.get("reason")
    printed = "".join(heard.garbage)[-_GARBAGE_LENGTH:] + completed.stderr_tail
    return Answer(content, ended, reason and _one_line(reason), printed)


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


def _tell(worker: Process, line: str) -> None:
    """Sends a line; a worker that is gone does not hear it."""
    worker.write(line.encode() + b"\n")


def _listen(worker: Process, heard: _Heard, on_phase: Callable[[str], None], deadline: float) -> bool:
    """Reads until the worker has ended (True) or the deadline has passed (False)."""
    while True:
        left = deadline - time.monotonic()
        said = heard.partial + worker.read_lines(max(0.0, left))
        *complete, heard.partial = said.split(b"\n")
        for line in complete:
            _hear(line, heard, on_phase)
        if worker.ended or left <= 0:
            return worker.ended


def _hear(line: bytes, heard: _Heard, on_phase: Callable[[str], None]) -> None:
    """Takes a message. What is none was written by a runner that found our pipe: it goes with what it printed."""
    try:
        message = json.loads(line)
        kind, content = message.pop("kind"), message
    except (ValueError, AttributeError, KeyError, TypeError):
        heard.garbage.append(line.decode("utf-8", errors="replace") + "\n")
        return
    if kind == "phase":
        on_phase(str(content.get("name")))
    elif kind == "result":
        heard.result = content
    else:
        heard.garbage.append(line.decode("utf-8", errors="replace") + "\n")
