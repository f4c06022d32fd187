"""An independent, slow reading of the steps of a torch.profiler trace, from the trace alone."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

LAUNCHES = {"cuda_runtime", "cuda_driver", "Runtime"}
#: Until 2021 steps were operators.
STEPS = {"user_annotation", "Operator"}
ACTIVITIES = {"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"}
_STEP = "ProfilerStep#"


class Iteration(NamedTuple):
    """Nanoseconds."""

    index: int
    host_ns: int
    gpu_ns: int
    gpu_busy_ns: int
    gpu_time_ns: int


def _ns(event: dict[str, Any]) -> tuple[int, int]:
    start = int(event["ts"] * 1000)
    return start, start + int(event["dur"] * 1000)


def _events(path: Path) -> list[dict[str, Any]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", errors="replace") as file:
        found = json.load(file, parse_float=Decimal, parse_int=Decimal, strict=False)["traceEvents"]
    return [one for one in found if one.get("ph") == "X" and one.get("dur") is not None]


def _activities(events: list[dict[str, Any]]) -> dict[Any, list[tuple[int, tuple[int, int]]]]:
    """By process: when each activity was launched, and when it ran."""
    launches = {}
    for one in events:
        correlation = one.get("args", {}).get("correlation")
        if one.get("cat") in LAUNCHES and correlation is not None:
            launches.setdefault(correlation, (one["pid"], _ns(one)[0]))
    found = defaultdict(list)
    for one in events:
        if one.get("cat") in ACTIVITIES:
            launch = launches.get(one.get("args", {}).get("correlation"))
            if launch is not None:
                found[launch[0]].append((launch[1], _ns(one)))
    return found


def steps(path: Path) -> list[Iteration]:
    """Every step, by start."""
    events = _events(path)
    activities = _activities(events)
    callers = {one["pid"] for one in events if one.get("cat") in LAUNCHES}
    found = []
    for one in events:
        number = str(one.get("name", "")).removeprefix(_STEP)
        if one.get("cat") not in STEPS or not str(one["name"]).startswith(_STEP) or not number.isdigit():
            continue
        start, end = _ns(one)
        # In a container a step has another number than the process that launches.
        process = one["pid"] if len(callers) > 1 else next(iter(callers), None)
        owned = sorted(ran for launched, ran in activities[process] if start <= launched <= end)
        busy, until = 0, None
        for begin, stop in owned:
            busy += max(stop - (begin if until is None else max(begin, until)), 0)
            until = stop if until is None else max(until, stop)
        span = until - owned[0][0] if until is not None else 0
        found.append((start, Iteration(int(number), end - start, span, busy, sum(b - a for a, b in owned))))
    return [iteration for _, iteration in sorted(found)]
