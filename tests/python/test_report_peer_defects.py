"""What other readers of torch's traces get wrong, each with the answer that is right.

Most of it is HolisticTraceAnalysis 0.5.0, measured on public files. Where the file is not among the captures from the
field, a trace of our own lays the same trap.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kineto_traces import call, copy, fill, kernel, operator, write

import fastrnns_rs
from fastrnns_rs import Summary


def operations(summary: Summary) -> tuple[int, int]:
    """How many kernels, copies and sets there are, and their time together."""
    rows = [*summary.kernels, *summary.memory_operations]
    return sum(row.count for row in rows), sum(row.total_ns for row in rows)


@pytest.mark.parametrize("place", [0.0, 0.4, 0.999])
def test_an_operation_of_less_than_a_microsecond_counts(place: float, tmp_path: Path) -> None:
    """The same trap wherever in its microsecond it starts."""
    events = [call(), *(kernel("short", start + place, 0.9) for start in range(10)), fill(20 + place, 0.5)]
    summary = fastrnns_rs.read(write(tmp_path / "x.json", events))
    assert operations(summary) == (11, 9_500)
    assert (summary.devices[0].busy_ns, summary.devices[0].idle_ns) == (9_500, 11_000)


def test_an_operator_with_a_stream_is_no_work_of_the_device(tmp_path: Path) -> None:
    """D5: Triton's launches on the host carry a stream among their arguments, and were counted as the device's work."""
    launches = [operator("triton_poi_fused_add_0", 10 * at, 9, device=0, stream=7, grid=[1, 1, 1]) for at in range(5)]
    events = [call(), *launches, kernel("triton_poi_fused_add_0", 12, 3), copy("HtoD", 20, 2)]
    summary = fastrnns_rs.read(write(tmp_path / "x.json", events))
    assert operations(summary) == (2, 5_000)
    assert summary.devices[0].span_ns == 10_000


def test_what_follows_the_last_step_counts_too(tmp_path: Path) -> None:
    """D6 by hand: devices go on after the host's step has ended, and nothing is left out for that."""
    steps = [{**operator(f"ProfilerStep#{at}", 10 * at, 10), "cat": "user_annotation"} for at in range(3)]
    events = [*steps, call(), *(kernel("k", 10 * at + 8, 4) for at in range(4))]
    assert operations(fastrnns_rs.read(write(tmp_path / "x.json", events))) == (4, 16_000)


def waits(count: int) -> list[dict[str, Any]]:
    """What CUPTI writes of waiting: it has a device and a stream, and spans all work that was waited for."""
    arguments = {"stream": 7, "device": 0, "correlation": 5, "wait_on_stream": 7}
    return [{**kernel("Stream Synchronize", 50 * at, 40), "cat": "cuda_sync", "args": arguments} for at in range(count)]


def test_waiting_is_no_work(tmp_path: Path) -> None:
    """D7: rows of `cuda_sync` joined the union of intervals, which made a device busy that waited."""
    marks = [
        {**kernel("ProfilerStep#1", 0, 500), "cat": category}
        for category in ("gpu_user_annotation", "cuda_event", "overhead", "collective_comm", "ac2g", "Trace")
    ]
    events = [call(), *waits(10), *marks, kernel("k", 10, 5), kernel("k", 300, 5)]
    summary = fastrnns_rs.read(write(tmp_path / "x.json", events))
    assert operations(summary) == (2, 10_000)
    assert (summary.devices[0].span_ns, summary.devices[0].idle_ns) == (295_000, 285_000)


def test_kernels_of_one_queue_may_overlap(tmp_path: Path) -> None:
    """With programmatic dependent launch they do: what a queue did is a union, not a sum."""
    events = [call(), kernel("a", 0, 10), kernel("b", 8, 10), kernel("c", 9, 2)]
    summary = fastrnns_rs.read(write(tmp_path / "x.json", events))
    [queue], [device] = summary.streams, summary.devices
    assert (queue.busy_ns, queue.total_ns) == (18_000, 22_000)
    assert (device.busy_ns, device.idle_ns, device.overlap_ns) == (18_000, 0, 3_000)


def test_a_kernel_whose_launch_is_unknown_counts(tmp_path: Path) -> None:
    """Up to a third of the kernels of real files have none."""
    events = [kernel("a", 1, 1, correlation=77), kernel("a", 4, 1)]
    del events[1]["args"]["correlation"]
    assert operations(fastrnns_rs.read(write(tmp_path / "x.json", events))) == (2, 2_000)
