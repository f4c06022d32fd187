"""Timing with a cold cache: what is queued in which order, and how often."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from cold_devices import Clock, FakeDevice

from fastrnns_rs.worker.inductor import cold_cache


def call_of(clock: Clock, *took_ns: int) -> Callable[[], None]:
    """Work that takes so long, the last for good."""
    times = [*took_ns]

    def call() -> None:
        clock.log.append("call")
        clock.now_ns += times.pop(0) if len(times) > 1 else times[0]

    return call


@pytest.mark.parametrize(
    ("took_ns", "count"),
    [(0, 1000), (1, 1000), (100_000, 1000), (101_000, 990), (5_000_000, 20), (10_000_001, 10), (10**12, 10)],
)
def test_there_are_as_many_samples_as_take_a_tenth_of_a_second(took_ns: int, count: int) -> None:
    clock = Clock()
    assert cold_cache.samples_ns(call_of(clock, took_ns), FakeDevice(clock)) == [took_ns] * count


def test_one_slow_call_does_not_decide_how_many_there_are() -> None:
    clock = Clock()
    # The first warms up; of the five that follow one is disturbed.
    call = call_of(clock, 10**9, 1_000_000, 10**9, 1_000_000, 1_000_000, 1_000_000, 2_000_000, 1_000_000)
    assert cold_cache.samples_ns(call, FakeDevice(clock)) == [2_000_000] + [1_000_000] * 99


def test_each_call_is_restored_for_and_flushed_for_outside_of_its_events() -> None:
    clock = Clock()

    def before() -> None:
        clock.log.append("before")
        clock.now_ns += 3_000_000

    collecting: list[bool] = []
    work = call_of(clock, 10_000_000)

    def call() -> None:
        collecting.append(gc.isenabled())
        work()

    samples = cold_cache.samples_ns(call, FakeDevice(clock), before)
    assert samples == [10_000_000] * 10
    assert collecting == [True] + [False] * 15
    one = ["before", "flush", "event", "call", "event"]
    assert clock.log == ["before", "call", "wait", "wait", *one * 5, "wait", "wait", *one * 10, "wait"]


def test_what_fails_is_told_and_leaves_the_collector_on() -> None:
    calls = iter([None, None])
    with pytest.raises(StopIteration):
        cold_cache.samples_ns(lambda: next(calls), FakeDevice(Clock()))
    assert gc.isenabled()


def pretended(monkeypatch: pytest.MonkeyPatch, l2: int, *, full: bool = False) -> list[Any]:
    """Stands in for the parts of torch.cuda that a device uses, and for its allocator; returns what they are asked."""
    log: list[Any] = []

    @contextmanager
    def current(device: torch.device) -> Iterator[None]:
        log.append(("enter", device))
        try:
            yield
        finally:
            log.append("exit")

    def empty(count: int, *, dtype: torch.dtype, device: torch.device) -> SimpleNamespace:
        if full:
            raise torch.OutOfMemoryError("CUDA out of memory")
        log.append(("bytes", count * dtype.itemsize, device))
        return SimpleNamespace(zero_=lambda: log.append("zero"))

    def event(*, enable_timing: bool) -> SimpleNamespace:
        assert enable_timing
        return SimpleNamespace(record=lambda: log.append("record"))

    monkeypatch.setattr(torch, "empty", empty)
    monkeypatch.setattr(torch.cuda, "device", current)
    monkeypatch.setattr(torch.cuda, "Event", event)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: SimpleNamespace(L2_cache_size=l2))
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device: log.append(("wait", device)))
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _: SimpleNamespace(cuda_stream=42))
    return log


@pytest.mark.parametrize(
    ("l2", "flushed"),
    [(0, 256 * 2**20), (50 * 2**20, 256 * 2**20), (300 * 2**20, 300 * 2**20)],
    ids=["unknown", "H100", "larger"],
)
def test_a_device_writes_over_more_than_its_cache(l2: int, flushed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    log, second = pretended(monkeypatch, l2), torch.device("cuda:1")
    with cold_cache.CudaDevice(second) as device:
        assert log == [("enter", second), ("bytes", flushed, second)]
        log.clear()
        device.flush()
        device.event()
        device.wait()
        assert device.stream == 42
    assert log == ["zero", "record", ("wait", second), "exit"]


def test_a_full_device_leaves_the_current_one_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    log = pretended(monkeypatch, 0, full=True)
    with pytest.raises(torch.OutOfMemoryError), cold_cache.CudaDevice(torch.device("cuda:0")):
        raise AssertionError
    assert log[-1] == "exit"


@pytest.mark.gpu
def test_a_copy_takes_longer_with_a_cold_cache() -> None:
    where = torch.device("cuda:0")
    with cold_cache.CudaDevice(where) as device:
        given = torch.ones(1 << 20, device=where)
        into = torch.empty_like(given)
        samples = cold_cache.samples_ns(lambda: into.copy_(given), device)
        # The same without its buffer: the four megabytes that it reads stay in the cache.
        device.flush = lambda: None  # type: ignore[method-assign]
        warm = cold_cache.samples_ns(lambda: into.copy_(given), device)
    assert 0 < sorted(warm)[len(warm) // 10] < sorted(samples)[len(samples) // 2]
