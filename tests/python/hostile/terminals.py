"""Commands that write to a pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Mapping


def on_terminal(
    words: list[str], columns: int = 200, rows: int = 40, variables: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """The exit code of a command, and all that its terminal received."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    inherited = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES", "NO_COLOR"}}
    environment = {**inherited, "TERM": "xterm", **(variables or {})}
    with subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        received = b""
        try:
            while chunk := os.read(ours, 65536):
                received += chunk
        except OSError:
            # The last process that had the terminal has closed it.
            pass
        finally:
            os.close(ours)
    return process.returncode, received.decode()


def printed(received: str) -> str:
    """Text that a terminal received, without cursor movements and colours."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", received)
