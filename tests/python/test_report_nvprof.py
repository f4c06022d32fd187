"""What `report` makes of profiles of nvprof, against what nvprof itself says of them, to the nanosecond."""

from __future__ import annotations

import json
import random
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import nvprof_files
import pytest
from conftest import run_cli
from corpus import captures
from nvprof_replay import Ranges, called, counted, ranges, replay, totals

PRINTED = ("--csv", "--demangling", "off", "-u", "ns", "--print-gpu-summary", "--print-api-summary")
synthetic = pytest.mark.parametrize("path", captures("nvprof/synthetic_*.prof"))
each_version = pytest.mark.parametrize("version", nvprof_files.VERSIONS)


def report(*paths: Path) -> dict[str, Any]:
    """The summary of captures, as a document."""
    document: dict[str, Any] = json.loads(run_cli("report", *map(str, paths), "--json").stdout)
    return document


def assert_same(path: Path, folder: Path) -> None:
    """Whether nvprof counts what we count."""
    summary, printed = report(path), replay(path, folder, *PRINTED)
    assert counted(summary) == totals(printed, "GPU activities")
    assert called(summary) == totals(printed, "API calls")
    # What it calls invalid is what we skip; each of its warnings counts for itself.
    invalid = sum(map(int, re.findall(r"Found (\d+) invalid", printed)))
    invalid += sum(map(int, re.findall(r"Warning: (\d+) records have invalid", printed)))
    assert summary["captures"][0]["events_skipped"] == invalid


@synthetic
def test_agrees_with_nvprof(path: Path, tmp_path: Path) -> None:
    assert_same(path, tmp_path)


@each_version
def test_agrees_with_nvprof_on_profiles_made_here(version: int, tmp_path: Path) -> None:
    assert_same(nvprof_files.write(tmp_path / "made.nvvp", version), tmp_path)


def ranged(summary: dict[str, Any]) -> Ranges:
    """What we say of ranges."""
    keys = ("count", "host_total_ns", "gpu_inclusive_ns", "kernel_count")
    return {(row["name"], row["domain"]): tuple(row[key] for key in keys) for row in summary["ranges"]}


@synthetic
def test_ranges_are_those_of_nvprof(path: Path, tmp_path: Path) -> None:
    """One is ended by another thread, one never ends, some have namesakes within them."""
    found = ranged(report(path))
    assert found == ranges(replay(path, tmp_path, "--csv", "--demangling", "off", "-u", "ns"))
    assert {name for name, _ in found} >= {"across threads", "step", "forward"}


@pytest.mark.parametrize("seed", range(4))
def test_any_ranges_are_those_of_nvprof(seed: int, tmp_path: Path) -> None:
    path = nvprof_files.write_ranges(tmp_path / "made.nvvp", random.Random(seed))
    printed = ranges(replay(path, tmp_path, "--csv", "--demangling", "off", "-u", "ns"))
    assert ranged(report(path)) == printed
    assert len(printed) > 4


def test_versions_give_one_answer(tmp_path: Path) -> None:
    summaries = [report(nvprof_files.write(tmp_path / "made.nvvp", version)) for version in nvprof_files.VERSIONS]
    for summary, version in zip(summaries, nvprof_files.VERSIONS, strict=True):
        [capture] = summary["captures"]
        assert (capture["format"], capture["format_version"]) == ("nvprof-sqlite", str(version))
        assert {one["reason"]: one["count"] for one in capture["skipped"]} == nvprof_files.SKIPPED
        for key in ("sha256", "size_bytes", "format_version"):
            del capture[key]
    assert all(summary == summaries[0] for summary in summaries)


def test_events_are_all_rows_of_activities(tmp_path: Path) -> None:
    path = nvprof_files.write(tmp_path / "made.nvvp", 26)
    [capture] = report(path)["captures"]
    with closing(sqlite3.connect(path)) as database:
        tables = [table for table in nvprof_files.LAYOUT if table not in {"DEVICE", "CONTEXT"}]
        rows = sum(
            database.execute(f"SELECT count(*) FROM CUPTI_ACTIVITY_KIND_{table}").fetchone()[0] for table in tables
        )
    assert capture["events_read"] + capture["events_skipped"] == rows


def test_names_are_demangled_and_kept(tmp_path: Path) -> None:
    summary = report(nvprof_files.write(tmp_path / "made.nvvp", 18))
    names = {(row["name"], row["mangled_name"]) for row in summary["kernels"]}
    assert ("axpy(float const*, float*, int, float)", nvprof_files.KERNELS[0]) in names
    assert {(name, None) for name in ("lstm_cell_fused", 'odd "name", with both', "größe_π", "_Znonsense")} <= names
    # What reads the same is still two functions.
    assert {("(anonymous namespace)::step()", twin) for twin in nvprof_files.TWINS} <= names
    assert {row["name"] for row in summary["devices"]} == set(nvprof_files.DEVICES)
    assert {row["process_id"] for row in summary["devices"]} == {nvprof_files.PROCESS}


def test_a_missing_name_ends_nothing(tmp_path: Path) -> None:
    profile = nvprof_files.Profile(tmp_path / "made.nvvp", 18)
    for number, name in enumerate(["first", 4000, "last"], 1):
        profile.kernel(name, nvprof_files.EPOCH + 1000 * number, 500, number)
    profile.call(999, nvprof_files.EPOCH, 10, 1)
    summary = report(profile.save())
    assert {row["name"] for row in summary["kernels"]} == {"first", "[string 4000]", "last"}
    assert [row["name"] for row in summary["api_calls"]] == ["[cbid 999]"]
    assert [warning["code"] for warning in summary["warnings"]] == ["names_missing", "unmatched_launches"]


def test_kernels_of_graphs_and_of_metrics_are_told(tmp_path: Path) -> None:
    profile = nvprof_files.Profile(tmp_path / "made.nvvp", 22)
    profile.kernel("alone", 5_000_000, 100, 1, table="KERNEL", completed=0)
    summary = report(profile.save())
    assert [(row["name"], row["total_ns"]) for row in summary["kernels"]] == [("alone", 100)]
    assert [warning["code"] for warning in summary["warnings"]] == ["serialized_kernels"]
    profile = nvprof_files.Profile(tmp_path / "graphs.nvvp", 22)
    profile.database.execute(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (_id_ INTEGER PRIMARY KEY, correlationId INT, start INT, end INT)"
    )
    profile.database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1, 1, 10, 20)")
    summary = report(profile.save())
    assert summary["captures"][0]["graph_level"]
    assert "graph_level_capture" in [warning["code"] for warning in summary["warnings"]]


@pytest.mark.parametrize(
    ("names", "tables"),
    [
        (("made.nvvp", "trace.csv"), ["trace.csv"]),
        (("summary.csv", "trace.csv"), ["summary.csv", "trace.csv"]),
        (("made.nvvp", "text.txt"), ["text.txt"]),
        # A summary of calls repeats no GPU activity, and tables of one kind are of several programs.
        (("calls.csv", "trace.csv"), []),
        (("summary.csv", "text.txt"), []),
    ],
)
def test_tables_beside_their_profile_count_twice_and_have_a_warning(
    names: tuple[str, str], tables: list[str], tmp_path: Path
) -> None:
    made = nvprof_files.write(tmp_path / "made.nvvp", 18)
    printed = {
        "trace.csv": ("--csv", "-u", "ns", "--print-gpu-trace"),
        "summary.csv": ("--csv", "-u", "ns", "--print-gpu-summary"),
        "calls.csv": ("--csv", "-u", "ns", "--print-api-summary"),
        "text.txt": ("--print-gpu-summary",),
    }
    (folder := tmp_path / "given").mkdir()
    for name in names:
        text = made.read_bytes() if name not in printed else replay(made, tmp_path, *printed[name]).encode()
        (folder / name).write_bytes(text)
    # A folder without a manifest is read as its files are.
    expected = [", ".join(str(folder / name) for name in tables)] if tables else []
    compared = json.loads(run_cli("compare", str(folder), str(made), "--force", "--json").stdout)
    for found in (report(*(folder / name for name in names)), report(folder), compared):
        assert [one["evidence"] for one in found["warnings"] if one["code"] == "same_capture_twice"] == expected
