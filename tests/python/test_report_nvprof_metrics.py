"""Metrics and events that nvprof prints, per kernel and launch by launch."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import nvprof_files
import pytest
from corpus import capture
from test_report_nvprof import report
from test_report_nvprof_csv import printed

UNITS = """==1== Metric result:
"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"
"G (0)","k(int)",2,"read","R",900.0MB/s,2.0TB/s,1.0GB/s
"G (0)","k(int)",2,"floored","Average of whole million bytes",1.5MB/s,1.6MB/s,976.5625KB/s
"G (0)","k(int)",2,"over","O",<OVERFLOW>,2.0KB/s,512B/s
"G (0)","k(int)",2,"mixed","M",1.0%,2.0KB/s,1.0KB/s
"G (0)","k(int)",2,"swapped","S",3,1,2
"G (0)","k(int)",2,"outside","S",1,3,9
"""


def test_metrics() -> None:
    path = capture("nvprof/metrics_s3d.csv")
    summary = report(path)
    lines = path.read_text().splitlines()
    first = lines.index(next(line for line in lines if line.startswith('"Device"')))
    rows = [row for row in csv.reader(lines[first + 1 :]) if len(row) == 8]
    assert len(summary["metrics"]) == len(rows) > 1000
    assert summary["captures"][0]["events_skipped"] == 0
    units = set()
    for mine, (device, kernel, invocations, name, description, *values) in zip(summary["metrics"], rows, strict=True):
        assert (mine["device"], mine["kernel"], mine["name"]) == (device, kernel, name)
        assert (mine["invocations"], mine["description"]) == (int(invocations), description)
        for key, printed_value in zip(("min", "max", "avg"), values, strict=True):
            match = re.fullmatch(r"(?:\w+ \()?([-+.0-9e]+)\)?(\D*)", printed_value)
            assert match is not None
            units.add((mine["unit"] or "", match[2]))
            assert mine[key] * SCALES[mine["unit"] or ""] == pytest.approx(
                float(match[1]) * SCALES[match[2]], rel=1e-12
            )
    # A number has a unit of its own, in which it is short.
    assert ("MB/s", "KB/s") in units


#: Units of metrics: a kilobyte has 1024 bytes, as nvprof's whole million bytes, 976.5625 KB/s, shows.
SCALES = {"": 1.0, "%": 1.0, "B/s": 1.0, "KB/s": 2.0**10, "MB/s": 2.0**20, "GB/s": 2.0**30}


def test_metrics_of_different_units(tmp_path: Path) -> None:
    path = tmp_path / "units.csv"
    path.write_text(UNITS)
    summary = report(path)
    assert [tuple(row[key] for key in ("name", "min", "max", "avg", "unit")) for row in summary["metrics"]] == [
        ("read", 900 / 2**20, 2.0, 1 / 2**10, "TB/s"),
        ("floored", 1.5, 1.6, 1e6 / 2**20, "MB/s"),
        ("over", None, 2.0, 0.5, "KB/s"),
    ]
    skipped = {one["reason"]: one["count"] for one in summary["captures"][0]["skipped"]}
    assert skipped == {"different units": 1, "inconsistent values": 2}


@pytest.mark.parametrize("unit", ["", "KB/s"])
def test_metrics_of_launches_of_different_units(unit: str, tmp_path: Path) -> None:
    """In the unit of the column, or in that of the first launch."""
    path = tmp_path / "units.csv"
    cells = "".join(f'"G (0)","1","7","k","{cell}"\n' for cell in ("512.0KB/s", "1.5MB/s", "2.0%"))
    path.write_text(f'==7== Profiling result:\n"Device","Context","Stream","Kernel","read"\n,,,,{unit}\n{cells}')
    summary = report(path)
    [row] = summary["metrics"]
    assert [row[key] for key in ("invocations", "min", "max", "avg", "unit")] == [2, 512, 1536, 1024, "KB/s"]
    assert [(one["reason"], one["count"]) for one in summary["captures"][0]["skipped"]] == [("different units", 1)]


def test_metrics_launch_by_launch(tmp_path: Path) -> None:
    """A row for each launch and a column for each metric come to what the summary of the metrics says."""
    profile = nvprof_files.write_metrics(tmp_path / "metrics.nvvp")
    totals, launches = (printed(profile, tmp_path, "--csv", *more) for more in ((), ("--print-gpu-trace",)))
    assert len(totals["metrics"]) == 6
    for one in (totals, launches):
        one["metrics"].sort(key=lambda row: (row["kernel"], row["name"]))
        for row in one["metrics"]:
            del row["description"]
    assert launches["metrics"] == totals["metrics"]


LAUNCHES = """==7== Profiling result:
"Device","Context","Stream","Kernel","ipc","utilization"
,,,,,%
"G (0)","1","7","k<"a",1>, b [3]",1.5,10.0
"G (0)","1","7","k<"a",1>, b [5]",<OVERFLOW>,"Low (2)"
"G (0)","1","7","other"
"""


def test_metrics_of_launches_in_old_releases(tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    path.write_text(LAUNCHES)
    summary = report(path)
    keys = ("kernel", "invocations", "name", "min", "max", "avg", "unit")
    assert [tuple(row[key] for key in keys) for row in summary["metrics"]] == [
        ('k<"a",1>, b', 2, "ipc", 1.5, 1.5, 1.5, None),
        ('k<"a",1>, b', 2, "utilization", 2.0, 10.0, 6.0, "%"),
    ]
    assert (summary["captures"][0]["events_read"], summary["captures"][0]["events_skipped"]) == (2, 1)
