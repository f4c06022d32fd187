"""Commands that try to get away, and interpreters that run commands, for tests of supervision."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from processes import children, marked

#: Processes of every way to get away, as lines of a shell script; MARK is an argument of each.
WAYS_OUT = {
    "plain": "sleep MARK &",
    "double fork": "(sleep MARK &)",
    "session": "setsid sleep MARK &",
    "session, double fork": "(setsid sleep MARK &)",
    "no variables": "env -i sleep MARK &",
    "no variables, double fork": "(env -i sleep MARK &)",
    "deaf": "(trap '' TERM HUP INT; exec sleep MARK) &",
    "deaf, session, double fork": "(trap '' TERM HUP INT; setsid sleep MARK &)",
    "session, no variables, double fork": "(setsid env -i sleep MARK &)",
    "deaf, session, no variables, double fork": "(trap '' TERM HUP INT; setsid env -i sleep MARK &)",
}
HUNDRED = "\n".join(list(WAYS_OUT.values()) * 10)


def supervisors(parent: int | None = None) -> list[int]:
    return [pid for pid in children(parent) if b"supervisor.py" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def kill_supervisor_of(mark: str, parent: int | None = None) -> None:
    (supervisor,) = (pid for pid in supervisors(parent) if set(children(pid)) & set(marked(mark)))
    os.kill(supervisor, signal.SIGKILL)


def shell(script: str, mark: str = "") -> list[str]:
    return ["sh", "-c", script.replace("MARK", mark)]


PRELUDE = """
import os, resource, signal, sys, threading, time
from fastrnns_rs._core import Process, run_command
def shell(script):
    return run_command(["sh", "-c", script]).stdout_tail.strip()
"""


def interpreter(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", PRELUDE + textwrap.dedent(code), *arguments]


def alone(code: str, *arguments: str) -> list[str]:
    """Runs Python in a process of its own; returns the lines that it printed."""
    done = subprocess.run(interpreter(code, *arguments), capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def listening() -> None:
    """Signals as a terminal leaves them, whoever runs the tests."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def started(code: str, *arguments: str, mark: str = "", stdin: int | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """A process of its own, leading a session, that goes on; all that comes of it has the mark among its variables."""
    with subprocess.Popen(
        interpreter(code, *arguments),
        stdin=stdin,
        stdout=subprocess.PIPE,
        env={**os.environ, "TEST_MARK": mark},
        preexec_fn=listening,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()
