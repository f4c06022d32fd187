"""SQLite files in which a statement never ends, as a capture."""

from __future__ import annotations

import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from types import FrameType

import pytest
from commands import run_process
from nsys_exports import TABLES
from shared_pages import share_pages

from fastrnns_rs.documents.statement_limit import EndlessStatementError, limit_statements

METADATA = "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT); INSERT INTO META_DATA_EXPORT VALUES ('a', 'b');"
EXPORT = f"{TABLES} {METADATA}"
PROFILE = "CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT); CREATE TABLE Version (version INTEGER);"
#: Far more than the commands need, and far less than the statements would.
PATIENCE_S = 30


def make(path: Path, statements: str, table: str = "") -> Path:
    with closing(sqlite3.connect(path)) as database:
        database.executescript(statements)
    share_pages(path, table)
    return path


@pytest.mark.parametrize("command", ["report", "compare", "show"])
@pytest.mark.parametrize("statements", [EXPORT, PROFILE], ids=["nsys", "nvprof"])
def test_a_list_of_tables_without_end_is_refused(anywhere: Path, command: str, statements: str) -> None:
    path = make(anywhere / "capture.sqlite", statements)
    done = run_process(command, *[path] * (2 if command == "compare" else 1), timeout_s=PATIENCE_S)
    error, hint, *rest = done.stderr.splitlines()
    assert (done.status, rest) == (2, [])
    assert "capture.sqlite' is a damaged SQLite database (" in error
    assert hint.startswith("hint: ")


def test_a_damaged_list_of_tables_is_named(anywhere: Path) -> None:
    path = anywhere / "capture.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(EXPORT)
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE", b"CREATE /ABLE"))
    done = run_process("report", path)
    assert done.status == 2
    assert "capture.sqlite' is a damaged SQLite database (" in done.stderr


def test_a_folder_with_an_export_without_end_is_refused(anywhere: Path) -> None:
    make(anywhere / "captures.sqlite", EXPORT)
    # `find_unread` opens the export of a report.
    (anywhere / "captures.nsys-rep").write_bytes(b"NVIDIA Tegra Profiler Report ")
    done = run_process("report", anywhere, timeout_s=PATIENCE_S)
    assert done.status == 2
    assert "captures" in done.stderr


def test_metadata_without_end_are_refused(anywhere: Path) -> None:
    path = make(anywhere / "capture.sqlite", EXPORT, "META_DATA_EXPORT")
    done = run_process("report", path, timeout_s=PATIENCE_S)
    error, _hint = done.stderr.splitlines()
    assert done.status == 1
    assert error.endswith("capture.sqlite' (FILE): the file is damaged: its pages refer to each other without end")


def test_a_signal_ends_a_statement(anywhere: Path) -> None:
    path = make(anywhere / "endless.sqlite", "CREATE TABLE t (a); INSERT INTO t VALUES (1)", "t")

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        with closing(sqlite3.connect(path)) as database:
            for wait_s in (0.01, 0.05):
                signal.setitimer(signal.ITIMER_REAL, wait_s)
                begin = time.monotonic()
                # For a file of this size, the limit is minutes away.
                with pytest.raises(KeyboardInterrupt), limit_statements(database, 1 << 30):
                    database.execute("SELECT count(a) FROM t").fetchall()
                assert time.monotonic() - begin < PATIENCE_S
            with pytest.raises(EndlessStatementError), limit_statements(database, path.stat().st_size):
                database.execute("SELECT count(a) FROM t").fetchall()
            # Nothing is left of the limit.
            assert database.execute("SELECT a FROM t LIMIT 1").fetchall() == [(1,)]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
