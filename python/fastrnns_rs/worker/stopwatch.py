"""What edges of phases are marked on: the extension's recorder on a CPU, CUDA events on a device."""

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
#: What CUDA's documentation promises of an event's time stamp, about half a microsecond. Where the step of the stamps
#: cannot be seen, it is taken for that.
CUDA_EVENT_RESOLUTION_NS = 500
#: So many events one after the other show the step of their stamps.
_EVENTS_OF_STEP = 64


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
    def end_phase(self) -> Callable[[], None]:
        """Ends a phase before the last one: waits for what still runs, where that is asked for."""

    @property
    def find_unjoined(self) -> Callable[[], None]:
        """Notes, where a device has done all that was marked, how long it still works on streams that nobody joined."""

    @property
    def unjoined_ns(self) -> int | None:
        """The longest that this was."""

    @property
    def iterations(self) -> int:
        """How many iterations are complete."""

    def durations_ns(self, from_edge: int, to_edge: int) -> list[int]:
        """Nanoseconds between two edges of each complete iteration."""

    @property
    def host_durations_ns(self) -> Callable[[int, int], list[int] | None]:
        """The same on the host's clock, where that is another one: the time of the calls alone."""

    def elapsed_ns(self, first_iteration: int) -> int:
        """Nanoseconds from the first edge of an iteration to the last edge of the last complete one."""


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
    def settle() -> None:
        """Nothing runs on when a call on the CPU has returned."""

    end_phase = settle

    find_unjoined = settle

    @staticmethod
    def host_durations_ns(_from_edge: int, _to_edge: int) -> None:
        """Returns nothing: the host's clock is the only one."""

    @property
    def iterations(self) -> int:
        """How many iterations are complete."""
        return self._recorder.iterations


class CudaEvents:
    """Time on the device, by CUDA events that are made beforehand and read after the loop, and the host's time."""

    def __init__(self, iterations: int, edges: int, device: torch.device, sync: Sync = "iteration") -> None:
        # Times of phases that begin on an idle device are other quantities.
        self.timing_mode = "cuda_events" if sync == "iteration" else "cuda_events_by_phase"
        self._edges = edges
        self._device = device
        self._stream = torch.cuda.current_stream(device)
        self.end_phase = self._stream.synchronize if sync == "phase" else _nothing
        self._events = [_event() for _ in range(iterations * edges)]
        for event in self._events:
            # An event comes into being when it is first recorded: not inside the loop.
            event.record(self._stream)
        self._stream.synchronize()
        self.resolution_ns = self._step_ns()
        self._record = iter([event.record for event in self._events])
        self._host = Recorder(iterations, edges)
        self.host_durations_ns = self._host.durations_ns
        self._settled = 0
        self.unjoined_ns = 0

    def mark(self) -> None:
        """Has the stream pass an event."""
        # First, so that the host's time of a phase has all of its calls and no other.
        self._host.mark()
        next(self._record)(self._stream)

    def settle(self) -> None:
        """Waits until the device has done the iteration: the one synchronisation that it has, unless phases do so."""
        self._stream.synchronize()
        self._settled += 1

    def find_unjoined(self) -> None:
        """Notes how long the device works on, as on a runner's own stream, after this one has done everything."""
        self._stream.synchronize()
        begin, end = _event(), _event()
        begin.record(self._stream)
        torch.cuda.synchronize(self._device)
        end.record(self._stream)
        self._stream.synchronize()
        self.unjoined_ns = max(self.unjoined_ns, _between(begin, end))

    @property
    def iterations(self) -> int:
        """How many iterations are complete."""
        return self._settled

    def durations_ns(self, from_edge: int, to_edge: int) -> list[int]:
        """Nanoseconds between two edges of each complete iteration."""
        edges, events = self._edges, self._events
        return [_between(events[i * edges + from_edge], events[i * edges + to_edge]) for i in range(self._settled)]

    def elapsed_ns(self, first_iteration: int) -> int:
        """Nanoseconds from the first edge of an iteration to the last edge of the last complete one."""
        return _between(self._events[first_iteration * self._edges], self._events[self._settled * self._edges - 1])

    def _step_ns(self) -> int:
        """Returns the step of the stamps, by events that follow one another: their distances are multiples of it.

        It is 32 ns on some devices and about a microsecond on others.
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
    """The stopwatch for a device, with room for `iterations`."""
    edges = 4 if has_backward else 2
    where = torch.device(device)
    return CudaEvents(iterations, edges, where, sync) if where.type == "cuda" else CpuWallClock(iterations, edges)
