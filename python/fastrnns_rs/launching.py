"""Starts a worker process, follows what it says and sees to it that nothing of it stays behind."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

#: Set in every worker: a runner's file that benches when it is imported would start workers without end.
MARK = "FASTRNNS_WORKER"
#: How much of what a worker printed is kept.
_TAIL_BYTES = 64 * 1024
#: A runner may raise an error with megabytes of text.
_REASON_LENGTH = 400
#: How long a worker that is told to stop has to send what it measured. Ctrl-C is to end within a second.
_GRACE_S = 0.6
#: A signal that lands on another thread does not wake ours: look up this often.
_TICK_S = 0.2


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

    lines: bytearray = field(default_factory=bytearray)
    printed: bytearray = field(default_factory=bytearray)
    result: dict[str, Any] | None = None


def launch(
    job: dict[str, Any],
    *,
    timeout: float,
    threads: int | None = None,
    on_phase: Callable[[str], None] = lambda _name: None,
) -> Answer:
    """Runs a job in a fresh interpreter.

    Args:
        job: What the worker reads; see `fastrnns_rs.worker`.
        timeout: Seconds after which it is stopped.
        threads: How many threads its numeric libraries may start; None leaves that to them.
        on_phase: Called with each phase that it reports.

    Returns:
        Its answer. On Ctrl-C this is what it had measured, marked `interrupted`.
    """
    # -P: the folder one happens to stand in must not hide the standard library from the worker.
    command = [sys.executable, "-P", "-m", "fastrnns_rs.worker"]
    environment = {**os.environ, MARK: "1"}
    if threads is not None:
        environment.update(OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads))
    heard = _Heard()
    worker = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        # A group of its own: Ctrl-C reaches us alone, and what it starts can be ended with it.
        start_new_session=True,
    )
    ended = "answered"
    try:
        try:
            _tell(worker, json.dumps({**job, "sys_path": sys.path}))
            finished = _listen(worker, heard, on_phase, time.monotonic() + timeout)
            ended = "answered" if finished else "timed_out"
        except KeyboardInterrupt:
            ended = "interrupted"
        if ended != "answered":
            _tell(worker, "stop")
            _listen(worker, heard, on_phase, time.monotonic() + _GRACE_S)
    finally:
        status = _end(worker)
    return _answer(heard, ended, status, timeout)


def _answer(heard: _Heard, ended: str, status: int, timeout: float) -> Answer:
    content = heard.result or {}
    if ended == "timed_out":
        reason: str | None = f"no result after {timeout:g} s"
    elif ended == "interrupted":
        reason = "interrupted"
    elif heard.result is None:
        ended, reason = "died", _death(status)
    else:
        reason = content.get("reason")
    return Answer(content, ended, reason and _one_line(reason), heard.printed.decode("utf-8", errors="replace"))


def _one_line(text: str) -> str:
    """A reason as it may stand in a table: without control characters, and not longer than a few lines."""
    valid = str(text).encode("utf-8", "backslashreplace").decode()
    shown = "".join(letter if letter.isprintable() else " " for letter in valid).strip()
    return shown if len(shown) <= _REASON_LENGTH else shown[: _REASON_LENGTH - 1] + "…"


def _death(status: int) -> str:
    if status >= 0:
        return f"the process exited with status {status} before it had a result"
    name = signal.Signals(-status).name if -status in set(signal.Signals) else "a signal"
    cause = "; the kernel does this when memory runs out" if -status == signal.SIGKILL else ""
    return f"the process was killed by signal {-status} ({name}){cause}"


def _tell(worker: subprocess.Popen[bytes], line: str) -> None:
    """Sends a line; a worker that is gone does not hear it."""
    if worker.stdin is not None:
        with contextlib.suppress(BrokenPipeError):
            worker.stdin.write(line.encode() + b"\n")
            worker.stdin.flush()


def _listen(worker: subprocess.Popen[bytes], heard: _Heard, on_phase: Callable[[str], None], deadline: float) -> bool:
    """Reads until the worker has ended (True) or the deadline has passed (False)."""
    # Its end, not that of its output: a grandchild may hold the pipes open for ever.
    end = os.pidfd_open(worker.pid)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(end, selectors.EVENT_READ)
            for stream in (worker.stdout, worker.stderr):
                if stream is not None and not stream.closed:
                    os.set_blocking(stream.fileno(), False)
                    selector.register(stream, selectors.EVENT_READ)
            while True:
                left = deadline - time.monotonic()
                ready = selector.select(max(0.0, min(left, _TICK_S)))
                for key, _ in ready:
                    if key.fileobj != end and not _drain(worker, key.fileobj, heard, on_phase):
                        selector.unregister(key.fileobj)
                if any(key.fileobj == end for key, _ in ready):
                    for stream in (worker.stdout, worker.stderr):
                        _drain_rest(worker, stream, heard, on_phase)
                    return True
                if left <= 0:
                    return False
    finally:
        os.close(end)


def _drain_rest(worker: subprocess.Popen[bytes], stream: Any, heard: _Heard, on_phase: Callable[[str], None]) -> None:
    """Takes what a pipe still holds. A child that was left behind may go on writing: not for ever."""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        for _ in range(1000):
            if not selector.select(0) or not _drain(worker, stream, heard, on_phase):
                return


def _drain(worker: subprocess.Popen[bytes], stream: Any, heard: _Heard, on_phase: Callable[[str], None]) -> bool:
    """Takes what a pipe holds; False when it has ended."""
    try:
        chunk = os.read(stream.fileno(), 1 << 20)
    except BlockingIOError:
        return True
    if stream is worker.stderr:
        heard.printed += chunk
        del heard.printed[:-_TAIL_BYTES]
        return bool(chunk)
    heard.lines += chunk
    *complete, rest = heard.lines.split(b"\n")
    heard.lines = rest
    for line in complete:
        _hear(bytes(line), heard, on_phase)
    return bool(chunk)


def _hear(line: bytes, heard: _Heard, on_phase: Callable[[str], None]) -> None:
    """Takes a message. What is none was written by a runner that found our pipe: it goes with what it printed."""
    try:
        message = json.loads(line)
        kind, content = message.pop("kind"), message
    except (ValueError, AttributeError, KeyError, TypeError):
        heard.printed += line + b"\n"
        return
    if kind == "phase":
        on_phase(str(content.get("name")))
    else:
        heard.result = content


def _end(worker: subprocess.Popen[bytes]) -> int:
    """Ends the worker's whole group, then collects it, in this order: its number cannot be another's meanwhile."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)
    for stream in (worker.stdin, worker.stdout, worker.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    return worker.wait()
