"""Times on a CUDA device with a cold L2 cache, by CUDA events."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol, Self

import torch

from fastrnns_rs.worker.stopwatch import CUDA_EVENT_RESOLUTION_NS
from fastrnns_rs.worker.timed_loop import garbage_collection_off

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
    """Marker in the queue of a device."""

    def record(self) -> None:
        """Adds the event to the queue."""

    def elapsed_time(self, end_event: Any) -> float:
        """Returns the milliseconds until another event. The device must have passed both."""


class ColdDevice(Protocol):
    """Device that calls are timed on."""

    def flush(self) -> None:
        """Queues work that evicts the cache."""

    def event(self) -> Event:
        """Returns an event that is ready to be recorded."""

    def wait(self) -> None:
        """Waits until the device has finished all work."""


def samples_ns(
    call: Callable[[], object], device: ColdDevice, before: Callable[[], object] = lambda: None
) -> list[int]:
    """Times single calls.

    One call before, and those that the number of samples is estimated from, are in no sample.

    Args:
        call: Function that queues the work.
        device: Device of the work.
        before: Called before each call and before the cache is flushed, outside the samples; it restores arguments.

    Returns:
        Nanoseconds, with the resolution `stopwatch.CUDA_EVENT_RESOLUTION_NS`. There are as many samples as take a tenth
        of a second, at least ten and at most a thousand.
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
    with garbage_collection_off():
        for begin, end in pairs:
            before()
            device.flush()
            begin.record()
            call()
            end.record()
        device.wait()
    return [round(begin.elapsed_time(end) * 1e6) for begin, end in pairs]


class CudaDevice:
    """CUDA device, the current device inside `with`, as is its stream."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._guard = torch.cuda.device(device)

    def __enter__(self) -> Self:
        self._guard.__enter__()  # type: ignore[no-untyped-call]
        try:
            size = max(torch.cuda.get_device_properties(self._device).L2_cache_size, _LEAST_FLUSHED_BYTES)
            # Sums of narrower integers would first be copied to 64 bits.
            self._written, self._read = torch.empty(2, size // 8, dtype=torch.int64, device=self._device)
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
        """The driver's handle of the stream, for launchers of Triton."""
        return torch.cuda.current_stream(self._device).cuda_stream

    def flush(self) -> None:
        """Overwrites a buffer that the cache cannot hold, then reads another.

        Written lines stay in the cache until they are written back, which would be part of the timed call.
        """
        self._written.zero_()
        torch.sum(self._read, dim=0, out=self._sum)

    def event(self) -> Event:
        """Returns an event that exists: CUDA makes it at its first recording."""
        event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        event.record()
        return event

    def wait(self) -> None:
        """Waits until the device has finished all work."""
        torch.cuda.synchronize(self._device)
