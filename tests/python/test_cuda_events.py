"""The stopwatch of CUDA events beside the wall clock."""

from __future__ import annotations

import pytest
import torch

from fastrnns_rs.worker import stopwatch


@pytest.mark.gpu(emulated="quick")
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
                watch.end_iteration()
        ratios = sorted(a / b for a, b in zip(watch.durations_ns(0, 1), wall.durations_ns(0, 1), strict=True))
        assert 0.9 < ratios[2] < 1.01, device
