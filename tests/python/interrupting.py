"""Ctrl-C in the middle of a call."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

#: Between two questions a call works some tens of milliseconds; the rest is for a busy machine.
PATIENCE = 2.0


def interrupt(setup: str, call: str, *, after: float = 0.5) -> None:
    """Runs both in a child, sends it SIGINT `after` so many seconds of the call, and sees it end at once.

    The call must last longer than that: one that is over is an error, since it shows nothing.
    """
    code = f"{setup}\nprint('ready', flush=True)\n{call}"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdout=pipe, stderr=pipe, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(after)
        assert child.poll() is None, "the call was over before it could be interrupted"
        asked = time.monotonic()
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert time.monotonic() - asked < PATIENCE
