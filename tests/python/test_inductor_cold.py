"""Timing with a cold cache, what a kernel moves, and what its device could."""

from __future__ import annotations

import gc
import importlib
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from cold_devices import Clock, FakeDevice
from hypothesis import given
from hypothesis import strategies as st

from fastrnns_rs.worker.inductor import bandwidth, cold_cache


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

    def empty(*shape: Any, dtype: torch.dtype, device: torch.device) -> Any:
        if full:
            raise torch.OutOfMemoryError("CUDA out of memory")
        if shape == ((),):
            return "sum"
        count, size = shape
        # CUDA copies narrower integers to 64 bits before it adds them: that would write to memory.
        assert dtype == torch.int64
        log.extend([("bytes", size * dtype.itemsize, device)] * count)
        return [SimpleNamespace(zero_=lambda: log.append("write")) for _ in range(count)]

    def summed(_read: Any, *, dim: int, out: Any) -> None:
        assert (dim, out) == (0, "sum")
        log.append("read")

    def event(*, enable_timing: bool) -> SimpleNamespace:
        assert enable_timing
        return SimpleNamespace(record=lambda: log.append("record"))

    monkeypatch.setattr(torch, "empty", empty)
    monkeypatch.setattr(torch, "sum", summed)
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
        assert log == [("enter", second), *[("bytes", flushed, second)] * 2]
        log.clear()
        device.flush()
        device.event()
        device.wait()
        assert device.stream == 42
    # Dirty lines of the cache leave it before the call that is timed.
    assert log == ["write", "read", "record", ("wait", second), "exit"]


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
        # The same with work that leaves the four megabytes in the cache, and lasts until the copy is queued.
        device.flush = lambda: torch.cuda._sleep(500_000)  # type: ignore[method-assign]
        warm = cold_cache.samples_ns(lambda: into.copy_(given), device)
    assert 0 < sorted(warm)[len(warm) // 10] < sorted(samples)[len(samples) // 2]


#: Of an H100: 2619 MHz and 5120 bits, of which NVIDIA's data sheet makes 3.35 TB/s.
H100_KHZ, H100_BITS, H100_GB_PER_S = 2_619_000, 5120, 3352.32


@pytest.fixture(scope="module")
def runtime_utils() -> Any:
    """Upstream's own functions. They take seconds to import."""
    return importlib.import_module("torch._inductor.runtime.runtime_utils")


def test_what_is_read_and_written_counts_twice_wherever_it_stands(runtime_utils: Any) -> None:
    four, eight = torch.zeros(1, dtype=torch.float32), torch.zeros(2, dtype=torch.float32)
    leading = (["in_out_ptr0", "in_ptr0", "xnumel", "XBLOCK"], (four, eight, 16))
    assert bandwidth.num_bytes(*leading) == 2 * 4 + 8
    assert bandwidth.num_bytes(*leading) == runtime_utils.get_num_bytes(*leading[1], num_in_out_args=1)
    behind = (["in_ptr0", "xnumel", "in_out_ptr0", "XBLOCK"], (four, 16, eight))
    assert bandwidth.num_bytes(*behind) == 4 + 2 * 8
    # Upstream takes the first argument for it.
    assert runtime_utils.get_num_bytes(*behind[1], num_in_out_args=1) == 2 * 4 + 8


@pytest.mark.parametrize(
    ("names", "arguments", "expected"),
    [
        ([], (), 0),
        (["xnumel"], (7,), 0),
        (["in_ptr0"], (torch.zeros(0, 5),), 0),
        (["in_ptr0"], (torch.zeros(3, dtype=torch.bfloat16),), 6),
        (["in_ptr0"], (torch.zeros(3, dtype=torch.bool),), 3),
        (["in_out_ptr0", "in_out_ptr1"], (torch.zeros(3), torch.zeros(1, dtype=torch.complex128)), 2 * (12 + 16)),
        # What is passed besides the parameters, such as a template's grid.
        (["in_ptr0"], (torch.zeros(1), 1, 1, None), 4),
    ],
)
def test_bytes_of_arguments(names: list[str], arguments: tuple[Any, ...], expected: int) -> None:
    assert bandwidth.num_bytes(names, arguments) == expected


def test_gigabytes_are_inductors_or_those_of_the_arguments() -> None:
    arguments = (torch.zeros(1000),)
    assert bandwidth.num_gb({"kernel_num_gb": 1.5}, ["in_ptr0"], arguments) == 1.5
    assert bandwidth.num_gb({"kernel_num_gb": 0}, ["in_ptr0"], arguments) == 0
    assert bandwidth.num_gb({"kernel_num_gb": None}, ["in_ptr0"], arguments) == 4e-6
    assert bandwidth.num_gb({}, ["in_out_ptr0"], arguments) == 8e-6


NUMBERS = st.floats(allow_nan=True, allow_infinity=True)


@given(NUMBERS, NUMBERS, NUMBERS, st.text(), st.text())
def test_the_line_of_a_kernel_is_upstreams_without_colour(
    runtime_utils: Any, ms: float, num_gb: float, gb_per_s: float, prefix: str, suffix: str
) -> None:
    expected = runtime_utils.create_bandwidth_info_str(ms, num_gb, gb_per_s, prefix, suffix, color=False)
    for color in (False, True):
        ours = bandwidth.create_bandwidth_info_str(ms, num_gb, gb_per_s, prefix, suffix, color=color)
        assert ours == expected


def driver(asked: list[str], *, refuses: str = "", megahertz: int = 2619, bits: int = 5120) -> SimpleNamespace:
    """The part of pynvml that is used; it notes what it is asked."""

    class NVMLError(Exception):
        """As of pynvml."""

    def answering(name: str, answer: Any, *expected: Any) -> Callable[..., Any]:
        def function(*given: Any) -> Any:
            assert given == expected
            if name == refuses:
                raise NVMLError("Not Supported")
            asked.append(name)
            return answer

        return function

    return SimpleNamespace(
        NVML_CLOCK_MEM=2,
        NVMLError=NVMLError,
        nvmlInit=answering("init", None),
        nvmlShutdown=answering("shutdown", None),
        nvmlDeviceGetHandleByUUID=answering("handle", "card", "GPU-12-34"),
        nvmlDeviceGetMaxClockInfo=answering("clock", megahertz, "card", 2),
        nvmlDeviceGetMemoryBusWidth=answering("width", bits, "card"),
    )


def of_device(monkeypatch: pytest.MonkeyPatch, pynvml: Any, **properties: int) -> float | None:
    monkeypatch.setitem(sys.modules, "pynvml", pynvml)
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda _: SimpleNamespace(name="NVIDIA H100", uuid="12-34", **properties)
    )
    found: float | None = bandwidth.device_gb_per_s.__wrapped__(torch.device("cuda:0"))
    return found


@pytest.mark.parametrize(
    ("khz", "bits", "asked"),
    [
        (H100_KHZ, H100_BITS, []),
        (0, H100_BITS, ["init", "handle", "clock", "width", "shutdown"]),
        (H100_KHZ, 0, ["init", "handle", "clock", "width", "shutdown"]),
        (None, None, ["init", "handle", "clock", "width", "shutdown"]),
    ],
)
def test_the_memory_of_a_device_by_torch_or_by_its_driver(
    khz: int | None, bits: int | None, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    properties = {} if khz is None else {"memory_clock_rate": khz, "memory_bus_width": bits}
    seen: list[str] = []
    found = of_device(monkeypatch, driver(seen), **properties)
    assert math.isclose(found, H100_GB_PER_S)
    assert seen == asked


@pytest.mark.parametrize(
    "given",
    [*({"refuses": one} for one in ("init", "handle", "clock", "width")), {"megahertz": 0}, {"bits": 0}, None],
    ids=str,
)
def test_where_nobody_tells_it_is_unknown(given: dict[str, Any] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    assert of_device(monkeypatch, None if given is None else driver(seen, **given)) is None
    assert ("init" in seen) is ("shutdown" in seen)
