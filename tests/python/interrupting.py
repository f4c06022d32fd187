"""Ctrl-C in the middle of a call."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

#: Between two questions a call works some tens of milliseconds, on each of its threads.
PATIENCE = 2.0


def interrupt(setup: str, call: str, *, after: float = 0.5) -> None:
    """Runs both in a child, sends it SIGINT `after` so many seconds of the call, and sees it end at once.

    The call must last longer than that: one that is over is an error, since it shows nothing. What counts is the CPU
    time that the child takes from then on: seconds pass on a busy machine without the child.
    """
    code = f"""{setup}
import time
print('ready', flush=True)
try:
    {call}
except KeyboardInterrupt:
    print(time.process_time())
"""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdout=pipe, stderr=pipe, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(after)
        assert child.poll() is None, "the call was over before it could be interrupted"
        before = cpu_seconds(child.pid)
        child.send_signal(signal.SIGINT)
        try:
            printed, errors = child.communicate(timeout=60)
        finally:
            child.kill()
    assert printed, errors
    assert float(printed) - before < PATIENCE


def cpu_seconds(process: int) -> float:
    """CPU time of all threads of a process."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    user, system = int(fields[11]), int(fields[12])
    return (user + system) / os.sysconf("SC_CLK_TCK")
