"""The way from a worker back to its parent, and what is sent if the job ends early."""

from __future__ import annotations

import json
import threading
from typing import IO, TYPE_CHECKING, Any

from fastrnns_rs.worker.failure import print_traceback

if TYPE_CHECKING:
    from fastrnns_rs.worker.compile_cost import Compiling
    from fastrnns_rs.worker.timed_loop import Measurement


class Channel:
    """The way back to the parent. Whoever sends the result first, the loop or the watcher, sends the only one."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._answered = False

    def phase(self, name: str) -> None:
        """Says what happens next."""
        with self._lock:
            self._write({"kind": "phase", "name": name})

    def part(self, content: dict[str, Any]) -> None:
        """Sends a part of the result, of a job that has several."""
        with self._lock:
            self._write({"kind": "part", **content})

    def result(self, content: dict[str, Any]) -> None:
        """Sends the result, unless one was sent."""
        with self._lock:
            if not self._answered:
                self._answered = True
                self._write({"kind": "result", **content})

    def _write(self, message: dict[str, Any]) -> None:
        self._stream.write(json.dumps(message) + "\n")
        self._stream.flush()


class Progress:
    """Where the watcher finds what was measured so far."""

    def __init__(self) -> None:
        self.measurement: Measurement | None = None
        self.compiling: Compiling | None = None

    def so_far(self) -> dict[str, Any]:
        """The samples of complete iterations, if there are any, and what compiling cost."""
        nothing: dict[str, Any] = {"forward_ns": [], "backward_ns": None, "timed_loop_ns": None}
        if self.measurement is None:
            return nothing
        try:
            return {**self.measurement.samples(), **self.compiled()}
        except Exception:  # noqa: BLE001  # a broken device must not hide why it broke
            print_traceback()
            return nothing

    def compiled(self) -> dict[str, Any]:
        """What compiling cost by now, of a runner that compiles."""
        return {} if self.compiling is None else {"compile": self.compiling.facts()}
