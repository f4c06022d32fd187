"""SQLite index of a folder of run files.

Run files are authoritative. A row of the index is used only if name, size and both times of its file are unchanged.
A crash between writing a file and its row, a second writer or a lost index only cost the time to read files again.

Only the system sets the change time (ctime) of a file. An index from an archive therefore matches none of its run
files, and its rows are not used.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Self

    from fastrnns_rs.verbs.compare.session_spread import PastSession
    from fastrnns_rs.verbs.history.indexed_files import Record, Stamp

#: Version of the tables, in `PRAGMA user_version`. An index of another version is rebuilt.
_SHAPE = 5
_TABLES = """
CREATE TABLE files (
    name BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,
    fault TEXT, run_id TEXT, created_utc TEXT, last_started_utc TEXT, status TEXT, commit_id TEXT, dirty INTEGER,
    verb TEXT, runners TEXT, devices TEXT, torch_version TEXT, machine_id TEXT
) WITHOUT ROWID;
CREATE TABLE sessions (
    name BLOB NOT NULL, session TEXT NOT NULL, kind TEXT NOT NULL, family TEXT NOT NULL,
    n_processes INTEGER NOT NULL, mean REAL NOT NULL, variance REAL
);
CREATE TABLE folder (ctime_ns INTEGER);
CREATE INDEX files_by_start ON files (last_started_utc, mtime_ns, name) WHERE fault IS NULL;
CREATE INDEX files_by_fault ON files (mtime_ns, name) WHERE fault IS NOT NULL;
CREATE INDEX sessions_by_name ON sessions (name);
CREATE INDEX sessions_by_kind ON sessions (kind);
CREATE INDEX sessions_by_family ON sessions (family);
"""
_INSERT_FILE = "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_SELECT_RUNS = (
    "SELECT name, size, run_id, created_utc, last_started_utc, status, commit_id, dirty, verb, runners, devices,"
    " torch_version, machine_id FROM files WHERE fault IS NULL"
    " ORDER BY last_started_utc DESC, mtime_ns DESC, name DESC"
)
_INSERT_SESSION = "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?)"
#: Separator of names in one column; no name contains a line end.
SEPARATOR = "\n"
#: Time that a writer waits for another writer, in seconds.
_PATIENCE_S = 30.0
#: A folder that changed more recently may change again with an equal time.
_TICK_NS = 2_000_000_000
#: Number of values in one statement that every version of SQLite supports.
_MOST_VALUES = 500


class RunIndex:
    """Index of a folder, up to date from the start of a `with` block.

    Args:
        path: Path of the index. If it cannot be written, an index in memory is used.
        folder: Folder of the run files.
    """

    def __init__(self, path: Path, folder: Path) -> None:
        self._path = path
        self._folder = folder
        self._database: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        for _ in range(2):
            try:
                self._database = self._opened(str(self._path))
                self._catch_up()
            except sqlite3.OperationalError:
                # The folder is read-only, the disk is full, or the file system has no locks.
                break
            except sqlite3.DatabaseError:
                self._discard()
            else:
                return self
        self._close()
        self._database = self._opened(":memory:")
        self._catch_up()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close()

    def runs(self, newest: int | None = None) -> list[tuple[Any, ...]]:
        """Returns a row for each run: name and size of its file, then its columns.

        The last run is at the end.

        Args:
            newest: Number of runs; None for all. If a run has several files, the last started file counts.
        """
        found = self._of(f"{_SELECT_RUNS} LIMIT ?", [-1 if newest is None else newest])
        runs: dict[str, tuple[Any, ...]] = {}
        for row in found:
            runs.setdefault(row[2], row)
        if newest is not None and len(runs) < len(found):
            return self.runs()[-newest:]
        return [(os.fsdecode(row[0]), *row[1:]) for row in reversed(runs.values())]

    def n_runs(self) -> int:
        """Returns the number of runs."""
        [(count,)] = self._of("SELECT COUNT(DISTINCT run_id) FROM files WHERE fault IS NULL")
        return int(count)

    def faults(self) -> list[tuple[str, str]]:
        """Returns the name and the error of each file that is not a run file."""
        found = self._of("SELECT name, fault FROM files WHERE fault IS NOT NULL ORDER BY mtime_ns, name")
        return [(os.fsdecode(name), fault) for name, fault in found]

    def alike(self, name: str) -> set[str]:
        """Returns the names of files with rows of all kinds that a file has.

        The files may also have rows of other kinds.
        """
        kinds = "SELECT DISTINCT kind FROM sessions WHERE name = ?"
        text = (
            f"SELECT name FROM sessions WHERE kind IN ({kinds}) GROUP BY name"  # noqa: S608  # text of ours
            f" HAVING COUNT(DISTINCT kind) = (SELECT COUNT(*) FROM ({kinds}))"
        )
        encoded = os.fsencode(name)
        return {os.fsdecode(found) for (found,) in self._of(text, [encoded, encoded])}

    def equal(self, kinds: Iterable[str]) -> list[PastSession]:
        """Returns the rows of these kinds; see `Past`."""
        return self._sessions("kind", [*kinds])

    def comparable(self, families: Iterable[str]) -> list[PastSession]:
        """Returns the rows of these families; see `Past`."""
        return self._sessions("family", [*families])

    def _sessions(self, column: str, values: Sequence[str]) -> list[PastSession]:
        from fastrnns_rs.verbs.compare.session_spread import PastSession

        found: dict[tuple[str, str], PastSession] = {}
        for first in range(0, len(values), _MOST_VALUES):
            some = values[first : first + _MOST_VALUES]
            places = ", ".join("?" * len(some))
            text = f"SELECT session, kind, n_processes, mean, variance FROM sessions WHERE {column} IN ({places})"  # noqa: S608  # a column's name and question marks
            for session, kind, count, mean, variance in self._of(f"{text} ORDER BY name", some):
                # A run may have two files, or two equal sides.
                row = PastSession(session=session, kind=kind, n_processes=count, mean=mean, variance=variance)
                found.setdefault((session, kind), row)
        return [*found.values()]

    def _of(self, text: str, values: Sequence[str | bytes | int] = ()) -> list[Any]:
        try:
            return self._fetched(text, values)
        except sqlite3.DatabaseError:
            # The damage did not show when the index was opened.
            self._discard()
            self.__enter__()
            return self._fetched(text, values)

    def _fetched(self, text: str, values: Sequence[str | bytes | int] = ()) -> list[Any]:
        assert self._database is not None  # noqa: S101  # the block has begun
        return self._database.execute(text, values).fetchall()

    def _opened(self, place: str) -> sqlite3.Connection:
        database = sqlite3.connect(place, timeout=_PATIENCE_S, isolation_level=None)
        try:
            database.execute("PRAGMA journal_mode = WAL")
            # A row lost in a system crash is rebuilt from its file.
            database.execute("PRAGMA synchronous = NORMAL")
            _lay_out(database)
        except BaseException:
            database.close()
            raise
        return database

    def _catch_up(self) -> None:
        """Updates the index to match the files."""
        assert self._database is not None  # noqa: S101  # it was opened
        begin, changed_ns = time.time_ns(), _changed_ns(self._folder)
        # Run files are replaced by renaming, which changes the times of their folder.
        if changed_ns is not None and (changed_ns,) in self._fetched("SELECT ctime_ns FROM folder"):
            return
        found = {stamp[0]: stamp for stamp in _files(self._folder)}
        known = {
            os.fsdecode(row[0]): (os.fsdecode(row[0]), *row[1:])
            for row in self._fetched("SELECT name, size, mtime_ns, ctime_ns FROM files")
        }
        gone = known.keys() - found.keys()
        changed = [stamp for name, stamp in found.items() if known.get(name) != stamp]
        settled = changed_ns is not None and begin - changed_ns > _TICK_NS
        if not gone and not changed:
            if settled:
                # A read-only index can still be used.
                with suppress(sqlite3.OperationalError):
                    self._replace([], [], changed_ns)
            return
        # Importing the run file reader takes as long as listing thousands of runs.
        from fastrnns_rs.verbs.history.indexed_files import read_file

        records = [record for stamp in changed for record in read_file(self._folder, stamp)]
        names = [*gone, *(record[0][0] for record in records)]
        self._replace(names, records, changed_ns if settled else None)

    def _replace(self, names: list[str], records: list[Record], changed_ns: int | None) -> None:
        """Replaces the records of some files in one transaction."""
        assert self._database is not None  # noqa: S101  # it was opened
        with closing(self._database.cursor()) as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            try:
                encoded = [(os.fsencode(name),) for name in names]
                cursor.executemany("DELETE FROM files WHERE name = ?", encoded)
                cursor.executemany("DELETE FROM sessions WHERE name = ?", encoded)
                cursor.executemany(_INSERT_FILE, [_encoded(one) for one, _ in records])
                cursor.executemany(_INSERT_SESSION, [_encoded(row) for _, rows in records for row in rows])
                cursor.execute("DELETE FROM folder")
                if changed_ns is not None:
                    cursor.execute("INSERT INTO folder VALUES (?)", (changed_ns,))
                cursor.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    cursor.execute("ROLLBACK")
                raise

    def _discard(self) -> None:
        """Removes a damaged index: it can be rebuilt from the files."""
        self._close()
        for suffix in ("", "-wal", "-shm"):
            with suppress(OSError):
                Path(f"{self._path}{suffix}").unlink()

    def _close(self) -> None:
        if self._database is not None:
            with suppress(sqlite3.Error):
                self._database.close()
            self._database = None


def _encoded(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns a row with the file name as bytes, since it may not be valid text."""
    return (os.fsencode(row[0]), *row[1:])


def _lay_out(database: sqlite3.Connection) -> None:
    """Creates the tables of a new index; safe for concurrent processes."""
    if database.execute("PRAGMA user_version").fetchone()[0] == _SHAPE:
        return
    database.execute("BEGIN IMMEDIATE")
    try:
        if database.execute("PRAGMA user_version").fetchone()[0] != _SHAPE:
            for table in ("files", "sessions", "folder"):
                database.execute(f"DROP TABLE IF EXISTS {table}")
            for statement in _TABLES.split(";"):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {_SHAPE}")
        database.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            database.execute("ROLLBACK")
        raise


def _changed_ns(folder: Path) -> int | None:
    """Returns the time of a folder's last change; None if the folder is missing."""
    try:
        return folder.stat().st_ctime_ns
    except FileNotFoundError:
        return None


def _files(folder: Path) -> Iterable[Stamp]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                # Hidden files are locks or incomplete files. Opening a pipe would wait for its writer.
                if not entry.name.endswith(".json") or entry.name.startswith(".") or not entry.is_file():
                    continue
                with suppress(FileNotFoundError):
                    status = entry.stat()
                    yield entry.name, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    except FileNotFoundError:
        return
