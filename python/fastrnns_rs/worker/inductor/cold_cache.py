"""How long something takes on a CUDA device that finds nothing in its L2 cache, by CUDA events."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol, Self

import torch

from fastrnns_rs.worker.stopwatch import CUDA_EVENT_RESOLUTION_NS
from fastrnns_rs.worker.timed_loop import collector_off

#: Between two events around one call, with the cache flushed before the first.
MODE = "cuda_events_cold_l2"
#: As many calls as take this long together, between these limits.
_BUDGET_NS = 100_000_000
_LEAST, _MOST = 10, 1000
_ESTIMATING = 5
#: To write this takes a device so long that the host queues the events and the call meanwhile. With less, what is
#: between the events of a short kernel is the host's time to launch it.
_LEAST_FLUSHED_BYTES = 256 * 1024 * 1024


class Event(Protocol):
    """A place in the queue of a device's work."""

    def record(self) -> None:
        """Puts it in the queue."""

    def elapsed_time(self, end_event: Any) -> float:
        """Milliseconds until another one, when the device has passed both."""


class ColdDevice(Protocol):
    """What is timed on."""

    def flush(self) -> None:
        """Queues what leaves nothing useful in the cache."""

    def event(self) -> Event:
        """One that can be recorded without further ado."""

    def wait(self) -> None:
        """Returns when the device has nothing left to do."""


def samples_ns(
    call: Callable[[], object], device: ColdDevice, before: Callable[[], object] = lambda: None
) -> list[int]:
    """Times single calls, after one, and those that the number of samples is estimated from, which are in none.

    Args:
        call: Queues the work.
        device: Where.
        before: Called before each call and before the cache is flushed, in no sample either: what restores arguments.

    Returns:
        Nanoseconds; an event is good for `stopwatch.CUDA_EVENT_RESOLUTION_NS`. Ten samples at least and a thousand at
        most, as many as take a tenth of a second.
    """
    before()
    call()
    device.wait()
    estimate = statistics.median(_timed(call, device, before, _ESTIMATING))
    count = int(_BUDGET_NS / max(estimate, CUDA_EVENT_RESOLUTION_NS))
    return _timed(call, device, before, min(max(count, _LEAST), _MOST))


def _timed(call: Callable[[], object], device: ColdDevice, before: Callable[[], object], count: int) -> list[int]:
    pairs = [(device.event(), device.event()) for _ in range(count)]
    device.wait()
    with collector_off():
        for begin, end in pairs:
            before()
            device.flush()
            begin.record()
            call()
            end.record()
        device.wait()
    return [round(begin.elapsed_time(end) * 1e6) for begin, end in pairs]


class CudaDevice:
    """A CUDA device, the current one inside of `with`; its stream is then the current one."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._guard = torch.cuda.device(device)

    def __enter__(self) -> Self:
        self._guard.__enter__()  # type: ignore[no-untyped-call]
        try:
            size = max(torch.cuda.get_device_properties(self._device).L2_cache_size, _LEAST_FLUSHED_BYTES)
            self._written, self._read = torch.empty(2, size // 4, dtype=torch.int32, device=self._device)
            self._sum = torch.empty((), dtype=torch.int64, device=self._device)
        except BaseException:
            self._guard.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del self._written, self._read, self._sum
        self._guard.__exit__(kind, error, trace)

    @property
    def stream(self) -> int:
        """The driver's handle of the stream, which launchers of Triton take."""
        return torch.cuda.current_stream(self._device).cuda_stream

    def flush(self) -> None:
        """Writes over a buffer that the cache does not hold, then reads another.

        Lines that are written stay in the cache until they are put back into memory, which the call that is timed would
        pay for.
        """
        self._written.zero_()
        torch.sum(self._read, dim=0, dtype=torch.int64, out=self._sum)

    def event(self) -> Event:
        """One that is there: it comes into being when it is first recorded."""
        event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        event.record()
        return event

    def wait(self) -> None:
        """Returns when the device has nothing left to do."""
        torch.cuda.synchronize(self._device)
