"""Launches and causes of idle time in exports of nsys, against a plain reading of their tables."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from corpus import captures
from kineto_reference import figures
from nsys_exports import BACKTRACE

import fastrnns_rs

if TYPE_CHECKING:
    from pathlib import Path

OPERATIONS = ("KERNEL", "MEMCPY", "MEMSET")
CAUSES = ("graph_gap", "unmatched", "launch", "synchronization", "allocation", "data_loader", "host", "dependency")
each_export = pytest.mark.parametrize("path", captures("nsys/*.sqlite"))
Row = dict[str, Any]


def tables(path: Path) -> dict[str, list[Row]]:
    """Operations and calls, by the last word of their table."""
    with closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as database:
        database.row_factory = sqlite3.Row
        there = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
        known = {name: f"CUPTI_ACTIVITY_KIND_{name}" for name in (*OPERATIONS, "RUNTIME")}
        rows = {
            name: [dict(row) for row in database.execute(f"SELECT * FROM {table}")] if table in there else []
            for name, table in known.items()
        }
        names = dict(database.execute("SELECT id, value FROM StringIds").fetchall())
    calls = [{**row, "name": names[row["nameId"]]} for row in rows["RUNTIME"] if row["eventClass"] != BACKTRACE]
    return {**rows, "RUNTIME": calls}


def launches(calls: list[Row]) -> dict[tuple[int, int], Row]:
    """The first call of each process and correlation."""
    found: dict[tuple[int, int], Row] = {}
    for call in calls:
        found.setdefault((call["globalTid"] >> 24, call["correlationId"]), call)
    return found


def waits(name: str) -> str | None:
    if "Synchronize" in name or ("Memcpy" in name and "Async" not in name and "Graph" not in name):
        return "synchronization"
    if any(word in name for word in ("Malloc", "Free", "HostAlloc", "MemAlloc", "HostRegister", "HostUnregister")):
        return "allocation"
    return None


def idle_causes(found: dict[str, list[Row]]) -> dict[tuple[int, str], tuple[int, int, int | None]]:
    """Pieces, nanoseconds, and nanoseconds in one stream, by device and cause."""
    of = launches(found["RUNTIME"])
    waiting: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
    for call in found["RUNTIME"]:
        if cause := waits(call["name"]):
            waiting[call["globalTid"]].append((call["start"], call["end"], cause))
    by_device: dict[tuple[int, int], list[Row]] = defaultdict(list)
    for row in (row for name in OPERATIONS for row in found[name]):
        by_device[row["globalPid"] >> 24, row["deviceId"]].append(row)
    count: Counter[tuple[int, str]] = Counter()
    total: Counter[tuple[int, str]] = Counter()
    in_stream: Counter[int] = Counter()
    for (process, device), rows in by_device.items():
        rows.sort(key=lambda row: row["start"])
        last = rows[0]
        for row in rows[1:]:
            if row["start"] > last["end"]:
                pieces = _pieces(last, row, of.get((process, row["correlationId"])), waiting)
                for start, end, cause in pieces:
                    count[device, cause] += 1
                    total[device, cause] += end - start
                    if cause == "dependency" and last["streamId"] == row["streamId"]:
                        in_stream[device] += end - start
            if row["end"] >= last["end"]:
                last = row
    return {
        (device, cause): (*sums, in_stream[device] if cause == "dependency" else None)
        for (device, cause), sums in {key: (count[key], total[key]) for key in count}.items()
    }


def _pieces(
    last: Row, row: Row, launch: Row | None, waiting: dict[int, list[tuple[int, int, str]]]
) -> list[tuple[int, int, str]]:
    start, end = last["end"], row["start"]
    nodes = last.get("graphNodeId") is not None and row.get("graphNodeId") is not None
    graph = launch is not None and "GraphLaunch" in launch["name"]
    if (nodes or graph) and last["correlationId"] == row["correlationId"]:
        return [(start, end, "graph_gap")]
    if launch is None:
        return [(start, end, "unmatched")]
    if launch["end"] <= start:
        return [(start, end, "dependency")]
    # Cut wherever anything begins or ends, and look at the middle of each.
    inside = [wait for wait in waiting[launch["globalTid"]] if wait[0] < end and wait[1] > start]
    edges = {start, end, launch["start"], *(edge for wait in inside for edge in wait[:2])}
    cuts = sorted(edge for edge in edges if start <= edge <= end)
    pieces: list[tuple[int, int, str]] = []
    for begin, stop in pairwise(cuts):
        covering = {cause for first, then, cause in inside if first <= begin and stop <= then}
        cause = next((cause for cause in CAUSES if cause in covering), "host")
        if begin >= launch["start"]:
            cause = "launch"
        if pieces and pieces[-1][2] == cause:
            pieces[-1] = (pieces[-1][0], stop, cause)
        else:
            pieces.append((begin, stop, cause))
    return pieces


@each_export
def test_launches_are_those_of_the_tables(path: Path) -> None:
    found = tables(path)
    of = launches(found["RUNTIME"])
    matched = [
        (kernel, of[key])
        for kernel in found["KERNEL"]
        if (key := (kernel["globalPid"] >> 24, kernel["correlationId"])) in of
    ]
    told = fastrnns_rs.read(path).launches
    assert told.matched_count == len(matched)
    assert told.unmatched_kernel_count == len(found["KERNEL"]) - len(matched)
    if not matched:
        assert told.latency_median_ns is None
        return
    latencies = [kernel["start"] - call["start"] for kernel, call in matched]
    queues = [max(0, kernel["start"] - call["end"]) for kernel, call in matched]
    expected = figures(latencies), figures(queues)
    assert (told.latency_median_ns, told.queue_median_ns) == tuple(one["median"] for one in expected)
    assert (told.latency_p95_ns, told.queue_p95_ns) == pytest.approx(tuple(one["p95"] for one in expected), abs=1e-3)


@each_export
def test_idle_causes_are_those_of_the_tables(path: Path) -> None:
    summary = fastrnns_rs.read(path)
    found = {(row.device_id, row.cause): (row.count, row.total_ns, row.in_stream_ns) for row in summary.idle_causes}
    assert found == idle_causes(tables(path))
    assert len(found) == len(summary.idle_causes)


@pytest.mark.parametrize("path", [*captures("kineto/*.json.gz"), *captures("nsys/*.sqlite")])
def test_causes_sum_to_idle_time(path: Path) -> None:
    summary = fastrnns_rs.read(path)
    idle: Counter[int | None] = Counter()
    for device in summary.devices:
        idle[device.device_id] += device.idle_ns
    causes: Counter[int | None] = Counter()
    for cause in summary.idle_causes:
        causes[cause.device_id] += cause.total_ns
    assert +causes == +idle
    for one, other in pairwise(summary.idle_causes):
        assert one.cause != other.cause or one.device_id != other.device_id
        assert one.device_id != other.device_id or one.total_ns >= other.total_ns
    for device in summary.devices:
        kernels, copies, idle_rows = (
            sum(row.total_ns for row in rows)
            for rows in (device.budget.kernels, device.budget.copies, device.budget.idle)
        )
        assert kernels + copies - device.budget.counted_twice_ns == device.busy_ns
        assert idle_rows == device.idle_ns
