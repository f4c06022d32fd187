"""Lines at the bottom of a terminal that are drawn again in place."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING

from fastrnns_rs.views.output_stream import environment_count, terminal_width

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

#: Drawing takes a few milliseconds of a CPU, which a worker may be using for a measurement.
_INTERVAL_S = 0.5
_ROWS = 24
_ERASE, _UP = "\r\x1b[2K", "\x1b[1A"
#: Without line breaks of the terminal, a line that is too long takes one row.
_CROP, _WRAP = "\x1b[?7l", "\x1b[?7h"


class LiveRegion:
    """Region of lines at the bottom of a terminal, removed at the end.

    Args:
        stream: Terminal.
        frame: Function that returns the text for a number of columns and rows.
    """

    def __init__(self, stream: TextIO, frame: Callable[[int, int], str]) -> None:
        self._stream = stream
        self._frame = frame
        self._over = threading.Event()
        # An interrupt may end the progress while the same thread draws.
        self._lock = threading.RLock()
        self._rows = 0

    def start(self) -> None:
        """Draws the region, and again twice a second.

        Raises:
            RuntimeError: If the system refuses the thread that draws.
        """
        self._draw()
        threading.Thread(target=self._draw_often, daemon=True).start()

    def write(self, text: str) -> None:
        """Writes lines above the region."""
        self._draw(f"{text}\n")

    def stop(self) -> None:
        """Removes the region."""
        self._over.set()
        with self._lock:
            erased, self._rows = self._erasure(), 0
            self._stream.write(erased)
            self._stream.flush()

    def _draw(self, before: str = "") -> None:
        with self._lock:
            if self._over.is_set():
                return
            rows = _terminal_rows(self._stream)
            lines = self._frame(terminal_width(self._stream), rows).splitlines()[:rows]
            erased, self._rows = self._erasure(), len(lines)
            # A terminal echoes Ctrl-C at the cursor. At the end of a full row, the echo would begin another row.
            self._stream.write(erased + before + _CROP + "\n".join(lines) + _WRAP + "\r")
            self._stream.flush()

    def _draw_often(self) -> None:
        # The stream may be closed at any time.
        with contextlib.suppress(OSError, ValueError):
            while not self._over.wait(_INTERVAL_S):
                self._draw()

    def _erasure(self) -> str:
        """Returns the codes that erase the rows and leave the cursor on the first."""
        return _ERASE + (_UP + _ERASE) * (self._rows - 1) if self._rows else ""


def _terminal_rows(stream: TextIO) -> int:
    """Returns the height of a terminal: `LINES`, or that of the terminal, or 24."""
    if rows := environment_count("LINES"):
        return rows
    try:
        return os.get_terminal_size(stream.fileno()).lines or _ROWS
    except (OSError, ValueError):
        return _ROWS
