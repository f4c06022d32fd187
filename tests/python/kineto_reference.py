"""A trace of torch's profiler, summarised by the definitions alone: slow, in integers, independent of ours."""

from __future__ import annotations

import gzip
import json
import statistics
from collections import defaultdict
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

KERNELS = {"kernel", "Kernel"}
MEMORY = {"gpu_memcpy", "gpu_memset", "Memcpy", "Memset"}
CALLS = {"cuda_runtime", "cuda_driver", "Runtime"}
#: Parts of the names of kernels of communication, in small letters.
COMMUNICATION = ("nccl", "multimem_all_reduce")


def load(path: Path) -> dict[str, Any]:
    """The document, with every number as the text says it."""
    return _load(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=1)
def _load(path: Path, _changed_ns: int) -> dict[str, Any]:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    document: dict[str, Any] = json.loads(text, parse_float=Decimal)
    return document


def nanoseconds(microseconds: Decimal | int | str) -> int:
    return int((Decimal(microseconds) * 1000).quantize(Decimal(1), rounding=ROUND_HALF_UP))


def figures(values: list[int]) -> dict[str, Any]:
    ordered = sorted(values)
    place, hundredths = divmod((len(ordered) - 1) * 95, 100)
    above = ordered[min(place + 1, len(ordered) - 1)]
    return {
        "count": len(values),
        "total": sum(values),
        "mean": statistics.fmean(values),
        "median": statistics.median(values),
        "min": ordered[0],
        "max": ordered[-1],
        "stddev": statistics.stdev(values) if len(values) > 1 else None,
        "p95": ordered[place] + (above - ordered[place]) * hundredths / 100,
    }


def coverage(intervals: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """For how long at least one, and at least two, of the intervals ran."""
    edges = sorted([edge for start, end in intervals for edge in ((start, 1), (end, -1))])
    depth, before, one, two = 0, 0, 0, 0
    for at, change in edges:
        one += (at - before) * (depth >= 1)
        two += (at - before) * (depth >= 2)
        depth, before = depth + change, at
    return one, two


def summarize(path: Path) -> dict[str, Any]:
    """Devices, kernels by name and device, memory operations by kind and device, calls by name, queues."""
    events = load(path)["traceEvents"]
    by_device: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    by_queue: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    without_communication: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    kernels: dict[Any, list[int]] = defaultdict(list)
    memory: dict[Any, list[tuple[int, int | None]]] = defaultdict(list)
    calls: dict[str, list[int]] = defaultdict(list)
    for event in events:
        category = event.get("cat")
        if event.get("ph") != "X" or category not in KERNELS | MEMORY | CALLS:
            continue
        start, duration = nanoseconds(event["ts"]), nanoseconds(event["dur"])
        if category in CALLS:
            calls[event["name"]].append(duration)
            continue
        arguments = event["args"]
        device, stream = arguments["device"], arguments["stream"]
        by_device[device].append((start, start + duration))
        by_queue[device, stream].append((start, start + duration))
        if not any(word in event["name"].lower() for word in COMMUNICATION):
            without_communication[device].append((start, start + duration))
        if category in KERNELS:
            kernels[event["name"], device].append(duration)
        else:
            words = event["name"].split()
            kind = "memset" if "set" in category else f"memcpy {words[1]}"
            memory[kind, device].append((duration, arguments.get("bytes")))
    devices = {}
    for device, intervals in by_device.items():
        busy, overlap = coverage(intervals)
        span = max(end for _, end in intervals) - min(start for start, _ in intervals)
        exposed = busy - coverage(without_communication[device])[0]
        devices[device] = {"span": span, "busy": busy, "idle": span - busy, "overlap": overlap, "exposed": exposed}
    return {
        "events": len(events),
        "devices": devices,
        "queues": {queue: coverage(intervals)[0] for queue, intervals in by_queue.items()},
        "kernels": {key: figures(durations) for key, durations in kernels.items()},
        "memory": {
            key: (
                figures([duration for duration, _ in found]),
                figures([size for _, size in found if size is not None]) if found[0][1] is not None else None,
            )
            for key, found in memory.items()
        },
        "calls": {name: figures(durations) for name, durations in calls.items()},
    }


def launches(events: list[dict[str, Any]]) -> tuple[int, int]:
    """How many kernels have a call with their correlation, and how many have none."""
    events = [event for event in events if event.get("ph") == "X"]
    calls = {
        event["args"]["correlation"] for event in events if event["cat"] in CALLS and "correlation" in event["args"]
    }
    found = [event["args"]["correlation"] in calls for event in events if event["cat"] in KERNELS]
    return sum(found), len(found) - sum(found)


def named_spans(events: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
    """What the program named, with its start and duration: until 2021 it was written among the operators."""
    told = ("ProfilerStep#", "enumerate(DataLoader)", "Optimizer.", "## ")
    return sorted(
        (event["name"], nanoseconds(event["ts"]), nanoseconds(event["dur"]))
        for event in events
        if event.get("ph") == "X"
        and (
            event["cat"] == "user_annotation"
            or (event["cat"] in {"cpu_op", "Operator"} and event["name"].startswith(told))
        )
    )
