"""Captures whose summaries have data for every kind of plot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kineto_traces import annotation, call, copy, kernel, write

import fastrnns_rs

Event = dict[str, Any]

#: Names that are markup, that reorder text, that are formulas, and that no column is wide enough for.
HOSTILE = ("</script><script>alert(1)</script>", "a\u202eb\x1b[31m&amp;", "$\\frac{1}{2}$", "x" * 10_000)
NAMES = ("ampere_sgemm_128x64_tn", "triton_poi_fused_add_0", "ncclDevKernel_AllReduce_Sum_f32_RING_LL")


def events(steps: int = 12, devices: int = 1, names: tuple[str, ...] = NAMES) -> list[Event]:
    """Steps with nested ranges, launches and copies; one step is far longer than the others."""
    found: list[Event] = []
    correlation = 0
    for device in range(devices):
        process = 100 + device
        for step in range(steps):
            at = 1000.0 * step
            length = 400.0 if step == steps - 1 else 20.0 + step % 3
            ranges = [(f"ProfilerStep#{step}", 0, 900), ("forward", 5, 500), ("matmul", 10, 50)]
            found += [_of(annotation(name, at + begin, time), process) for name, begin, time in ranges]
            for place, name in enumerate(names):
                correlation += 1
                launched = _of(call("cudaLaunchKernel", at + 12 + 60 * place, 3), process)
                launched["args"] = {"correlation": correlation}
                start = at + 20 + 60 * place + step
                run = kernel(name, start, length if place == 0 else 5, device=device, correlation=correlation)
                found += [launched, run]
            found.append(copy("HtoD", at + 15 + step, 30, device=device, stream=20, correlation=0))
    return found


def _of(event: Event, process: int) -> Event:
    return {**event, "pid": process, "tid": process}


def summary(folder: Path, **arguments: Any) -> fastrnns_rs.Summary:
    """The summary of a trace of these events."""
    return fastrnns_rs.read(write(folder / "trace.json", events(**arguments)))


def ranks(folder: Path, count: int) -> fastrnns_rs.Summary:
    """The summary of a file for each rank; each rank is busier than the one before it."""
    paths = []
    for rank in range(count):
        made = [kernel("k", 10 * place, 2 + 0.01 * rank) for place in range(5)]
        text = {"traceEvents": made, "distributedInfo": {"rank": rank, "world_size": count}}
        paths.append(folder / f"rank{rank}.json")
        paths[-1].write_text(json.dumps(text))
    return fastrnns_rs.read(*paths)
