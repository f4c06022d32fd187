"""SQLite files in which a statement never ends: captures, and the index of a history."""

from __future__ import annotations

import signal
import sqlite3
import struct
import time
from contextlib import closing
from pathlib import Path
from types import FrameType

import pytest
from commands import run_process
from nsys_exports import TABLES
from run_files import exactly, run
from shared_pages import share_pages

from fastrnns_rs import __version__
from fastrnns_rs.documents.statement_limit import EndlessStatementError, limit_statements
from fastrnns_rs.verbs.history import row_limit
from fastrnns_rs.verbs.history.run_history import RunHistory

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


def make_hole(path: Path, size: int) -> None:
    """Makes a database so large; a hole in a file takes no place."""
    with path.open("r+b") as file:
        file.seek(16)
        (page,) = struct.unpack(">H", file.read(2))
        file.seek(28)
        file.write(struct.pack(">I", size // page))
        file.truncate(size)


@pytest.mark.parametrize("command", ["report", "compare", "show"])
@pytest.mark.parametrize("statements", [EXPORT, PROFILE], ids=["nsys", "nvprof"])
def test_a_list_of_tables_without_end_is_refused(anywhere: Path, command: str, statements: str) -> None:
    path = make(anywhere / "capture.sqlite", statements)
    done = run_process(command, *[path] * (2 if command == "compare" else 1), timeout_s=PATIENCE_S)
    error, hint, *rest = done.stderr.splitlines()
    assert (done.status, rest) == (2, [])
    assert "capture.sqlite' is a damaged SQLite database (" in error
    assert hint.startswith("hint: ")


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


@pytest.mark.parametrize(("table", "size"), [("", 0), ("folder", 0), ("folder", 1 << 34)])
def test_an_index_without_end_is_made_again(history: RunHistory, anywhere: Path, table: str, size: int) -> None:
    history.keep(run([exactly([1000])], run_id=f"{1:032x}"))
    history.document()
    index = history.folder / "index.sqlite"
    with closing(sqlite3.connect(index)) as database:
        database.execute("DELETE FROM folder")
        row = (history.runs_folder.stat().st_ctime_ns, __version__)
        database.execute("INSERT INTO folder VALUES (?, ?)", row)
        database.commit()
    share_pages(index, table)
    if size:
        make_hole(index, size)
    done = run_process("history", "--history", history.folder, timeout_s=PATIENCE_S)
    assert (done.status, done.stdout.count("complete")) == (0, 1)
    with history.index() as found:
        assert found.n_runs() == 1
    with closing(sqlite3.connect(index)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_rows_of_an_index_with_a_hole_do_not_fill_the_memory(
    history: RunHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2, 3):
        history.keep(run([exactly([1000])], run_id=f"{number:032x}"))
    history.document()
    index = history.folder / "index.sqlite"
    share_pages(index, "files_by_start")
    make_hole(index, 1 << 34)
    # Six gigabytes without a limit.
    monkeypatch.setattr(row_limit, "_MOST_BYTES", 1 << 20)
    begin = time.monotonic()
    assert len(history.document().runs) == 3
    assert time.monotonic() - begin < PATIENCE_S
    with closing(sqlite3.connect(index)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


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
