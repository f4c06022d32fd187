"""What edges of phases are marked on: the extension's recorder on a CPU, CUDA events on a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch

from fastrnns_rs._core import Recorder, clock_resolution_ns

#: Forward begins, forward ends, backward begins, backward ends.
FORWARD, BACKWARD = (0, 1), (2, 3)
#: What CUDA's documentation promises of an event's time stamp, about half a microsecond.
CUDA_EVENT_RESOLUTION_NS = 500


class Stopwatch(Protocol):
    """What the loop marks edges on. Any thread may read the iterations that are complete."""

    timing_mode: str
    resolution_ns: int

    @property
    def mark(self) -> Callable[[], None]:
        """Notes that an edge is passed."""

    @property
    def settle(self) -> Callable[[], None]:
        """Ends an iteration: waits for what still runs."""

    @property
    def iterations(self) -> int:
        """How many iterations are complete."""

    def durations_ns(self, from_edge: int, to_edge: int) -> list[int]:
        """Nanoseconds between two edges of each complete iteration."""

    def elapsed_ns(self, first_iteration: int) -> int:
        """Nanoseconds from the first edge of an iteration to the last edge of the last complete one."""


class CpuWallClock:
    """Wall time on the CPU, by the extension's recorder."""

    timing_mode = "cpu_wall"

    def __init__(self, iterations: int, edges: int) -> None:
        self._recorder = Recorder(iterations, edges)
        self.resolution_ns = clock_resolution_ns()
        self.mark = self._recorder.mark
        self.durations_ns = self._recorder.durations_ns
        self.elapsed_ns = self._recorder.elapsed_ns

    @staticmethod
    def settle() -> None:
        """Nothing runs on when a call on the CPU has returned."""

    @property
    def iterations(self) -> int:
        """How many iterations are complete."""
        return self._recorder.iterations


class CudaEvents:
    """Time on the device, by CUDA events that are made beforehand and read after the loop."""

    timing_mode = "cuda_events"
    resolution_ns = CUDA_EVENT_RESOLUTION_NS

    def __init__(self, iterations: int, edges: int, device: torch.device) -> None:
        self._edges = edges
        self._stream = torch.cuda.current_stream(device)
        events = (torch.cuda.Event(enable_timing=True) for _ in range(iterations * edges))  # type: ignore[no-untyped-call]
        self._events = list(events)
        for event in self._events:
            # An event comes into being when it is first recorded: not inside the loop.
            event.record(self._stream)
        self._stream.synchronize()
        self._record = iter([event.record for event in self._events])
        self._settled = 0

    def mark(self) -> None:
        """Has the stream pass an event."""
        next(self._record)(self._stream)

    def settle(self) -> None:
        """Waits until the device has done the iteration: the one synchronisation that it has."""
        self._stream.synchronize()
        self._settled += 1

    @property
    def iterations(self) -> int:
        """How many iterations are complete."""
        return self._settled

    def durations_ns(self, from_edge: int, to_edge: int) -> list[int]:
        """Nanoseconds between two edges of each complete iteration."""
        edges = self._edges
        return [self._between(i * edges + from_edge, i * edges + to_edge) for i in range(self._settled)]

    def elapsed_ns(self, first_iteration: int) -> int:
        """Nanoseconds from the first edge of an iteration to the last edge of the last complete one."""
        return self._between(first_iteration * self._edges, self._settled * self._edges - 1)

    def _between(self, begin: int, end: int) -> int:
        milliseconds: float = self._events[begin].elapsed_time(self._events[end])
        return round(milliseconds * 1e6)


def stopwatch(device: str, iterations: int, *, has_backward: bool) -> Stopwatch:
    """The stopwatch for a device, with room for `iterations`."""
    edges = 4 if has_backward else 2
    where = torch.device(device)
    return CudaEvents(iterations, edges, where) if where.type == "cuda" else CpuWallClock(iterations, edges)
