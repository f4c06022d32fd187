"""What `report` makes of the tables that nvprof prints, against the profiles that they were printed from."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import nvprof_files
import pytest
from conftest import run_cli
from corpus import captures
from nvprof_replay import called, counted, replay
from test_report_nvprof import report

import fastrnns_rs

RAW = ("--demangling", "off")
NANOSECONDS = ("--csv", "-u", "ns")


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    return nvprof_files.write(tmp_path / "made.nvvp", 18)


def printed(profile: Path, folder: Path, *options: str) -> dict[str, Any]:
    """The summary of what nvprof prints of a profile."""
    path = folder / "printed.csv"
    path.write_text(replay(profile, folder, *options, *RAW))
    return report(path)


def test_a_trace_tells_what_the_profile_does(profile: Path, tmp_path: Path) -> None:
    ours, theirs = report(profile), printed(profile, tmp_path, *NANOSECONDS, "--print-gpu-trace")
    assert counted(theirs) == counted(ours)
    # nvprof leaves out the rows of the profile that are read as invalid, and prints their number.
    assert [warning["code"] for warning in theirs["warnings"]] == ["events_skipped"]
    skipped = {row["reason"]: row["count"] for row in theirs["captures"][0]["skipped"]}
    too_small = "invalid times, because a buffer of nvprof was too small"
    assert skipped == {"invalid record of the profile": 3, too_small: 1}
    keys = ("device_id", "name", "span_ns", "busy_ns", "idle_ns", "overlap_ns", "kernel_count")
    assert [[row[key] for key in keys] for row in theirs["devices"]] == [
        [row[key] for key in keys] for row in ours["devices"]
    ]
    shape = ("grid", "block", "registers_per_thread", "shared_memory_bytes", "median_ns", "p95_ns")
    told = [
        {(row["mangled_name"] or row["name"], row["device_id"]): [row[key] for key in shape] for row in one["kernels"]}
        for one in (ours, theirs)
    ]
    assert told[0] == told[1]
    sizes = [
        {(row["kind"], row["device_id"]): row["total_bytes"] for row in one["memory_operations"]}
        for one in (ours, theirs)
    ]
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize("options", [("--print-gpu-summary",), ("--print-gpu-summary", "--print-api-summary"), ()])
def test_a_summary_has_the_same_totals(options: tuple[str, ...], profile: Path, tmp_path: Path) -> None:
    ours, theirs = report(profile), printed(profile, tmp_path, *NANOSECONDS, *options)
    assert counted(theirs) == counted(ours)
    assert called(theirs) in ([called(ours)] if len(options) != 1 else [{}])
    assert not theirs["devices"]
    assert {row["median_ns"] for row in theirs["kernels"]} == {None}
    assert [warning["code"] for warning in theirs["warnings"]] == ["summary_only", "events_skipped"]


def test_a_summary_by_device(profile: Path, tmp_path: Path) -> None:
    ours, theirs = report(profile), printed(profile, tmp_path, *NANOSECONDS, "--print-summary-per-gpu")
    keys = ("device_id", "count", "total_ns", "min_ns", "max_ns")
    found = [
        sorted((row["mangled_name"] or row["name"], *(row[key] for key in keys)) for row in one["kernels"])
        for one in (ours, theirs)
    ]
    assert found[0] == found[1]


def test_both_traces_in_one_table(profile: Path, tmp_path: Path) -> None:
    """A call of the host has no device in it, and is no kernel."""
    ours = report(profile)
    theirs = printed(profile, tmp_path, *NANOSECONDS, "--print-gpu-trace", "--print-api-trace")
    assert (counted(theirs), called(theirs)) == (counted(ours), called(ours))
    assert [row["device_id"] for row in theirs["devices"]] == [row["device_id"] for row in ours["devices"]]


@pytest.mark.parametrize("unit", ["auto", "s", "ms", "us", "col"])
def test_units_are_those_of_the_columns(unit: str, profile: Path, tmp_path: Path) -> None:
    ours, theirs = counted(report(profile)), printed(profile, tmp_path, "--csv", "-u", unit, "--print-gpu-summary")
    # What is printed has six decimals.
    step = {"s": 500}.get(unit, 1)
    for name, (count, *times) in counted(theirs).items():
        assert ours[name][0] == count
        assert all(abs(mine - its) <= step for mine, its in zip(ours[name][1:], times, strict=True)), name


def test_totals_in_seconds_drop_no_row(tmp_path: Path) -> None:
    """What is short beside them is rounded to less than its longest run, which has another unit."""
    profile = nvprof_files.Profile(tmp_path / "long.nvvp", 18)
    for number in range(30):
        profile.kernel("long", nvprof_files.EPOCH + number, 900_000_000, number + 1)
    for number, took in enumerate((1_450, 450), 31):
        profile.kernel(f"short {took}", nvprof_files.EPOCH + number, took, number)
    path = profile.save()
    ours, theirs = counted(report(path)), printed(path, tmp_path, "--csv", "--print-gpu-summary")
    assert counted(theirs).keys() == ours.keys()
    for name, (count, *times) in counted(theirs).items():
        assert ours[name][0] == count
        assert times == pytest.approx(ours[name][1:], abs=1000)


@pytest.mark.parametrize(
    ("total", "calls", "least", "most", "is_read"),
    [
        ("5000.0", 2, "1.0", "2.0", False),
        ("0.003", 2, "2.0", "2.5", False),
        ("0.0045", 2, "2.0", "2.5", True),
        ("2.0480", 1000, "2.0479", "2.0479", True),
        ("0.002", 2**53, "0.0", "2.0", True),
    ],
)
def test_a_total_that_its_calls_cannot_have_is_skipped(
    total: str, calls: int, least: str, most: str, is_read: bool, tmp_path: Path
) -> None:
    """The mean was a second, of two calls of at most two microseconds."""
    head = '==1== Profiling result:\n"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"\n,%,ms,,us,us,us,\n'
    path = tmp_path / "summary.csv"
    path.write_text(f'{head}"GPU activities",100.0,{total},{calls},1.0,{least},{most},"k(int)"\n')
    found = report(path)
    assert len(found["kernels"]) == is_read
    [skipped] = [one["skipped"] for one in found["captures"]]
    assert [one["reason"] for one in skipped] == ["inconsistent times"] * (not is_read)


def test_totals_have_no_times_to_select(tmp_path: Path) -> None:
    """The report claimed that no GPU activity matches."""
    head = '==1== Profiling result:\n"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"\n,%,ms,,us,us,us,\n'
    path = tmp_path / "summary.csv"
    path.write_text(f'{head}"GPU activities",100.0,0.002,2,1.0,1.0,1.0,"k(int)"\n')
    for option, value in (("--since", "0ns"), ("--until", "1s"), ("--stream", "7"), ("--process", "1")):
        done = run_cli("report", path, option, value)
        assert done.status == 0
        assert "No GPU activity is known to match the selection." in done.stdout
        assert "totals are not selected" in done.stdout
    done = run_cli("report", path, "--match", "k")
    assert "totals are not selected" not in done.stdout


def test_text_has_five_digits(profile: Path, tmp_path: Path) -> None:
    ours, theirs = counted(report(profile)), counted(printed(profile, tmp_path, "--print-gpu-summary"))
    assert set(theirs) == set(ours)
    for name, (count, *times) in theirs.items():
        assert ours[name][0] == count
        assert times == pytest.approx(ours[name][1:], rel=1e-4)


def test_a_trace_in_text_is_refused(profile: Path, tmp_path: Path) -> None:
    path = tmp_path / "printed.txt"
    path.write_text(replay(profile, tmp_path, "--print-gpu-trace"))
    done = run_cli("report", str(path))
    assert done.status != 0
    assert "--csv" in done.stderr


@pytest.mark.parametrize("path", captures("nvprof/gputrace_*.csv"))
def test_traces_of_old_releases(path: Path) -> None:
    lines = path.read_text().splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith('"Start"'))
    unit = {"ms": 10**6, "us": 10**3, "ns": 1, "s": 10**9}[lines[first + 1].split(",")[1]]
    took = [round(float(row[1]) * unit) for row in csv.reader(lines[first + 2 :]) if len(row) >= 17 and row[2]]
    summary = report(path)
    assert sum(row["count"] for row in summary["kernels"]) == len(took)
    assert sum(row["total_ns"] for row in summary["kernels"]) == sum(took)
    assert summary["captures"][0]["events_skipped"] == 0
    assert [warning["code"] for warning in summary["warnings"]] == ["rounded_times"]


@pytest.mark.parametrize(
    "warning",
    [
        "7 records have invalid timestamps due to insufficient device buffer space. You can configure it.",
        "7 records have invalid timestamps due to insufficient semaphore pool size. You can configure the pool size.",
        "7 records were dropped due to insufficient device buffer space.",
        "Found 7 invalid records in the result.",
    ],
)
def test_records_that_nvprof_lost(warning: str, tmp_path: Path) -> None:
    path = tmp_path / "lost.csv"
    path.write_text(f"==7== Warning: {warning}\n{PER_GPU}")
    before = path.with_name("whole.csv")
    before.write_text(PER_GPU)
    lost, whole = (report(one)["captures"][0]["events_skipped"] for one in (path, before))
    assert lost == whole + 7
    # Which are in the trace, and took no time.
    path.write_text(f"==7== Warning: 7 API trace records have same start and end timestamps.\n{PER_GPU}")
    assert report(path)["captures"][0]["events_skipped"] == whole


def test_records_that_no_number_holds(tmp_path: Path) -> None:
    path = tmp_path / "lost.csv"
    path.write_text(f"==7== Warning: Found {2**64 - 1} invalid records in the result.\n" * 2 + PER_GPU)
    summary = fastrnns_rs.read(path)
    assert summary.captures[0].events_skipped == 2**64 - 1
    assert f"all figures lack {2**64 - 1} of {2**64 - 1} events" in [one.message for one in summary.warnings]
    summary.save(tmp_path / "summary.json")
    loaded: Any = fastrnns_rs.load(tmp_path / "summary.json")
    assert loaded.captures == summary.captures


PER_GPU = """program output, "quoted", and more
==7== NVPROF is profiling process 7, command: ./a
==7== Profiling result:
"Time(%)","Time","Calls (host)","Calls (device)","Avg","Min","Max","Name"
%,ms,,,us,us,us,
60.000000,0.006000,2,1,2.000000,1.000000,3.000000,"say "hi", twice"
40.000000,4.000000e-03,1,,4.000000,4.000000,4.000000,"[CUDA memcpy HtoD]"
broken,row

==7== API calls:
"Time(%)","Time","Calls","Avg","Min","Max","Name"
%,ms,,us,us,us,
100.000000,1.5,3,500,500,500,"cudaMalloc"
==7== NVTX result:
"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"
,%,ms,,us,us,us,
"GPU activities",100.000000,0.006000,2,3,3,3,"say "hi", twice"
"""


def test_tables_of_old_releases(tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    path.write_text(PER_GPU)
    summary = report(path)
    assert counted(summary) == {'say "hi", twice': (3, 6000, 1000, 3000), "[CUDA memcpy HtoD]": (1, 4000, 4000, 4000)}
    assert called(summary) == {"cudaMalloc": (3, 1_500_000, 500_000, 500_000)}
    [found] = summary["captures"]
    assert (found["events_read"], found["skipped"][0]["reason"]) == (4, "fewer columns than the header")
    assert found["skipped"][0]["first_offset_bytes"] == PER_GPU.index("broken")


def test_kernels_of_several_devices_are_one_row_where_they_are_asked_for_by_name(tmp_path: Path) -> None:
    table = PER_GPU.split("\n", 3)[3].partition("broken")[0].rstrip()
    path = tmp_path / "two.csv"
    sections = "\n\n".join(f'==7== Device "Tesla ({number})"\n{table}' for number in (0, 1))
    path.write_text(f"==7== NVPROF is profiling process 7, command: ./a\n==7== Profiling result:\n{sections}\n")
    apart, together = fastrnns_rs.read(path).kernels, fastrnns_rs.read(path, kernels_by="name").kernels
    assert [(row.device_id, row.count, row.total_ns) for row in apart] == [(0, 3, 6000), (1, 3, 6000)]
    assert [(row.device_id, row.count, row.total_ns, row.mean_ns) for row in together] == [(None, 6, 12_000, 2000.0)]


@pytest.mark.parametrize("fault", ["an unknown header", "a blank line"])
def test_rows_under_no_header_are_told_of(fault: str, profile: Path, tmp_path: Path) -> None:
    text = replay(profile, tmp_path, *NANOSECONDS, "--print-gpu-trace", *RAW)
    path = tmp_path / "damaged.csv"
    path.write_text(text)
    whole = report(path)["captures"][0]["events_read"]
    lines = text.splitlines(keepends=True)
    header = next(number for number, line in enumerate(lines) if line.startswith('"Start"'))
    if fault == "a blank line":
        lines.insert(header + 12, "\n")
    else:
        lines[header] = lines[header].replace('"Start"', '"Begin"')
    path.write_text("".join(lines))
    found = report(path)
    [capture] = found["captures"]
    [skipped] = [row for row in capture["skipped"] if row["reason"] == "row without a known header"]
    # An unknown header is such a row itself.
    assert capture["events_read"] + skipped["count"] == whole + (fault == "an unknown header")
    assert "events_skipped" in [warning["code"] for warning in found["warnings"]]


TRACE = """==PID== Profiling result:
"Start","Duration","Device","Stream","Name","Correlation_ID"
ms,us,,,,
1.000000,1000.0,"Tesla V100 (0)","7","kPID",1
3.000000,1000.0,"Tesla V100 (0)","7","kPID",2
"""
TOTALS = """==PID== Profiling result:
"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"
,%,ms,,ms,ms,ms,
"GPU activities",100.0,2.000000,2,1.0,1.0,1.0,"kPID"
"""


def test_processes_of_a_file_have_clocks_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "children.csv"
    path.write_text("\n".join(TRACE.replace("PID", process) for process in ("100", "200", "100")))
    found = report(path)
    keys = ("span_ns", "busy_ns", "idle_ns", "overlap_ns", "kernel_count")
    # The third table is of the first process again.
    assert [[row[key] for key in keys] for row in found["devices"]] == [
        [3_000_000, 2_000_000, 1_000_000, 2_000_000, 4],
        [3_000_000, 2_000_000, 1_000_000, 0, 2],
    ]


def test_a_trace_beside_its_summary_is_told(tmp_path: Path) -> None:
    path = tmp_path / "both.csv"
    path.write_text(f"{TRACE}\n{TOTALS}".replace("PID", "100"))
    found = report(path)
    [repeated] = [one for one in found["warnings"] if one["code"] == "activities_repeated"]
    assert repeated["evidence"] == f"{path}: 1 summary row beside a trace"
    # The time of the summary is no part of the span.
    [row] = [line for line in run_cli("report", path).stdout.splitlines() if line.startswith("k100")]
    assert row.split() == ["k100", "4.000", "-", "4", "1.000"]


def test_a_summary_that_is_there_twice_is_told(tmp_path: Path) -> None:
    """Tables of two processes are not one, however alike."""
    path, text = tmp_path / "twice.csv", TOTALS.replace("kPID", "k")
    path.write_text(f"{text}\n{text}".replace("PID", "100"))
    [repeated] = [one for one in report(path)["warnings"] if one["code"] == "activities_repeated"]
    assert repeated["evidence"] == f"{path}: 1 of 2 summary rows equal another one"
    path.write_text("\n".join(text.replace("PID", process) for process in ("100", "200")))
    assert [one["code"] for one in report(path)["warnings"]] == ["summary_only"]
