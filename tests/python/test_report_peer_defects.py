"""What other readers of torch's traces get wrong, each with the answer that is right.

Most of it is HolisticTraceAnalysis 0.5.0, measured on public files. Where the file is not among the captures from the
field, a trace of our own lays the same trap.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kineto_reference as reference
import pytest
from corpus import capture
from kineto_traces import call, copy, fill, kernel, operator, write

import fastrnns_rs
from fastrnns_rs import Summary

DDP = "kineto/hta_v100_ddp.json.gz"
QWEN = "kineto/tl_h100_qwen.json.gz"


def operations(summary: Summary) -> tuple[int, int]:
    """How many kernels, copies and sets there are, and their time together."""
    rows = [*summary.kernels, *summary.memory_operations]
    return sum(row.count for row in rows), sum(row.total_ns for row in rows)


def test_mean_and_extremes_are_not_the_sum() -> None:
    """D1: it calls 59,097 µs the mean, the largest and the smallest of a kernel of which that is the sum, as far as it
    goes: the last step is missing, see D6.
    """
    rows = fastrnns_rs.read(capture(DDP)).kernels
    [row] = [row for row in rows if row.name == "volta_sgemm_128x32_nt"]
    assert (row.count, row.total_ns, row.max_ns) == (380, 73_955_000, 1_030_000)
    assert row.mean_ns == pytest.approx(194_618, abs=1)
    assert row.min_ns < row.median_ns < row.mean_ns < row.p95_ns <= row.max_ns


def test_nanoseconds_are_not_rounded_to_microseconds() -> None:
    """D2: starts are rounded up and ends down, so 22 rows take less than no time, and a kind of set sums to -18 µs."""
    summary = fastrnns_rs.read(capture(QWEN))
    count, total = operations(summary)
    assert (count, round(total / 1000)) == (1707, 45_647)
    assert min(row.min_ns for row in summary.kernels) > 0
    [fills] = [row for row in summary.memory_operations if row.kind == "memset"]
    assert fills.count == 241
    assert 0 < fills.min_ns <= fills.mean_ns <= fills.max_ns < 1_000 * fills.count


@pytest.mark.parametrize("place", [0.0, 0.4, 0.999])
def test_an_operation_of_less_than_a_microsecond_counts(place: float, tmp_path: Path) -> None:
    """The same trap wherever in its microsecond it starts."""
    events = [call(), *(kernel("short", start + place, 0.9) for start in range(10)), fill(20 + place, 0.5)]
    summary = fastrnns_rs.read(write(tmp_path / "x.json", events))
    assert operations(summary) == (11, 9_500)
    assert (summary.devices[0].busy_ns, summary.devices[0].idle_ns) == (9_500, 11_000)


def test_idle_time_can_be_told() -> None:
    """D3: it ends with an AssertionError on this file."""
    [device] = fastrnns_rs.read(capture(QWEN)).devices
    assert (device.span_ns, device.busy_ns) == (49_652_832, 45_647_300)
    assert device.idle_ns == device.span_ns - device.busy_ns
    assert device.utilization == pytest.approx(0.9193292338, abs=1e-10)


def test_busy_time_of_short_kernels() -> None:
    """D4: it finds 254 µs, 18 % too little."""
    summary = fastrnns_rs.read(capture("kineto/tl_h100_bert.json.gz"))
    assert summary.devices[0].busy_ns == 309_437
    assert operations(summary)[1] == 309_437


def test_an_operator_with_a_stream_is_no_work_of_the_device(tmp_path: Path) -> None:
    """D5: Triton's launches on the host carry a stream among their arguments, and were counted as the device's work."""
    launches = [operator("triton_poi_fused_add_0", 10 * at, 9, device=0, stream=7, grid=[1, 1, 1]) for at in range(5)]
    events = [call(), *launches, kernel("triton_poi_fused_add_0", 12, 3), copy("HtoD", 20, 2)]
    summary = fastrnns_rs.read(write(tmp_path / "x.json", events))
    assert operations(summary) == (2, 5_000)
    assert summary.devices[0].span_ns == 10_000


@pytest.mark.parametrize("name", ["hta_triton_a100", "tl_b200_vllm"])
def test_an_operator_with_a_stream_in_the_field(name: str) -> None:
    """D5 on real files: each has one."""
    path = capture(f"kineto/{name}.json.gz")
    events = reference.load(path)["traceEvents"]
    assert [event["ph"] for event in events if event.get("cat") == "cpu_op" and "stream" in event["args"]] == ["X"]
    assert operations(fastrnns_rs.read(path)) == by_category(events)


def by_category(events: list[dict[str, Any]]) -> tuple[int, int]:
    """What `operations` should find."""
    kinds = reference.KERNELS | reference.MEMORY
    durations = [reference.nanoseconds(event["dur"]) for event in events if event.get("cat") in kinds]
    return len(durations), sum(durations)


def test_the_last_step_counts_too() -> None:
    """D6: it drops the last ProfilerStep: 17,832 rows and 46.08 % idle."""
    path = capture(DDP)
    summary = fastrnns_rs.read(path)
    assert operations(summary)[0] == 22_290
    assert 1 - summary.devices[0].utilization == pytest.approx(0.4226, abs=5e-5)


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


def test_waiting_is_no_work_in_the_field() -> None:
    """D7 on a real file: it has four such rows."""
    path = capture("kineto/hta_event_sync_a100.json.gz")
    events = reference.load(path)["traceEvents"]
    assert sum(event.get("cat") == "cuda_sync" for event in events) == 4
    summary = fastrnns_rs.read(path)
    assert operations(summary) == by_category(events)
    assert (summary.devices[0].busy_ns, summary.devices[0].idle_ns) == (51_000, 212_000)


def test_no_gap_is_too_short_to_be_idle_time(tmp_path: Path) -> None:
    """D8: a threshold that is said to be 30 ns is 30 µs. Here every gap counts, and there is one total (D9)."""
    events = [call(), *(kernel("k", 30 * at, 1) for at in range(11))]
    summary = fastrnns_rs.read(write(tmp_path / "x.json", events))
    [device] = summary.devices
    assert (device.span_ns, device.busy_ns, device.idle_ns) == (301_000, 11_000, 290_000)


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
