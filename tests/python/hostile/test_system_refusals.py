"""Errors of the operating system in one line that says what to do: no process, no file, no disk."""

from __future__ import annotations

import errno
import io
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import Done, finished, run_cli

from fastrnns_rs.errors import of_system
from fastrnns_rs.processes.listener import Answer

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
    assert done.status == 1
    error, hint = done.stderr.splitlines()
    assert error.startswith("error: the system refuses another process or thread (/")
    assert error.endswith(": Resource temporarily unavailable)")
    assert hint == "hint: end other processes, or raise the limit on processes (ulimit -u)"


def test_a_worker_that_gets_no_thread(anywhere: Path) -> None:
    refused = Answer({"status": "failed"}, "answered", "RuntimeError: can't start new thread", "")
    done = run_cli("bench", "--quick", executor=lambda starts: [refused] * len(starts))
    assert done.status == 1
    assert done.stderr.splitlines() == [
        "error: the system refuses another process or thread (can't start new thread)",
        "hint: end other processes, or raise the limit on processes (ulimit -u)",
    ]


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        ((errno.EAGAIN, "wait", "/x"), "the system refuses another process or thread (/x: wait)", "(ulimit -u)"),
        ((errno.ENOMEM, "none left", "/x"), "the system refuses more memory (/x: none left)", "(ulimit -v)"),
        ((errno.EMFILE, "too many"), "the system refuses another open file (too many)", "(ulimit -n)"),
        ((errno.ENFILE, "too many"), "the system refuses another open file (too many)", "end other processes"),
        ((errno.EACCES, "denied", "/a\nb"), "/a\nb: denied", "check that path"),
        ((errno.ENOSPC, "full"), "writing failed: full", "look at where the output goes"),
        (("something",), "writing failed: something", "look at where the output goes"),
    ],
)
def test_each_error_has_a_hint(given: Any, message: str, hint: str) -> None:
    found = of_system(OSError(*given))
    assert (found.message, found.exit_code) == (message, 1)
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
    assert of_system(refused.value).message == "writing failed: write could not complete without blocking"


def test_no_error_of_the_system_is_a_fault_of_ours(anywhere: Path) -> None:
    def refuse(_starts: object) -> list[Answer]:
        raise PermissionError(errno.EACCES, "Permission denied", "/a\nb")

    done = run_cli("bench", "--quick", executor=refuse)
    assert done.status == 1
    assert done.stderr.splitlines()[0] == "error: /a b: Permission denied"
    assert "fault of fastrnns-rs" not in done.stderr
