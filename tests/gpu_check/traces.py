"""Calls of the CUDA runtime from a trace of torch.profiler, in the form of the emulated device's log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from emulated_cuda.machine import Call, CallLog

_CALLS = {"cuda_runtime", "cuda_driver"}
_ACTIVITIES = {"kernel", "gpu_memcpy", "gpu_memset"}


def read(path: Path) -> CallLog:
    """Returns the calls of a trace in the order of their start.

    A call that launches an activity has its name, device and stream.
    """
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    activities = {one["args"]["correlation"]: one for one in events if one.get("cat") in _ACTIVITIES}
    calls = [_call(one, activities) for one in events if one.get("cat") in _CALLS]
    return CallLog(sorted(calls, key=lambda one: one.at_ns))


def _call(event: dict[str, Any], activities: dict[int, dict[str, Any]]) -> Call:
    activity = activities.get(event["args"].get("correlation"), {})
    where = activity.get("args", {})
    return Call(
        thread=event["tid"],
        at_ns=round(event["ts"] * 1000),
        function=event["name"],
        device=where.get("device", 0),
        stream=where.get("stream", -1),
        error=0,
        detail=activity.get("name", ""),
    )
