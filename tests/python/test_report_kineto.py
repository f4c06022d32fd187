"""Traces of torch's profiler, read: the figures are those of the definitions, on the field's files and on our own."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import kineto_reference as reference
import pytest
from conftest import ROOT
from corpus import capture, captures
from kineto_traces import by_dice, call, document, kernel, write

import fastrnns_rs
from fastrnns_rs.documents.summary import SummaryDocument

#: Of our own, on a GPU.
H100 = ROOT / "tests" / "data" / "h100" / "cudnn.json.gz"


def close(value: float) -> Any:
    return pytest.approx(value, rel=1e-12, abs=0)


def assert_figures(row: Any, unit: str, expected: dict[str, Any]) -> None:
    """One row's figures of times or sizes, where it has them."""
    assert (row.count, getattr(row, f"total_{unit}")) == (expected["count"], expected["total"])
    for key in ("min", "max"):
        assert getattr(row, f"{key}_{unit}") == expected[key]
    for key in ("mean", "median", "stddev", "p95"):
        found = getattr(row, f"{key}_{unit}", expected[key])
        assert (found is None) == (expected[key] is None)
        assert found is None or found == close(expected[key]), (key, row)


def check(summary: SummaryDocument, expected: dict[str, Any]) -> None:
    """All tables of a summary against the reference's."""
    [source] = summary.captures
    assert source.events_read + source.events_skipped == expected["events"]
    devices = {row.device_id: row for row in summary.devices}
    assert devices.keys() == expected["devices"].keys()
    assert len(devices) == len(summary.devices)
    for device_id, row in devices.items():
        found = {"span": row.span_ns, "busy": row.busy_ns, "idle": row.idle_ns, "overlap": row.overlap_ns}
        found["exposed"] = row.exposed_communication_ns
        assert found == expected["devices"][device_id]
        assert row.end_ns - row.start_ns == row.span_ns
        assert row.utilization == (close(row.busy_ns / row.span_ns) if row.span_ns else None)
        of_device = [figures for (_, device), figures in expected["kernels"].items() if device == device_id]
        assert row.kernel_count == sum(figures["count"] for figures in of_device)
        assert row.kernel_total_ns == sum(figures["total"] for figures in of_device)
    assert {(row.device_id, row.stream_id): row.busy_ns for row in summary.streams} == expected["queues"]
    assert len(summary.streams) == len(expected["queues"])
    check_kernels(summary, expected)
    assert {(row.kind, row.device_id) for row in summary.memory_operations} == expected["memory"].keys()
    assert len(summary.memory_operations) == len(expected["memory"])
    for memory in summary.memory_operations:
        times, sizes = expected["memory"][memory.kind, memory.device_id]
        assert_figures(memory, "ns", times)
        assert (memory.total_bytes is None) == (sizes is None)
        if sizes is not None:
            assert_figures(memory, "bytes", sizes)
            bandwidth = close(sizes["total"] / times["total"]) if times["total"] else None
            assert memory.bandwidth_gb_per_s == bandwidth
    assert [row.name for row in summary.api_calls] == sorted(
        expected["calls"], key=lambda name: (-expected["calls"][name]["total"], name)
    )
    for call_row in summary.api_calls:
        assert_figures(call_row, "ns", expected["calls"][call_row.name])


def check_kernels(summary: SummaryDocument, expected: dict[str, Any]) -> None:
    assert {(row.name, row.device_id) for row in summary.kernels} == expected["kernels"].keys()
    assert len(summary.kernels) == len(expected["kernels"])
    assert [row.total_ns for row in summary.kernels] == sorted((row.total_ns for row in summary.kernels), reverse=True)
    total = sum(row.total_ns for row in summary.kernels)
    categories: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in summary.kernels:
        assert_figures(row, "ns", expected["kernels"][row.name, row.device_id])
        span = expected["devices"][row.device_id]["span"]
        assert row.kernel_time_fraction == (close(row.total_ns / total) if total else None)
        assert row.span_fraction == (close(row.total_ns / span) if span else None)
        assert row.short_name in row.name
        categories[row.category][0] += row.count
        categories[row.category][1] += row.total_ns
    assert {row.name: [row.count, row.total_ns] for row in summary.categories} == categories
    for category in summary.categories:
        assert category.kernel_time_fraction == (close(category.total_ns / total) if total else None)


@pytest.fixture(scope="module", params=[*captures("kineto/*.json*"), H100])
def field(request: pytest.FixtureRequest) -> Path:
    """Each file of the field, with all tests of one in a row."""
    path: Path = request.param
    return path


def test_a_file_of_the_field_is_read_as_defined(field: Path) -> None:
    summary = fastrnns_rs.read(field)
    check(summary.document, reference.summarize(field))
    [source] = summary.captures
    assert (source.format, source.events_skipped, source.skipped) == ("kineto", 0, [])
    assert (source.size_bytes, source.path) == (field.stat().st_size, str(field))


def test_what_launches_of_a_kernel_share_is_told(field: Path) -> None:
    """And what they do not share is null. Read by shape, rows are those of each name, grid and block."""
    keys = {"grid": "grid", "block": "block", "registers_per_thread": "registers per thread"}
    keys["shared_memory_bytes"] = "shared memory"
    seen: dict[Any, dict[str, set[Any]]] = defaultdict(lambda: defaultdict(set))
    shapes: dict[Any, list[int]] = defaultdict(list)
    for event in reference.load(field)["traceEvents"]:
        if event.get("ph") == "X" and event.get("cat") in reference.KERNELS:
            arguments = event["args"]
            for ours, theirs in keys.items():
                value = arguments.get(theirs)
                seen[event["name"], arguments["device"]][ours].add(tuple(value) if isinstance(value, list) else value)
            shape = (tuple(arguments.get("grid", ())), tuple(arguments.get("block", ())))
            shapes[event["name"], *shape].append(reference.nanoseconds(event["dur"]))
    for row in fastrnns_rs.read(field).kernels:
        for ours, values in seen[row.name, row.device_id].items():
            found = getattr(row, ours)
            assert (tuple(found) if isinstance(found, list) else found) == (values.pop() if len(values) == 1 else None)
    rows = fastrnns_rs.read(field, kernels_by="shape").kernels
    assert {(row.name, tuple(row.grid or ()), tuple(row.block or ())) for row in rows} == shapes.keys()
    for row in rows:
        assert_figures(row, "ns", reference.figures(shapes[row.name, tuple(row.grid or ()), tuple(row.block or ())]))


def test_a_capture_of_a_gpu_has_our_ranges_and_iterations() -> None:
    """Backward launches its kernels from a thread of autograd's, and its range owns them."""
    summary = fastrnns_rs.read(H100)
    assert summary.warnings == []
    assert {row.name: (row.count, row.kernel_count) for row in summary.ranges if "##" in row.name} == {
        "## forward ##": (3, 9),
        "## backward ##": (3, 42),
    }
    assert [row.index for row in summary.iterations] == [2, 3, 4]
    # The GPU waits for the host, which launches one small kernel after the other.
    assert all(row.gpu_busy_ns < row.gpu_ns < row.host_ns for row in summary.iterations)
    assert {row.category for row in summary.kernels} <= {
        "gemm",
        "elementwise",
        "cudnn_rnn_persistent",
        "cudnn_rnn_step",
    }


def test_hardly_any_time_of_the_field_is_without_a_category() -> None:
    totals: dict[str, int] = defaultdict(int)
    for path in capture("kineto/hta_v100_ddp.json.gz").parent.glob("*.json*"):
        for row in fastrnns_rs.read(path).categories:
            totals[row.name] += row.total_ns
    assert totals["other"] <= 0.03 * sum(totals.values()), totals


@pytest.mark.parametrize("seed", range(8))
def test_a_trace_by_dice_is_read_as_defined(seed: int, tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", by_dice(seed))
    check(fastrnns_rs.read(path).document, reference.summarize(path))


def test_processes_and_threads_may_be_words(tmp_path: Path) -> None:
    """In 2021 queues were called `stream 7`, and spans are things of their own to this day."""
    events = [
        {**kernel("a", 10, 4), "pid": "0", "tid": "stream 7"},
        {**kernel("b", 12, 4), "tid": "stream 9", "pid": "0"},
        {**call(), "pid": "100", "tid": "thread 5"},
        {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "", "ts": 0, "dur": 9e9},
        {"ph": "X", "cat": "Trace", "name": "Iteration 1", "pid": "Traces", "tid": "Trace", "ts": 0, "dur": 9e9},
    ]
    for event in events[:2]:
        del event["args"]["device"], event["args"]["stream"]
    summary = fastrnns_rs.read(write(tmp_path / "x.json", events))
    [device] = summary.devices
    assert (device.device_id, device.process_id, device.busy_ns) == (0, 100, 6_000)
    assert [(row.device_id, row.stream_id) for row in summary.streams] == [(0, 7), (0, 9)]
    assert (summary.captures[0].events_read, summary.captures[0].events_skipped) == (5, 0)


@pytest.mark.parametrize(
    ("start", "duration", "expected"),
    [
        ("1712195495506161", "2", (1712195495506161000, 1712195495506163000)),
        ("1712195495506161.000", "2.000", (1712195495506161000, 1712195495506163000)),
        ("1.712195495506161e15", "20e-1", (1712195495506161000, 1712195495506163000)),
        ("1712195495506161.231", "0.001", (1712195495506161231, 1712195495506161232)),
        ("1712195495506161.999", "9.998", (1712195495506161999, 1712195495506171997)),
        ('"1712195495506161.231"', '"0.001"', (1712195495506161231, 1712195495506161232)),
        ("0", "0", (0, 0)),
        ("-5.5", "1", (-5500, -4500)),
    ],
)
def test_no_nanosecond_is_lost(start: str, duration: str, expected: tuple[int, int], tmp_path: Path) -> None:
    event = kernel("a", 777_777, 888_888)
    text = json.dumps(document([event])).replace("777777", start).replace("888888", duration)
    [device] = fastrnns_rs.read(write(tmp_path / "x.json", text)).devices
    assert (device.start_ns, device.end_ns) == expected
