"""A trace of a training loop with launches, ranges, iterations, and one slow iteration."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from kineto_traces import Event, annotation, call, copy, document, kernel, write

#: Kernels of one layer: name, microseconds and grid.
FORWARD = (
    ("ampere_sgemm_128x64_tn", 62.0, [8, 4, 1]),
    ("void cudnn::rnn::RNN_blockPersist_fp_LSTM<float, 1>(int)", 310.0, [80, 1, 1]),
    ("triton_poi_fused_add_0", 9.0, [64, 1, 1]),
)
BACKWARD = (
    ("void cudnn::rnn::RNN_blockPersist_bp_LSTM<float, 1>(int)", 590.0, [80, 1, 1]),
    ("ampere_sgemm_128x64_nt", 118.0, [8, 4, 1]),
    ("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(int)", 24.0, [32, 1, 1]),
)
_DEVICE = "NVIDIA A100-SXM4-40GB"
_LAYERS, _GAP = 2, 6.0
#: The iteration that waits for a copy.
_SLOW = 8


class _Timeline:
    def __init__(self, seed: int, factors: dict[str, float]) -> None:
        self.events: list[Event] = []
        self._dice = random.Random(seed)
        self._factors = factors
        self._launch = self._end = 0.0
        self._number = 0

    def launch(self, name: str, took: float, grid: list[int]) -> None:
        self._number += 1
        took = round(took * self._factors.get(name, 1.0) * self._dice.lognormvariate(0, 0.02), 3)
        start = max(self._end, self._launch + self._dice.uniform(4, 9))
        event = call("cudaLaunchKernel", self._launch, 3.5)
        self.events += [
            {**event, "args": {**event["args"], "correlation": self._number}},
            kernel(name, round(start, 3), took, grid=grid, correlation=self._number),
        ]
        self._launch = round(self._launch + _GAP, 3)
        self._end = start + took + 1.0

    def copy(self, took: float) -> None:
        self.events.append(copy("DtoH", round(self._end + 40, 3), took, 1 << 20, correlation=0))
        self._end += took + 80

    def span(self, name: str, body: Any) -> None:
        start = self._launch
        body()
        self.events.append(annotation(name, start, round(self._launch - start, 3)))

    def step(self, number: int) -> None:
        def layers(kernels: Any) -> None:
            for _ in range(_LAYERS):
                for one in kernels:
                    self.launch(*one)

        def iteration() -> None:
            self.span("forward", lambda: layers(FORWARD))
            self.span("backward", lambda: layers(BACKWARD))
            if number == _SLOW:
                self.copy(700.0)
            # The host waits for the device.
            self._launch = round(max(self._launch, self._end) + 20, 3)

        self.span(f"ProfilerStep#{number}", iteration)


def training_trace(path: Path, *, steps: int = 14, seed: int = 0, factors: dict[str, float] | None = None) -> Path:
    """Writes the trace; `factors` multiplies the times of kernels."""
    timeline = _Timeline(seed, factors or {})
    for number in range(steps):
        timeline.step(number)
    plain = document(timeline.events)
    plain["deviceProperties"] = [{"id": 0, "name": _DEVICE}]
    return write(path, plain)
