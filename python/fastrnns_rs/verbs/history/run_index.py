"""The index of a folder of run files, in SQLite.

Files are the truth: what a file says is in the index if name, size and time of the file are those of its row. So a
crash between writing a file and its row, a second writer and a lost index cost nothing but reading some files again.
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
    from fastrnns_rs.verbs.history.indexed_files import Record

#: Number of the tables' shape, in `PRAGMA user_version`. An index of another shape is made anew.
_SHAPE = 4
_TABLES = """
CREATE TABLE files (
    name BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    fault TEXT, run_id TEXT, created_utc TEXT, last_started_utc TEXT, status TEXT, commit_id TEXT, dirty INTEGER,
    verb TEXT, runners TEXT, devices TEXT, torch_version TEXT, machine_id TEXT
) WITHOUT ROWID;
CREATE TABLE sessions (
    name BLOB NOT NULL, session TEXT NOT NULL, kind TEXT NOT NULL, family TEXT NOT NULL,
    n_processes INTEGER NOT NULL, mean REAL NOT NULL, variance REAL
);
CREATE TABLE folder (mtime_ns INTEGER);
CREATE INDEX sessions_by_name ON sessions (name);
CREATE INDEX sessions_by_kind ON sessions (kind);
CREATE INDEX sessions_by_family ON sessions (family);
"""
_INSERT_FILE = "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_INSERT_SESSION = "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?)"
#: Between names in one column; no name has a line end.
SEPARATOR = "\n"
#: How long a writer waits for another one.
_PATIENCE_S = 30.0
#: A folder that changed less long ago may change again without a new time.
_TICK_NS = 2_000_000_000
#: SQLite takes so many values in one statement, in every version.
_MOST_VALUES = 500


class RunIndex:
    """The index of a folder, up to date from the beginning of a `with` block on.

    Args:
        path: File of the index. Where it cannot be written, an index in memory takes its place.
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
                # A folder that may not be written, a disk that is full, a file system without locks.
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

    def rows(self) -> list[tuple[Any, ...]]:
        """Returns the rows of all files, with the columns of the table but for the time; the last run is at the end."""
        found = self._of(
            "SELECT name, size, fault, run_id, created_utc, last_started_utc, status, commit_id, dirty, verb, runners,"
            " devices, torch_version, machine_id FROM files ORDER BY last_started_utc, mtime_ns, name"
        )
        return [(os.fsdecode(row[0]), *row[1:]) for row in found]

    def alike(self, name: str) -> set[str]:
        """Returns the names of files that have every row of one file: of equal kinds, with whatever else."""
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
                # A run that is there twice, or two equal sides of one.
                row = PastSession(session=session, kind=kind, n_processes=count, mean=mean, variance=variance)
                found.setdefault((session, kind), row)
        return [*found.values()]

    def _of(self, text: str, values: Sequence[str | bytes] = ()) -> list[Any]:
        try:
            return self._fetched(text, values)
        except sqlite3.DatabaseError:
            # Damage that opening it has not met.
            self._discard()
            self.__enter__()
            return self._fetched(text, values)

    def _fetched(self, text: str, values: Sequence[str | bytes] = ()) -> list[Any]:
        assert self._database is not None  # noqa: S101  # the block has begun
        return self._database.execute(text, values).fetchall()

    def _opened(self, place: str) -> sqlite3.Connection:
        database = sqlite3.connect(place, timeout=_PATIENCE_S, isolation_level=None)
        try:
            database.execute("PRAGMA journal_mode = WAL")
            # A row that a crash of the machine takes is made again from its file.
            database.execute("PRAGMA synchronous = NORMAL")
            _lay_out(database)
        except BaseException:
            database.close()
            raise
        return database

    def _catch_up(self) -> None:
        """Makes the index what the files are."""
        assert self._database is not None  # noqa: S101  # it was opened
        begin, changed_ns = time.time_ns(), _changed_ns(self._folder)
        # Run files are replaced by renaming, which changes the time of their folder.
        if changed_ns is not None and (changed_ns,) in self._fetched("SELECT mtime_ns FROM folder"):
            return
        found = {name: (name, size, mtime_ns) for name, size, mtime_ns in _files(self._folder)}
        known = {
            os.fsdecode(row[0]): (os.fsdecode(row[0]), *row[1:])
            for row in self._fetched("SELECT name, size, mtime_ns FROM files")
        }
        gone = known.keys() - found.keys()
        changed = [stamp for name, stamp in found.items() if known.get(name) != stamp]
        settled = changed_ns is not None and begin - changed_ns > _TICK_NS
        if not gone and not changed:
            if settled:
                # One that may not be written is as good.
                with suppress(sqlite3.OperationalError):
                    self._replace([], [], changed_ns)
            return
        # Loading what reads run files takes as long as listing thousands of runs.
        from fastrnns_rs.verbs.history.indexed_files import read_file

        records = [record for stamp in changed for record in read_file(self._folder, stamp)]
        names = [*gone, *(record[0][0] for record in records)]
        self._replace(names, records, changed_ns if settled else None)

    def _replace(self, names: list[str], records: list[Record], changed_ns: int | None) -> None:
        """Puts records in the place of those of some files, in one step."""
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
        """Removes an index that is damaged: everything in it comes from the files."""
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
    """Returns a row with the bytes of its file's name, which may be no text."""
    return (os.fsencode(row[0]), *row[1:])


def _lay_out(database: sqlite3.Connection) -> None:
    """Makes the tables of a new index. Two processes may do so at the same time."""
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
    """Returns when entries of a folder changed last. None if it is not there."""
    try:
        return folder.stat().st_mtime_ns
    except FileNotFoundError:
        return None


def _files(folder: Path) -> Iterable[tuple[str, int, int]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                # Hidden files are locks, and files that are being written. Opening a pipe would wait for its writer.
                if not entry.name.endswith(".json") or entry.name.startswith(".") or not entry.is_file():
                    continue
                with suppress(FileNotFoundError):
                    status = entry.stat()
                    yield entry.name, status.st_size, status.st_mtime_ns
    except FileNotFoundError:
        return
