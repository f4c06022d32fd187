"""Reports of nsys and their exports in one folder: which of the two is read."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import fake_tools
import pytest
from test_report_opening import KERNELS, TINY
from test_report_sources import EXPORT, STREAM, failed, file, names, report, temporary

import fastrnns_rs
from fastrnns_rs._core import Trace
from fastrnns_rs.verbs.report.export_pairs import is_export

__all__ = ["temporary"]

EVENTS = "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end)"
STRINGS = "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)"


def database(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as opened:
        opened.executescript(";".join(statements))
    return path


def pair(folder: Path, age_s: int) -> tuple[Path, Path]:
    """A report, and an export without kernels that is older by this time."""
    written, export = file(folder / "x.nsys-rep"), fake_tools.nsys_database(folder / "x.sqlite")
    os.utime(written, ns=(10**18, 10**18))
    os.utime(export, ns=(10**18, 10**18 - age_s * 10**9))
    return written, export


def read(folder: Path, tool: Path) -> tuple[list[str], list[str]]:
    """The captures of a folder, and the codes of warnings."""
    summary = fastrnns_rs.read(folder, nsys_path=str(tool))
    return [Path(one.path).name for one in summary.captures], [one.code for one in summary.warnings]


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    return fake_tools.nsys(tmp_path / "bin" / "nsys", export=EXPORT)


def test_a_report_counts_where_its_export_is_older(tmp_path: Path, tool: Path) -> None:
    folder = tmp_path / "a folder"
    written, export = pair(folder, age_s=1)
    assert names(folder, nsys=tool) == TINY
    assert read(folder, tool) == (["x.nsys-rep"], ["files_left_out"])
    [warning] = fastrnns_rs.read(folder, nsys_path=str(tool)).warnings
    assert warning.message == "figures do not include 1 nsys export: its report is newer"
    assert warning.evidence == f"{export}: older than x.nsys-rep"
    assert f"fastrnns-rs report '{export}'" in str(warning.hint)
    done = report(folder, "--nsys-path", tool)
    assert (done.status, "warning[files_left_out]: figures do not include" in done.stdout) == (0, True)
    for age_s in (0, -1):
        pair(folder, age_s)
        assert read(folder, tool)[0] == ["x.sqlite"]
    # A stream is older than the report that it became.
    stream = file(folder / "x.qdstrm", STREAM)
    os.utime(stream, ns=(10**18, 10**18 - 2 * 10**9))
    pair(folder, age_s=1)
    assert read(folder, tool) == (["x.nsys-rep"], ["files_left_out"])
    written.unlink()
    assert read(folder, tool)[0] == ["x.sqlite"]


def test_without_nsys_an_older_export_is_named(tmp_path: Path) -> None:
    _, export = pair(tmp_path / "x", age_s=1)
    error, hint = failed(report(tmp_path / "x", "--nsys-path", tmp_path / "none"), 2)
    assert "no capture in folder" in error
    assert f"fastrnns-rs report {export}" in hint


def test_captures_of_folders_are_compared_with_this_warning(tmp_path: Path, tool: Path) -> None:
    for name in "ab":
        pair(tmp_path / name, age_s=1)
    found = fastrnns_rs.compare([tmp_path / "a"], [tmp_path / "b"], nsys_path=str(tool))
    assert [one.code for one in found.warnings].count("files_left_out") == 2


@pytest.mark.parametrize(
    "make",
    [
        lambda path: database(path, "CREATE TABLE notes (text)"),
        lambda path: database(path, STRINGS),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000),
        lambda path: path.write_text("notes"),
    ],
    ids=["notes", "names", "empty", "damaged", "text"],
)
def test_a_file_that_is_no_export_hides_no_report(make: Callable[[Path], object], tmp_path: Path, tool: Path) -> None:
    folder = tmp_path / "x"
    file(folder / "x.nsys-rep")
    make(folder / "x.sqlite")
    assert read(folder, tool) == (["x.nsys-rep"], ["files_left_out"])


def test_a_report_with_the_name_of_an_export_is_read(tmp_path: Path, tool: Path) -> None:
    file(tmp_path / "x" / "x.sqlite")
    assert read(tmp_path / "x", tool) == (["x.sqlite"], [])


@pytest.mark.parametrize(
    "statements",
    [
        (STRINGS, EVENTS),
        (STRINGS.lower(), EVENTS.lower()),
        (STRINGS, "CREATE TABLE TARGET_INFO_GPU (id)"),
        (STRINGS, "CREATE TABLE target_info_gpu (id)"),
        (STRINGS, "CREATE TABLE OSRT_API (START, a)"),
        (STRINGS, 'CREATE TABLE "a ""b" (timestamp)'),
        (STRINGS, "CREATE TABLE b (c)"),
        (STRINGS, "CREATE TABLE b (c)", "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT * FROM b"),
        ("CREATE TABLE b (id, value)", "CREATE VIEW StringIds AS SELECT * FROM b", EVENTS),
        (EVENTS,),
        (),
    ],
)
def test_the_reader_accepts_the_same_databases(statements: tuple[str, ...], tmp_path: Path) -> None:
    path = database(tmp_path / "ü 'n?%#.sqlite", *statements)
    trace = Trace([(path, "x")], optional=[True])
    assert is_export(path) == (trace.capture_count == 1)


def test_a_truncated_export_is_one_capture(tmp_path: Path, tool: Path) -> None:
    folder = tmp_path / "x"
    file(folder / "x.nsys-rep")
    export = fake_tools.nsys_database(folder / "x.sqlite", more=KERNELS)
    with export.open("r+b") as opened:
        opened.truncate(export.stat().st_size - 4096)
    assert is_export(export)
    assert read(folder, tool)[0] == ["x.sqlite"]
