"""Channel from a worker to its parent: progress, results and errors.

It also sends the results of a job that ends early.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import traceback
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any

from fastrnns_rs.errors import FastrnnsError, first_line, own_text, type_name

if TYPE_CHECKING:
    from fastrnns_rs.worker.compile_cost import Compiling
    from fastrnns_rs.worker.timed_loop import Measurement

#: Longest reason of an error; an exception's message may be of any length.
_LONGEST_REASON = 400


def print_traceback() -> None:
    """Prints a traceback for FASTRNNS_DEBUG, as far as a runner left standard error."""
    with contextlib.suppress(Exception):
        traceback.print_exc()


def reason(error: BaseException) -> str:
    """Returns the reason of an error in one line, shortened."""
    text = _reason(error)
    return text if len(text) <= _LONGEST_REASON else text[: _LONGEST_REASON - 1] + "…"


def _reason(error: BaseException) -> str:
    text = own_text(error)
    if type_name(error) == "OutOfMemoryError" or "can't allocate memory" in text:
        return f"out of memory: {next(iter(text.splitlines()), '')}"
    if isinstance(error, SystemExit):
        return f"sys.exit({error.code!r}) was called"
    return text if isinstance(error, FastrnnsError) else first_line(error)


class Channel:
    """Channel to the parent.

    Only the first result is sent, from the loop or from the watcher.
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._answered = False

    def phase(self, name: str) -> None:
        """Sends the phase that begins."""
        with self._lock:
            self._write({"kind": "phase", "name": name})

    def part(self, content: dict[str, Any]) -> None:
        """Sends a part of the result, for a job with several parts."""
        with self._lock:
            self._write({"kind": "part", **content})

    def result(self, content: dict[str, Any]) -> None:
        """Sends the result, unless one was sent."""
        with self._lock:
            if not self._answered:
                self._answered = True
                self._write({"kind": "result", **content})

    def _write(self, content: dict[str, Any]) -> None:
        if os.getpid() != self._process:
            # A runner has forked, and the copy would measure too.
            os._exit(1)
        self._stream.write(json.dumps(content) + "\n")
        self._stream.flush()


class Progress:
    """Measurement so far, for the watcher.

    Attributes:
        words: Words of the parent for a loop that takes turns.
        note: Note of the runner.
    """

    def __init__(self) -> None:
        self.words: SimpleQueue[str] = SimpleQueue()
        self.measurement: Measurement | None = None
        self.compiling: Compiling | None = None
        self.note: str | None = None

    def so_far(self) -> dict[str, Any]:
        """Returns the note, samples of complete iterations, and the cost of compiling."""
        nothing: dict[str, Any] = {"note": self.note, "forward_ns": [], "backward_ns": None, "timed_loop_ns": None}
        if self.measurement is None:
            return nothing
        try:
            return {"note": self.note, **self.measurement.samples(), **self.compiled()}
        except Exception:  # noqa: BLE001  # a broken device must not hide why it broke
            print_traceback()
            return nothing

    def compiled(self) -> dict[str, Any]:
        """Returns the cost of compiling so far, for a runner that compiles."""
        return {} if self.compiling is None else {"compile": self.compiling.facts()}
