"""What `report` makes of exports of nsys, against nsys' own figures and a plain look into the tables.

Where `nsys stats` is the reference it reads a copy: it may write to what it reads.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from commands import run_cli
from corpus import capture, captures
from kineto_reference import coverage
from nsys_exports import BACKTRACE, Export, found, stats, thread
from real_nsys import nsys_is_here

import fastrnns_rs
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.report.capture_reader import Inductor
from fastrnns_rs.verbs.report.capture_summary import Summary

EXPORTS = captures("nsys/*.sqlite")
each_export = pytest.mark.parametrize("path", EXPORTS)

REPORTS = ("gpukernsum", "gpumemtimesum", "gpumemsizesum", "cudaapisum")
OPERATIONS = ("KERNEL", "MEMCPY", "MEMSET")
Row = dict[str, str]


def without(path: Path, copy: Path, condition: str) -> Path:
    """A copy without the rows of operations and calls for which this holds; columns that a table lacks are NULL."""
    shutil.copyfile(path, copy)
    with closing(sqlite3.connect(copy)) as database:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for table in {f"CUPTI_ACTIVITY_KIND_{one}" for one in (*OPERATIONS, "RUNTIME")} & tables:
            columns = {one[1] for one in database.execute(f"PRAGMA table_info({table})")}
            missing = "".join(f", NULL AS {one}" for one in {"deviceId", "eventClass"} - columns)
            where = f"rowid IN (SELECT id FROM (SELECT rowid AS id, *{missing} FROM {table}) WHERE {condition})"
            database.execute(f"DELETE FROM {table} WHERE {where}")
        database.commit()
    return copy


def printed(exact: float | None, text: str, digits: int) -> bool:
    """Whether nsys' text is this number to the digits that it prints; of a single one it says the deviation is 0."""
    return abs((exact or 0.0) - float(text)) <= 0.5 * 10**-digits + 1e-9 * abs(float(text))


def assert_same_times(ours: Any, theirs: Row, count: str) -> None:
    """Counts and sums to the last digit, what is divided as far as it is printed."""
    exact = (ours.count, ours.total_ns, ours.min_ns, ours.max_ns)
    assert exact == tuple(int(theirs[key]) for key in (count, "Total Time (ns)", "Min (ns)", "Max (ns)"))
    for value, key in ((ours.mean_ns, "Avg"), (ours.median_ns, "Med"), (ours.stddev_ns, "StdDev")):
        assert printed(value, theirs[f"{key} (ns)"], 1), (key, value, theirs)


def by_key(found: Iterable[Any], key: Any) -> dict[Any, Any]:
    """The rows by what tells them apart."""
    listed = [(key(one), one) for one in found]
    assert len({one for one, _ in listed}) == len(listed), "two rows have the same name"
    return dict(listed)


def operation(kind: str) -> str:
    """The name that nsys gives to a kind of copies or sets."""
    return f"[CUDA {'Unified Memory ' * ('UM ' in kind)}{kind.replace('UM ', '')}]"


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """nsys' figures of a capture, without the rows for which a condition holds. Each is asked for once."""
    known: dict[tuple[Path, str], dict[str, list[Row]]] = {}

    def find(path: Path, condition: str = f"eventClass = {BACKTRACE}") -> dict[str, list[Row]]:
        if (path, condition) not in known:
            copy = tmp_path_factory.mktemp("reference") / path.name
            known[path, condition] = stats(without(path, copy, condition), *REPORTS)
        return known[path, condition]

    return find


@nsys_is_here
@each_export
def test_rows_by_launch_shape_are_those_of_nsys(path: Path, reference: Any) -> None:
    summary = fastrnns_rs.read(path, kernels_by="shape")
    theirs = by_key(reference(path)["gpukernsum"], lambda row: (row["Name"], row["GridXYZ"], row["BlockXYZ"]))

    def shape(extent: list[int]) -> str:
        return " ".join(f"{one:4d}" for one in extent)

    ours = by_key(summary.kernels, lambda row: (row.name, shape(row.grid), shape(row.block)))
    assert set(ours) == set(theirs)
    for key, row in ours.items():
        assert_same_times(row, theirs[key], "Instances")
        assert printed(row.kernel_time_fraction * 100, theirs[key]["Time (%)"], 1)
    # Both list what took longest first.
    assert [row.total_ns for row in summary.kernels] == [int(row["Total Time (ns)"]) for row in theirs.values()]


@nsys_is_here
@each_export
def test_copies_and_sets_are_those_of_nsys(path: Path, reference: Any) -> None:
    """nsys has a row a kind, `report` one a kind and device: it is asked for one device at a time."""
    summary = fastrnns_rs.read(path)
    numbers = sorted({row.device_id for row in summary.memory_operations})
    in_file = {
        device
        for one in OPERATIONS[1:]
        for (device,) in found(path, f"SELECT DISTINCT deviceId FROM CUPTI_ACTIVITY_KIND_{one}")
    }
    assert numbers == sorted(in_file)
    for device in numbers:
        theirs = reference(path, f"deviceId <> {device}")
        times = by_key(theirs["gpumemtimesum"], lambda row: row["Operation"])
        sizes = by_key(theirs["gpumemsizesum"], lambda row: row["Operation"])
        mine = (row for row in summary.memory_operations if row.device_id == device)
        ours = by_key(mine, lambda row: operation(row.kind))
        assert set(ours) == set(times) == set(sizes)
        for key, row in ours.items():
            assert_same_times(row, times[key], "Count")
            assert row.count == int(sizes[key]["Count"])
            for name, column in (
                ("total", "Total"),
                ("mean", "Avg"),
                ("median", "Med"),
                ("min", "Min"),
                ("max", "Max"),
            ):
                assert printed(getattr(row, f"{name}_bytes") / 1e6, sizes[key][f"{column} (MB)"], 3), (key, name)
            assert printed((row.stddev_bytes or 0.0) / 1e6, sizes[key]["StdDev (MB)"], 3)


@nsys_is_here
@each_export
def test_calls_are_those_of_nsys(path: Path, reference: Any) -> None:
    """Compared with the ordinary rows: what else nsys counts stands in the next test.

    nsys takes away versions of four digits only.
    """
    summary = fastrnns_rs.read(path)
    theirs = by_key(reference(path)["cudaapisum"], lambda row: re.sub(r"_v\d{4,}$", "", row["Name"]))
    ours = by_key(summary.api_calls, lambda row: row.name)
    assert set(ours) == set(theirs)
    for key, row in ours.items():
        assert_same_times(row, theirs[key], "Num Calls")


@nsys_is_here
def test_nsys_counts_a_call_twice_where_backtraces_were_collected(reference: Any) -> None:
    """Such a row has the correlation of the call, surrounds it, and has its name without the version.

    nsys lists both, under one name. `report` counts the calls, and both rows as events.
    """
    path = capture("nsys/saxpy_mpi_a100_2022.2.sqlite")
    table = "CUPTI_ACTIVITY_KIND_RUNTIME"
    join = f"FROM {table} a JOIN {table} b USING (correlationId, globalTid) WHERE a.eventClass = {BACKTRACE}"
    [(repeated,)] = found(path, f"SELECT count(*) FROM {table} WHERE eventClass = {BACKTRACE}")
    [(around,)] = found(path, f"SELECT count(*) {join} AND b.eventClass = 0 AND a.start < b.start AND a.end > b.end")
    assert around == repeated == 38
    theirs = [(row["Name"], int(row["Num Calls"])) for row in reference(path, "0")["cudaapisum"]]
    doubled = {name: count for name, count in theirs if theirs.count((name, count)) == 2}
    assert doubled == {"cudaMemcpy": 15, "cudaMalloc": 15, "cudaLaunchKernel": 5, "cudaFree": 3}
    summary = fastrnns_rs.read(path)
    ours = {row.name: row.count for row in summary.api_calls}
    assert {name: ours[name] for name in doubled} == doubled
    [(calls,)] = found(path, f"SELECT count(*) FROM {table}")
    assert sum(ours.values()) == calls - repeated


def operations(path: Path) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """What ran on each device of each process, from when to when."""
    listed = defaultdict(list)
    for one in OPERATIONS:
        sql = f"SELECT (globalPid >> 24) & 0xffffff, deviceId, start, end FROM CUPTI_ACTIVITY_KIND_{one}"
        for process, device, start, end in found(path, sql):
            listed[process, device].append((start, end))
    return listed


@each_export
def test_busy_and_idle_time_are_of_one_union(path: Path) -> None:
    """Every figure of a device agrees with one sweep over its operations, and so with every other."""
    summary = fastrnns_rs.read(path)
    expected = operations(path)
    ours = by_key(summary.devices, lambda row: (row.process_id, row.device_id))
    assert set(ours) == set(expected)
    for key, row in ours.items():
        first, last = min(start for start, _ in expected[key]), max(end for _, end in expected[key])
        assert (row.start_ns, row.end_ns, row.span_ns) == (first, last, last - first)
        assert (row.busy_ns, row.overlap_ns) == coverage(expected[key])
        assert row.busy_ns + row.idle_ns == row.span_ns
        assert row.utilization == pytest.approx(row.busy_ns / row.span_ns, rel=1e-12)


@each_export
def test_the_streams_of_a_device_are_swept_alike(path: Path) -> None:
    summary = fastrnns_rs.read(path)
    expected = defaultdict(lambda: defaultdict(list))
    for one in OPERATIONS:
        sql = f"SELECT deviceId, streamId, globalPid, start, end FROM CUPTI_ACTIVITY_KIND_{one}"
        for device, stream, process, *interval in found(path, sql):
            expected[device, stream][process].append(tuple(interval))
    ours = by_key(summary.streams, lambda row: (row.device_id, row.stream_id))
    assert set(ours) == set(expected)
    for key, row in ours.items():
        assert row.busy_ns == sum(coverage(intervals)[0] for intervals in expected[key].values())
        assert row.total_ns == sum(end - start for intervals in expected[key].values() for start, end in intervals)


@each_export
def test_every_row_of_every_table_of_events_is_told(path: Path) -> None:
    """A table of events says when something happened, whatever it is called."""
    tables = [name for (name,) in found(path, "SELECT name FROM sqlite_master WHERE type = 'table'")]
    count = 0
    for name in tables:
        columns = {column for _, column, *_ in found(path, f'PRAGMA table_info("{name}")')}
        if name.startswith("CUPTI_ACTIVITY_KIND_") or columns & {"start", "timestamp"}:
            count += found(path, f'SELECT count(*) FROM "{name}"')[0][0]
    [entry] = fastrnns_rs.read(path).captures
    assert count > 0
    assert entry.events_read + entry.events_skipped == count
    assert sum(one.count for one in entry.skipped) == entry.events_skipped
    assert (entry.format, entry.size_bytes, entry.graph_level) == ("nsys-sqlite", path.stat().st_size, False)


def test_selections_of_devices_leave_no_trace_of_others() -> None:
    path = capture("nsys/h100_2gpu_2026.2.sqlite")
    whole, one = fastrnns_rs.read(path), fastrnns_rs.read(path, devices=[1])

    def of_it(summary: Summary) -> list[Any]:
        return [
            {**asdict(row), "device": None}
            for table in (summary.devices, summary.memory_operations, summary.streams)
            for row in table
            if row.device_id == 1
        ]

    assert of_it(whole) == of_it(one)
    assert {row.device_id for table in (one.devices, one.kernels, one.memory_operations) for row in table} == {1}


@each_export
def test_devices_alone_are_the_same_without_the_host(path: Path) -> None:
    """Calls and ranges are left out, and with them the causes of idle time."""
    whole, alone = fastrnns_rs.read(path), fastrnns_rs.read(path, extent="devices")
    assert (alone.kernels, alone.memory_operations, alone.streams) == (
        *(whole.kernels, whole.memory_operations, whole.streams),
    )
    assert [(one.span_ns, one.busy_ns) for one in alone.devices] == [
        (one.span_ns, one.busy_ns) for one in whole.devices
    ]
    assert (alone.api_calls, alone.ranges, alone.launches.matched_count) == ([], [], 0)
    for by in ("kernel", "category", "memory", "stream", "device", "launch-shape"):
        options = {"kernels_by": "shape" if by == "launch-shape" else "device"}
        whole, alone = (fastrnns_rs.read(path, extent=extent, **options) for extent in ("whole", "devices"))
        assert whole.render("csv", view=by) == alone.render("csv", view=by)


def test_a_device_that_only_copied_has_no_part_in_the_time_of_kernels(tmp_path: Path) -> None:
    path = tmp_path / "one.sqlite"
    shutil.copyfile(capture("nsys/h100_2gpu_2026.2.sqlite"), path)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE deviceId = 1")
    shown = [
        fastrnns_rs.read(path, kernels_by="name", extent=extent).render(view="kernel")
        for extent in ("whole", "kernels")
    ]
    kernels = [text.partition("Kernels\n")[2] for text in shown]
    assert kernels[0] == kernels[1] != ""
    assert "per GPU" not in kernels[0]
    with pytest.raises(UsageError, match=r"'host' \(extent\)"):
        fastrnns_rs.read(path, extent="host")  # type: ignore[arg-type]


def test_a_damaged_copy_is_an_error_of_views_of_kernels_too(tmp_path: Path) -> None:
    path = tmp_path / "damaged.sqlite"
    shutil.copyfile(capture("nsys/h100_2gpu_2026.2.sqlite"), path)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET end = start - 1 WHERE rowid = 1")
    for words in ([], ["--by", "memory"], ["--by", "kernel"], ["--by", "kernel", "--format", "csv"]):
        assert run_cli("report", path, "--strict", *words).status == 1


@each_export
def test_kernels_alone_are_the_same_without_copies(path: Path) -> None:
    whole, alone = fastrnns_rs.read(path), fastrnns_rs.read(path, extent="kernels")
    assert [replace(row, span_fraction=None) for row in alone.kernels] == [
        replace(row, span_fraction=None) for row in whole.kernels
    ]
    assert (alone.categories, alone.memory_operations, alone.api_calls) == (whole.categories, [], [])
    busy = {row.device_id: row.kernel_total_ns for row in alone.devices}
    assert busy == {row.device_id: row.kernel_total_ns for row in whole.devices if row.kernel_count}
    # The command reads no more for views of kernels, unless a window begins with the first operation.
    for by, kernels_by in (("kernel", "name"), ("launch-shape", "shape"), ("category", "device")):
        for since in (None, 0):
            window = [] if since is None else ["--since", f"{since}ns"]
            summary = fastrnns_rs.read(path, kernels_by=kernels_by, since_ns=since)
            shown, printed = summary.render(view=by), run_cli("report", path, "--by", by, *window).stdout
            # The command prints warnings, which come first, to stderr.
            assert shown.endswith(printed)
            assert summary.warnings or shown == printed


@pytest.mark.parametrize("extent", ["whole", "devices", "kernels"])
def test_other_arguments_find_the_tables_that_they_need(extent: Any, tmp_path: Path) -> None:
    export, main = Export(tmp_path / "x.sqlite"), thread(100, 1)
    export.range("step", 0, 900, main)
    export.copy(100, 200, main, 1)
    for place, start in enumerate((300, 500), 2):
        export.call(start - 10, start - 5, main, place)
        export.kernel(start, start + 50, main, place)
    path = export.written()
    # The window starts at the copy.
    for window, count in (({"until_ns": 300}, 1), ({"since_ns": 300}, 1), ({"until_ns": 150}, 0)):
        kernels = fastrnns_rs.read(path, extent=extent, **window).kernels
        assert sum(row.count for row in kernels) == count, window
    assert len(fastrnns_rs.read(path, extent=extent, iteration_range="step").iterations) == 1
    view = fastrnns_rs.read(path, extent=extent, inductor=Inductor(wall_time_ms=0.001)).inductor
    assert view is not None
    assert view.busy_fraction == pytest.approx(0.2)
