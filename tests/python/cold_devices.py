"""A device whose time goes on by what is queued on it."""

from __future__ import annotations

from typing import Self


class Clock:
    """The device's time: goes on by what is queued."""

    def __init__(self) -> None:
        self.now_ns = 0
        self.log: list[str] = []


class FakeEvent:
    """As of CUDA."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.at_ns: int | None = None

    def record(self) -> None:
        self._clock.log.append("event")
        self.at_ns = self._clock.now_ns

    def elapsed_time(self, end_event: FakeEvent) -> float:
        assert self.at_ns is not None
        assert end_event.at_ns is not None
        return (end_event.at_ns - self.at_ns) / 1e6


class FakeDevice:
    """Stands in for `cold.CudaDevice`; to flush takes a tenth of a millisecond."""

    stream = 7

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        pass

    def flush(self) -> None:
        self._clock.log.append("flush")
        self._clock.now_ns += 100_000

    def event(self) -> FakeEvent:
        return FakeEvent(self._clock)

    def wait(self) -> None:
        self._clock.log.append("wait")
