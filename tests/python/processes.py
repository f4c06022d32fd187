"""Processes by a variable that they inherited, for tests of what stays behind."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path


def with_variable(text: str) -> list[tuple[int, str]]:
    """The number and command line of each process that was started with this among its variables. A zombie has none."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if text.encode() in (entry / "environ").read_bytes().split(b"\0"):
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found.append((int(entry.name), command))
        except OSError:
            continue
    return found


def forget_killed_nsys() -> None:
    """Removes what an nsys that was killed leaves in shared memory. Some dozens of it, and no nsys starts any more."""
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (entry / "comm").read_text().startswith("nsys") and (entry / "cmdline").read_bytes():
                return
    for pattern in ("NSys-*", "quadd-*", "sem.nsys_sem_*"):
        for path in Path("/dev/shm").glob(pattern):
            path.unlink(missing_ok=True)


def survivors(text: str, seconds: float) -> list[tuple[int, str]]:
    """Those that are still there after a time; none as soon as there are none."""
    deadline = time.monotonic() + seconds
    while (found := with_variable(text)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found
