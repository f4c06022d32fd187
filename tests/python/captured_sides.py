"""Captures for comparisons: traces whose kernels take what a test says, and traces that were never files."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from kineto_traces import Event, copy, document, kernel, write

#: Kernels of a model by name, each with its time in microseconds and its grid.
MODEL = {
    "ampere_sgemm_128x64_tn": (40.0, [8, 4, 1]),
    "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int)": (5.0, [64, 1, 1]),
    "void cudnn::rnn::RNN_blockPersist_fp_LSTM<float, 1>(int)": (300.0, [80, 1, 1]),
}
GEMM, ADD, RNN = MODEL


def capture(
    path: Path,
    *,
    launches: int = 4,
    slower: dict[str, float] | None = None,
    seed: int = 0,
    spread: float = 0.01,
    device: str = "NVIDIA A100-SXM4-40GB",
    rename: dict[str, str] | None = None,
    without: tuple[str, ...] = (),
    more: list[Event] | None = None,
) -> Path:
    """A trace of a model; `slower` multiplies the time of kernels."""
    dice, start, events = random.Random(seed), 0.0, [*(more or [])]
    for _ in range(launches):
        for name, (duration, grid) in MODEL.items():
            if name in without:
                continue
            took = round(duration * (slower or {}).get(name, 1.0) * dice.lognormvariate(0, spread), 3)
            events.append(kernel((rename or {}).get(name, name), start, took, grid=grid))
            start += took + 1
        events.append(copy("HtoD", start, round(2 * dice.lognormvariate(0, spread), 3)))
        start += 4
    plain = document(events)
    plain["deviceProperties"] = [{"id": 0, "name": device}]
    return write(path, plain)


@dataclass
class Told:
    """A capture that was read: times by kernel and iteration, of each a nanosecond count; 0 is none."""

    times: dict[str, list[int]]
    outside: dict[str, int] = field(default_factory=dict)
    category: str = "gemm"
    runners: list[str] = field(default_factory=list)

    def summarize(self, **_: Any) -> Told:
        """Its summary."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """A summary without devices and warnings."""
        return {"devices": [], "warnings": []}

    def repeats(self, **_: Any) -> str:
        """What the extension would say of it."""
        rows = [
            {
                "name": name,
                "short_name": name,
                "is_kernel": True,
                "category": self.category,
                "grid": [1, 1, 1],
                "block": [32, 1, 1],
                "count": sum(time > 0 for time in times) + (name in self.outside),
                "total_ns": sum(times) + self.outside.get(name, 0),
                "inside_count": sum(time > 0 for time in times),
                "inside_ns": sum(times),
            }
            for name, times in self.times.items()
        ]
        sums = [sum(times) for times in zip_longest(*self.times.values(), fillvalue=0)]
        keys = ("host_ns", "gpu_ns", "gpu_busy_ns", "gpu_time_ns")
        iterations = [dict.fromkeys(keys, one) for one in sums]
        head = {"path": "x", "sha256": str(id(self)), "format": "kineto", "tool_version": None, "graph_level": False}
        head |= {"rank": None, "world_size": None, "environment": {}}
        found = {
            "captures": [head],
            "device_count": 1,
            "processes": [],
            "warnings": [],
            "devices": [],
            "iterations": iterations,
            "runners": self.runners,
            "phases": [],
            "rows": rows,
        }
        return json.dumps(found)
