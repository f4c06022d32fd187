"""The stopwatch of CUDA events, on a fake device that counts microseconds, and on a real one where there is one."""

from __future__ import annotations

import pytest
import torch

from fastrnns_rs.models.definition import ModelDef
from fastrnns_rs.worker import stopwatch, timed_loop


class FakeStream:
    """Each event that it passes is a microsecond later; waiting for it takes a hundred."""

    def __init__(self) -> None:
        self.now = 0
        self.waits = 0

    def synchronize(self) -> None:
        self.now += 100
        self.waits += 1


class FakeEvent:
    def __init__(self, *, enable_timing: bool) -> None:
        assert enable_timing
        self.at = -1

    def record(self, stream: FakeStream) -> None:
        stream.now += 1
        self.at = stream.now

    def elapsed_time(self, end: FakeEvent) -> float:
        assert self.at >= 0
        return (end.at - self.at) / 1e3


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch) -> FakeStream:
    fake = FakeStream()
    monkeypatch.setattr(torch.cuda, "Event", FakeEvent)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _device: fake)
    return fake


def test_each_phase_is_the_time_between_its_events(stream: FakeStream) -> None:
    watch = stopwatch.stopwatch("cuda:1", 3, has_backward=True)
    made = stream.waits
    weight = torch.ones(2, requires_grad=True)
    model = ModelDef(
        inputs=[weight],
        params=[weight],
        forward=lambda w: setattr(stream, "now", stream.now + 7) or (w * 2).sum(),
        backward=lambda y: setattr(stream, "now", stream.now + 20) or y.backward(),
    )
    timed_loop.run_exactly(model, watch, 3)
    assert watch.timing_mode == "cuda_events"
    assert watch.resolution_ns == 500
    assert stream.waits - made == 3, "one synchronisation an iteration"
    assert watch.durations_ns(*stopwatch.FORWARD) == [8_000] * 3
    assert watch.durations_ns(*stopwatch.BACKWARD) == [21_000] * 3
    one = 4 + 7 + 20
    assert watch.elapsed_ns(0) == (3 * one + 2 * 100 - 1) * 1000
    assert watch.elapsed_ns(2) == (one - 1) * 1000


def test_without_a_backward_there_are_two_events(stream: FakeStream) -> None:
    watch = stopwatch.stopwatch("cuda", 2, has_backward=False)
    timed_loop.run_exactly(ModelDef(inputs=[], params=[], forward=lambda: None), watch, 2)
    assert watch.durations_ns(*stopwatch.FORWARD) == [1_000] * 2


def test_only_iterations_that_the_device_has_done_are_read(stream: FakeStream) -> None:
    watch = stopwatch.stopwatch("cuda", 3, has_backward=True)
    for done in (0, 1):
        assert watch.iterations == done
        for _ in range(4):
            watch.mark()
        if done == 0:
            watch.settle()
    assert watch.iterations == 1
    assert len(watch.durations_ns(*stopwatch.FORWARD)) == 1


@pytest.mark.gpu
def test_events_agree_with_the_wall_clock_on_every_device() -> None:
    for index in range(torch.cuda.device_count()):
        device = f"cuda:{index}"
        x = torch.randn(4096, 4096, device=device)
        watch = stopwatch.stopwatch(device, 5, has_backward=False)
        wall = stopwatch.CpuWallClock(5, 2)

        def forward(x: torch.Tensor = x, device: str = device) -> torch.Tensor:
            for _ in range(20):
                x = x @ x
                x = x / x.norm()
            torch.cuda.synchronize(device)
            return x

        with torch.cuda.device(device):
            for _ in range(5):
                wall.mark()
                watch.mark()
                forward()
                watch.mark()
                wall.mark()
                watch.settle()
        ratios = sorted(a / b for a, b in zip(watch.durations_ns(0, 1), wall.durations_ns(0, 1), strict=True))
        assert 0.9 < ratios[2] < 1.01, device
