"""Stopwatches that record the edges of phases.

On a CPU the extension's recorder is used, on a CUDA device events.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import torch

from fastrnns_rs._core import Recorder, clock_resolution_ns

if TYPE_CHECKING:
    from fastrnns_rs.problem.loop import Sync

#: Forward begins, forward ends, backward begins, backward ends.
FORWARD, BACKWARD = (0, 1), (2, 3)
#: Resolution of an event's time stamp in CUDA's documentation, about half a microsecond. It is used where the step of
#: the stamps cannot be measured.
CUDA_EVENT_RESOLUTION_NS = 500
#: Number of successive events from which the step of the time stamps is found.
_EVENTS_OF_STEP = 64
#: How often a new stopwatch asks the device whether it is idle: the first time takes longest.
_TIMES_ASKED = 3


class Stopwatch(Protocol):
    """Recorder of edges for the loop.

    Any thread may read the complete iterations.
    """

    timing_mode: str
    resolution_ns: int

    @property
    def mark(self) -> Callable[[], None]:
        """Records an edge."""

    @property
    def end_iteration(self) -> Callable[[], None]:
        """Ends an iteration: waits for all work."""

    @property
    def end_phase(self) -> Callable[[], None]:
        """Ends a phase before the last one: waits for all work, where requested."""

    @property
    def find_unjoined(self) -> Callable[[], None]:
        """Measures work on streams that no synchronisation waited for.

        It is the time that the device still works after all recorded work. The device is idle afterwards.
        """

    @property
    def ask_when_idle(self) -> Callable[[], None]:
        """Measures how long the host needs to ask whether the device is idle.

        It is called after an iteration that began on an idle device: `find_unjoined` came before it.
        """

    @property
    def unjoined_ns(self) -> int | None:
        """Longest time of such work, in nanoseconds."""

    @property
    def iterations(self) -> int:
        """Returns the number of complete iterations."""

    def durations_ns(self, from_edge: int, to_edge: int) -> list[int]:
        """Returns nanoseconds between two edges of each complete iteration."""

    @property
    def host_durations_ns(self) -> Callable[[int, int], list[int] | None]:
        """Returns the same on the host's clock, where that is another clock.

        It is the time of the API calls alone.
        """

    def elapsed_ns(self, first_iteration: int) -> int:
        """Returns nanoseconds from the first edge of an iteration to the end.

        The end is the last edge of the last complete iteration.
        """


class CpuWallClock:
    """Wall time on the CPU, by the extension's recorder."""

    timing_mode = "cpu_wall"
    unjoined_ns = None

    def __init__(self, iterations: int, edges: int) -> None:
        self._recorder = Recorder(iterations, edges)
        self.resolution_ns = clock_resolution_ns()
        self.mark = self._recorder.mark
        self.durations_ns = self._recorder.durations_ns
        self.elapsed_ns = self._recorder.elapsed_ns

    @staticmethod
    def end_iteration() -> None:
        """Does nothing: a CPU has no work left when a call returns."""

    end_phase = end_iteration

    find_unjoined = end_iteration

    ask_when_idle = end_iteration

    @staticmethod
    def host_durations_ns(_from_edge: int, _to_edge: int) -> None:
        """Returns nothing: the host's clock is the only one."""

    @property
    def iterations(self) -> int:
        """Returns the number of complete iterations."""
        return self._recorder.iterations


class CudaEvents:
    """Device time by CUDA events, and the host's time.

    Events are made before the loop and read after it.
    """

    def __init__(self, iterations: int, edges: int, device: torch.device, sync: Sync = "iteration") -> None:
        # Times of phases that begin on an idle device are other quantities.
        self.timing_mode = "cuda_events" if sync == "iteration" else "cuda_events_by_phase"
        self._edges = edges
        self._device = device
        self._stream = torch.cuda.current_stream(device)
        self.end_phase = self._stream.synchronize if sync == "phase" else _nothing
        self._events = [_event() for _ in range(iterations * edges)]
        for event in self._events:
            # CUDA makes an event at its first recording, which must not be inside the loop.
            event.record(self._stream)
        self._stream.synchronize()
        self.resolution_ns = self._step_ns()
        self._record = iter([event.record for event in self._events])
        self._host = Recorder(iterations, edges)
        self.host_durations_ns = self._host.durations_ns
        self._completed = 0
        self._idle_ns = max(self._until_idle_ns() for _ in range(_TIMES_ASKED))
        self._longest_ns = 0

    def mark(self) -> None:
        """Records an event in the stream."""
        # First, so that the host's time of a phase has all of its calls and no other.
        self._host.mark()
        next(self._record)(self._stream)

    def end_iteration(self) -> None:
        """Waits until the device has finished the iteration.

        This is its only synchronisation, unless phases have one each.
        """
        self._stream.synchronize()
        self._completed += 1

    def find_unjoined(self) -> None:
        """Measures how long the device still works after this stream.

        Such work is, for example, on a runner's own stream.
        """
        self._stream.synchronize()
        self._longest_ns = max(self._longest_ns, self._until_idle_ns())

    def ask_when_idle(self) -> None:
        """Measures the same on an idle device: it is what asking costs.

        It costs most after the work of an iteration: 0.1 ms with an H100, and a fifth of that when asked again.
        """
        # What the iteration left is done by then, unless it left more than any iteration before it.
        self._wait(self._longest_ns)
        found = self._until_idle_ns()
        if found > self._longest_ns:
            self._longest_ns = found
        else:
            self._idle_ns = max(self._idle_ns, found)

    @property
    def unjoined_ns(self) -> int:
        """Longest time of work after this stream, without the cost of asking."""
        return max(0, self._longest_ns - self._idle_ns)

    def _until_idle_ns(self) -> int:
        """Returns the time from the end of this stream's work to that of the device's."""
        begin, end = _event(), _event()
        begin.record(self._stream)
        torch.cuda.synchronize(self._device)
        end.record(self._stream)
        self._stream.synchronize()
        return _between(begin, end)

    def _wait(self, least_ns: int) -> None:
        """Returns after a time on the device's clock, without waiting for other streams."""
        begin, now = _event(), _event()
        begin.record(self._stream)
        waited = -1
        while waited < least_ns:
            now.record(self._stream)
            self._stream.synchronize()
            waited = _between(begin, now)

    @property
    def iterations(self) -> int:
        """Returns the number of complete iterations."""
        return self._completed

    def durations_ns(self, from_edge: int, to_edge: int) -> list[int]:
        """Returns nanoseconds between two edges of each complete iteration."""
        edges, events = self._edges, self._events
        return [_between(events[i * edges + from_edge], events[i * edges + to_edge]) for i in range(self._completed)]

    def elapsed_ns(self, first_iteration: int) -> int:
        """Returns nanoseconds from the first edge of an iteration to the end.

        The end is the last edge of the last complete iteration.
        """
        return _between(self._events[first_iteration * self._edges], self._events[self._completed * self._edges - 1])

    def _step_ns(self) -> int:
        """Returns the step of the time stamps, in nanoseconds.

        Distances of successive events are multiples of it. It is 32 ns on some devices and about a microsecond on
        others.
        """
        events = [_event() for _ in range(_EVENTS_OF_STEP)]
        for event in events:
            event.record(self._stream)
        self._stream.synchronize()
        distances = sorted({0, *(_between(one, other) for one, other in pairwise(events))})
        return min((longer - shorter for shorter, longer in pairwise(distances)), default=CUDA_EVENT_RESOLUTION_NS)


def _nothing() -> None:
    pass


def _event() -> torch.cuda.Event:
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]


def _between(begin: torch.cuda.Event, end: torch.cuda.Event) -> int:
    milliseconds: float = begin.elapsed_time(end)
    return round(milliseconds * 1e6)


def stopwatch(device: str, iterations: int, *, has_backward: bool, sync: Sync = "iteration") -> Stopwatch:
    """Returns the stopwatch for a device, with capacity for `iterations`."""
    edges = 4 if has_backward else 2
    where = torch.device(device)
    return CudaEvents(iterations, edges, where, sync) if where.type == "cuda" else CpuWallClock(iterations, edges)
