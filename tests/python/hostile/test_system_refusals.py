"""Errors of the operating system in one line that says what to do: no process, no file, no disk."""

from __future__ import annotations

import errno
import io
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from commands import Done, finished, run_cli

from fastrnns_rs.cli.exit_codes import find_exit_code
from fastrnns_rs.errors import make_system_error
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.views.progress import Progress

#: A user of whom no process runs. Root is above this limit, and gives up all rights but that to every file.
USER = 54300
WORDS = {
    "bench": ("bench", "--quick", "--rnns", "py", "--group", "rnns"),
    "verify": ("verify", "--rnns", "py"),
    "profile": ("profile", "--nsys", "--nsys-path", "/bin/true"),
    "doctor": ("doctor",),
}


def with_few_processes(limit: int, *words: str) -> Done:
    command = ["bash", "-c", f'ulimit -u {limit} && exec "$@"', "bash", sys.executable, "-m", "fastrnns_rs", *words]
    if os.geteuid() == 0:
        rights = ["--inh-caps", "+dac_override", "--ambient-caps", "+dac_override"]
        user = str(USER + limit)
        command = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", *rights, *command]
    return finished(command, OMP_NUM_THREADS="1")


@pytest.mark.parametrize("verb", WORDS)
@pytest.mark.parametrize("limit", [1, 2])
def test_no_process_can_be_started(verb: str, limit: int, anywhere: Path) -> None:
    """Not the supervisor, or the supervisor and nothing else."""
    done = with_few_processes(limit, *WORDS[verb])
    assert (done.status, done.stdout) == (1, "")
    *before, error, hint = done.stderr.splitlines()
    assert all(line.startswith(f"{verb}: ") for line in before)
    assert error.startswith("error: ")
    assert f": Resource temporarily unavailable ({sys.executable})" in error
    assert "ulimit -u" in hint


def test_a_worker_that_gets_no_thread(anywhere: Path) -> None:
    refused = Answer({"status": "failed"}, "answered", "RuntimeError: can't start new thread", "")
    done = run_cli("bench", "--quick", executor=lambda starts: [refused] * len(starts))
    assert done.status == 1
    error, hint = done.stderr.splitlines()[-2:]
    assert error.startswith("error: ")
    assert error.endswith(": can't start new thread")
    assert "ulimit -u" in hint


@pytest.mark.parametrize("terminal", [False, True])
def test_work_goes_on_where_progress_gets_no_thread(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with Progress("bench", "1 process", total=1, stream=stream) as progress:
        progress.advance()
    assert progress.done == 1


@pytest.mark.parametrize(
    ("given", "what", "end", "hint"),
    [
        ((errno.EAGAIN, "wait", "/x"), "processes or threads", ": wait (/x)", "(pids.max)"),
        ((errno.ENOMEM, "none left", "/x"), "memory", ": none left (/x)", "(ulimit -v)"),
        ((errno.EMFILE, "too many"), "open files", ": too many", "(ulimit -n)"),
        ((errno.ENFILE, "too many"), "open files", ": too many", "End other processes"),
        ((errno.EACCES, "denied", "/a\nb"), "file", r": '/a\nb': denied", "permissions"),
        ((errno.ENOSPC, "full"), "write", ": full", "output"),
        (("something",), "write", ": something", "output"),
    ],
)
def test_each_error_has_a_hint(given: Any, what: str, end: str, hint: str) -> None:
    found = make_system_error(OSError(*given))
    assert find_exit_code(found) == 1
    assert found.message.endswith(end)
    assert what in found.message
    assert hint in found.hint


def test_a_pipe_that_is_full_is_no_process() -> None:
    class Full(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, _: object) -> None:
            """Takes nothing, as a full pipe that does not block."""

    file = io.BufferedWriter(Full(), 1)
    with pytest.raises(BlockingIOError) as refused:
        file.write(b"more")
    found = make_system_error(refused.value)
    assert found.message.endswith(": write could not complete without blocking")
    assert "processes" not in found.message


def test_no_error_of_the_system_is_a_fault_of_ours(anywhere: Path) -> None:
    def refuse(_starts: object) -> list[Answer]:
        raise PermissionError(errno.EACCES, "Permission denied", "/a\nb")

    done = run_cli("bench", "--quick", executor=refuse)
    assert done.status == 1
    error, hint = done.stderr.splitlines()[-2:]
    assert error.startswith("error: ")
    assert error.endswith(r": '/a\nb': Permission denied")
    assert "fault of fastrnns-rs" not in hint
