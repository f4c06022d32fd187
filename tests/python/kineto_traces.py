"""Traces as torch's profiler writes them, made for tests: events by hand, and whole traces by dice."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

Event = dict[str, Any]

#: Names as they occur, of several categories.
NAMES = [
    "ampere_sgemm_128x64_tn",
    "triton_poi_fused_add_0",
    "triton_red_fused_sum_1",
    "triton_per_fused_softmax_2",
    "triton_tem_fused_mm_3",
    "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, std::array<char*, 3ul> >(int)",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long)",
    "void (anonymous namespace)::softmax_warp_forward<float, float, float, 8, false>(float*, float const*, int)",
]
COPIES = {"HtoD": "Memcpy HtoD (Pinned -> Device)", "DtoH": "Memcpy DtoH (Device -> Pageable)"}


def kernel(name: str = "k", start: float = 0, duration: float = 1, **more: Any) -> Event:
    """A kernel; times in microseconds. `device`, `stream` and all that is not a member of its own are arguments."""
    arguments = {"device": 0, "stream": 7, "correlation": 1, "grid": [1, 1, 1], "block": [32, 1, 1]}
    return _event("kernel", name, start, duration, {**arguments, **more})


def copy(direction: str = "HtoD", start: float = 0, duration: float = 1, size: int = 64, **more: Any) -> Event:
    """A copy."""
    return _event("gpu_memcpy", COPIES[direction], start, duration, {"device": 0, "stream": 7, "bytes": size, **more})


def fill(start: float = 0, duration: float = 1, size: int = 64, **more: Any) -> Event:
    """A set."""
    arguments = {"device": 0, "stream": 7, "bytes": size}
    return _event("gpu_memset", "Memset (Device)", start, duration, {**arguments, **more})


def call(name: str = "cudaLaunchKernel", start: float = 0, duration: float = 1, process: int = 100) -> Event:
    """A call of the device's interface on the host."""
    return {**_event("cuda_runtime", name, start, duration, {"correlation": 1}), "pid": process, "tid": process}


def annotation(name: str, start: float = 0, duration: float = 1, thread: int = 100) -> Event:
    """A range that the program named, on the thread of its calls."""
    return {**_event("user_annotation", name, start, duration, {"External id": 1}), "pid": 100, "tid": thread}


def operator(name: str = "aten::mm", start: float = 0, duration: float = 1, **more: Any) -> Event:
    """An operator of the host, which no summary counts."""
    return {**_event("cpu_op", name, start, duration, {"External id": 1, **more}), "pid": 100, "tid": 100}


def _event(category: str, name: str, start: float, duration: float, arguments: dict[str, Any]) -> Event:
    place = {"pid": arguments.get("device", 0), "tid": arguments.get("stream", 7)}
    return {"ph": "X", "cat": category, "name": name, **place, "ts": start, "dur": duration, "args": arguments}


def document(events: list[Event], **members: Any) -> dict[str, Any]:
    """A trace of these events."""
    head = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU zero"}, {"id": 1, "name": "GPU one"}]}
    return {**head, "traceEvents": events, **members, "traceName": "trace.json"}


def write(path: Path, trace: list[Event] | dict[str, Any] | str | bytes) -> Path:
    """Writes a trace, from its events, the document or its text, and compresses it where the name says so."""
    if isinstance(trace, list):
        trace = document(trace)
    text = json.dumps(trace) if isinstance(trace, dict) else trace
    content = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(content, 1) if path.suffix == ".gz" else content)
    return path


def by_dice(seed: int, count: int = 400, process: int = 100) -> list[Event]:
    """Events on two devices with three queues each, which overlap, in no order, with every nanosecond."""
    dice = random.Random(seed)

    def times() -> tuple[float, float]:
        return dice.randrange(4_000_000) / 1000, dice.choice([0, dice.randrange(20_000), dice.randrange(300)]) / 1000

    events: list[Event] = []
    for _ in range(count):
        place: dict[str, Any] = {"device": dice.randrange(2), "stream": dice.choice([7, 20, 21])}
        start, duration = times()
        size = dice.randrange(1 << 24)
        grid = [dice.randrange(1, 4), 1, 1]
        events.append(
            dice.choice(
                [
                    kernel(dice.choice(NAMES), start, duration, **place, grid=grid, **{"registers per thread": 32}),
                    kernel(dice.choice(NAMES), start, duration, **place, **{"shared memory": size % 3}),
                    copy(dice.choice([*COPIES]), start, duration, size, **place),
                    fill(start, duration, size, **place),
                    call(dice.choice(["cudaLaunchKernel", "cudaMalloc", "cuLaunchKernel"]), *times(), process),
                    operator("aten::mm", *times(), stream=7),
                ]
            )
        )
    # Each call has a number of its own, as in life; of some, nothing is known that they launched.
    calls = [event for event in events if event["cat"] == "cuda_runtime"]
    for number, event in enumerate(calls, 1):
        event["args"] = {**event["args"], "correlation": number}
    for event in events:
        if event["cat"] in {"kernel", "gpu_memcpy", "gpu_memset"}:
            event["args"]["correlation"] = dice.randrange(1, len(calls) + 10)
    return events
