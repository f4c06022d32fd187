"""Child processes: each has a deadline, a log file and a process group that is ended as a whole."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

#: Time for a program that is interrupted to write what it has.
GRACE_S = 15.0
_EXCERPT_LINES = 25
_EXCERPT_CHARACTERS = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A process that has ended.

    Attributes:
        status: Exit status; None if it ran into its deadline.
        seconds: Wall time.
        log: File with its standard output and standard error.
    """

    status: int | None
    seconds: float
    log: Path

    @property
    def excerpt(self) -> str:
        """The last lines of its output."""
        lines = self.log.read_text(errors="replace").splitlines()
        return "\n".join(lines[-_EXCERPT_LINES:])[-_EXCERPT_CHARACTERS:]

    @property
    def reason(self) -> str:
        """Why it did not succeed."""
        if self.status is None:
            return f"time limit: ended after {self.seconds:.0f} s"
        if self.status < 0:
            return f"ended by signal {-self.status}"
        return f"exit status {self.status}"


def run(command: Sequence[str], log: Path, timeout_s: float, variables: Mapping[str, str]) -> Ended:
    """Runs a command to its end or to its deadline.

    Args:
        command: Program and arguments.
        log: File for its output.
        timeout_s: Time until it is interrupted.
        variables: Variables that its environment has besides those of this process.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    with log.open("wb") as output:
        # A group of its own, so that a deadline ends the workers too.
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # Options of a pytest that runs this are not for the pytest that it starts.
            env={**os.environ, "PYTEST_ADDOPTS": "", **variables},
            start_new_session=True,
        )
        try:
            status: int | None = child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            _end(child)
    return Ended(status=status, seconds=time.monotonic() - begin, log=log)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Interrupts a process, so that it can write what it has, then ends its group."""
    if child.poll() is None:
        child.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(GRACE_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
