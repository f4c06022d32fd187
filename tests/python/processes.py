"""Processes by their parent or by a mark that they have, for tests of what stays behind."""

from __future__ import annotations

import contextlib
import os
import re
import time
from pathlib import Path

#: What ends at once ends by then on a busy machine too; what these tests start lasts a minute or more by itself.
AT_ONCE_S = 20.0


def forget_killed_nsys() -> None:
    """Removes what an nsys that was killed leaves in shared memory. Some dozens of it, and no nsys starts any more."""
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (entry / "comm").read_text().startswith("nsys") and (entry / "cmdline").read_bytes():
                return
    for pattern in ("NSys-*", "quadd-*", "sem.nsys_sem_*"):
        for path in Path("/dev/shm").glob(pattern):
            path.unlink(missing_ok=True)


def marked(mark: str) -> dict[int, str]:
    """Processes with a text among their arguments or variables, and their command lines. A zombie has neither.

    The text stands alone: a process that sleeps for 17.5 seconds is not one that sleeps for 7.5.
    """
    end = rb"(?![\w.])" if mark[-1].isalnum() else b""
    text = re.compile(rb"(?<![\w.])" + re.escape(mark.encode()) + end)
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command = (entry / "cmdline").read_bytes()
            if text.search(command) or text.search((entry / "environ").read_bytes()):
                found[int(entry.name)] = command.replace(b"\0", b" ").decode(errors="replace")
    return found


def left_of(mark: str, within: float = AT_ONCE_S) -> dict[int, str]:
    """What is still there when the time is over; returns as soon as there is nothing."""
    deadline = time.monotonic() + within
    while (found := marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def wait_for(mark: str, count: int, within: float = 20.0) -> None:
    deadline = time.monotonic() + within
    while len(found := marked(mark)) < count:
        assert time.monotonic() < deadline, found
        time.sleep(0.01)
    # A shell that is about to become the last one counts too.
    time.sleep(0.1)


def children(parent: int | None = None, state: str | None = None) -> list[int]:
    """Children of a process, this one unless told: all that are no zombies, or those in a state."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            wanted = fields[0] == state if state else fields[0] != "Z"
            if wanted and int(fields[1]) == (parent or os.getpid()):
                found.append(int(entry.name))
    return found
