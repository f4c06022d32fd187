"""SQLite index of a folder of run files.

Run files are authoritative. A row of the index is used only if name, size and both times of its file are unchanged.
A crash between writing a file and its row, a second writer or a lost index only cost the time to read files again.

Only the system sets the change time (ctime) of a file, so that a file from an archive is read again.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fastrnns_rs._core import __version__, hash_folder
from fastrnns_rs.documents import reading
from fastrnns_rs.documents.writer_lock import has_locks
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.history.index_tables import lay_out
from fastrnns_rs.verbs.history.index_waiting import is_busy, patiently

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from fastrnns_rs.verbs.compare.session_spread import PastSession
    from fastrnns_rs.verbs.history.indexed_files import Record, Stamp

_INSERT_FILE = "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_SELECT_RUNS = (
    "SELECT name, size, run_id, created_utc, last_started_utc, status, commit_id, dirty, verb, runners, devices,"
    " torch_version, machine_id FROM files WHERE fault IS NULL"
    " ORDER BY last_started_utc DESC, mtime_ns DESC, name DESC"
)
#: Rows of the last started files. A fixed number of files takes a few milliseconds in a history of any size.
_SELECT_RECENT = (
    "SELECT session, kind, n_processes, mean, variance FROM (SELECT name, last_started_utc, mtime_ns FROM files"
    " WHERE fault IS NULL ORDER BY last_started_utc DESC, mtime_ns DESC, name DESC LIMIT 100)"
    " CROSS JOIN sessions USING (name) ORDER BY last_started_utc DESC, mtime_ns DESC, name DESC"
)
_INSERT_SESSION = "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?)"
#: Separator of names in one column; no name contains a line end.
SEPARATOR = "\n"
#: Time in seconds that SQLite waits at once, deaf to Ctrl-C.
_GLANCE_S = 0.1
#: Number of values in one statement that every version of SQLite supports.
_MOST_VALUES = 500
#: Number of attempts to use an index that other commands change.
_TRIES = 5
#: Number of files whose records are stored at once. An interrupted command loses no more, and their memory is bounded.
_PART = 1000
#: Largest integer of SQLite. The time of a file may be later.
_LARGEST_INTEGER = (1 << 63) - 1


class RunIndex:
    """Index of a folder, up to date from the start of a `with` block.

    Args:
        path: Path of the index, where no other user may write. None, or one that cannot be written: an index in memory.
        folder: Folder of the run files.
    """

    def __init__(self, path: Path | None, folder: Path) -> None:
        self._path = path
        self._folder = folder
        self._database: sqlite3.Connection | None = None
        # State of the index that matches the files: SQLite changes the number when another command changes the index.
        self._version = 0

    def __enter__(self) -> Self:
        # The second time, in place of a damaged index.
        for _ in range(2 if self._path is not None else 0):
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
        self._use_memory()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close()

    def runs(self, newest: int | None = None) -> tuple[list[tuple[Any, ...]], list[tuple[str, str]]]:
        """Returns a row for each run, and the other files of these runs.

        A row has the name and the size of the file, then its columns; the last run is at the end. Another file has its
        name and the run. One of equal size is a copy, and is left out.

        Args:
            newest: Number of runs; None for all. If a run has several files, the last started file counts.
        """
        found = self._fetch(f"{_SELECT_RUNS} LIMIT ?", [-1 if newest is None else newest])
        runs: dict[str, tuple[Any, ...]] = {}
        for row in found:
            runs.setdefault(row[2], row)
        if newest is not None and len(runs) < len(found):
            every, others = self.runs()
            listed = every[-newest:]
            return listed, [one for one in others if one[1] in {row[2] for row in listed}]
        others = [(os.fsdecode(row[0]), row[2]) for row in found if row[1] != runs[row[2]][1]]
        return [(os.fsdecode(row[0]), *row[1:]) for row in reversed(runs.values())], others

    def n_runs(self) -> int:
        """Returns the number of runs."""
        [(count,)] = self._fetch("SELECT COUNT(DISTINCT run_id) FROM files WHERE fault IS NULL")
        return int(count)

    def run_files(self) -> list[tuple[str, str, int]]:
        """Returns the run, the name and the size of each run file."""
        found = self._fetch("SELECT run_id, name, size FROM files WHERE fault IS NULL ORDER BY name")
        return [(run_id, os.fsdecode(name), size) for run_id, name, size in found]

    def faults(self) -> list[tuple[str, str]]:
        """Returns the name and the error of each file that is not a run file."""
        text = "SELECT name, fault FROM files WHERE fault IS NOT NULL ORDER BY mtime_ns, name"
        found = self._fetch(text)
        return [(os.fsdecode(name), fault) for name, fault in found]

    def find_equal_files(self, name: str) -> set[str]:
        """Returns the names of files with rows of all kinds that a file has.

        The files may also have rows of other kinds.
        """
        kinds = "SELECT DISTINCT kind FROM sessions WHERE name = ?"
        text = (
            f"SELECT name FROM sessions WHERE kind IN ({kinds}) GROUP BY name"  # noqa: S608  # text of ours
            f" HAVING COUNT(DISTINCT kind) = (SELECT COUNT(*) FROM ({kinds}))"
        )
        encoded = os.fsencode(name)
        return {os.fsdecode(found) for (found,) in self._fetch(text, [encoded, encoded])}

    def equal(self, kinds: Iterable[str]) -> list[PastSession]:
        """Returns the rows of these kinds; see `Past`."""
        return self._sessions("kind", [*kinds])

    def comparable(self, families: Iterable[str]) -> list[PastSession]:
        """Returns the rows of these families; see `Past`."""
        return self._sessions("family", [*families])

    def recent(self, kinds: Collection[str]) -> list[PastSession]:
        """Returns the rows of these kinds in the last started files, the last first."""
        from fastrnns_rs.verbs.compare.session_spread import PastSession

        found: dict[tuple[str, str], PastSession] = {}
        for session, kind, count, mean, variance in self._fetch(_SELECT_RECENT):
            if kind in kinds:
                row = PastSession(session=session, kind=kind, n_processes=count, mean=mean, variance=variance)
                found.setdefault((session, kind), row)
        return [*found.values()]

    def _sessions(self, column: str, values: Sequence[str]) -> list[PastSession]:
        from fastrnns_rs.verbs.compare.session_spread import PastSession

        found: dict[tuple[str, str], PastSession] = {}
        for first in range(0, len(values), _MOST_VALUES):
            some = values[first : first + _MOST_VALUES]
            places = ", ".join("?" * len(some))
            text = f"SELECT session, kind, n_processes, mean, variance FROM sessions WHERE {column} IN ({places})"  # noqa: S608  # a column's name and question marks
            for session, kind, count, mean, variance in self._fetch(f"{text} ORDER BY name", some):
                # A run may have two files, or two equal sides.
                row = PastSession(session=session, kind=kind, n_processes=count, mean=mean, variance=variance)
                found.setdefault((session, kind), row)
        return [*found.values()]

    def _fetch(self, text: str, values: Sequence[str | bytes | int] = ()) -> list[Any]:
        try:
            for _ in range(_TRIES):
                with self._transaction("DEFERRED") as version:
                    rows = self._execute(text, values).fetchall()
                if version == self._version:
                    return rows
                # The other command may see another folder at this path, such as in a container.
                self._catch_up()
        except sqlite3.OperationalError:
            # Another command has locked the index, or the disk is full.
            pass
        except sqlite3.DatabaseError:
            # Opening the index did not detect the damage. The next command creates the index again.
            self._discard()
        self._use_memory()
        return self._execute(text, values).fetchall()

    def _execute(self, text: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        database = self._database
        assert database is not None  # noqa: S101  # the block has begun
        return patiently(str(self._path), lambda: database.execute(text, values))

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[int]:
        """Runs a block in a transaction, and yields the version of the index in it."""
        self._execute(f"BEGIN {kind}")
        try:
            [(version,)] = self._execute("PRAGMA data_version")
            yield version
            self._execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._execute("ROLLBACK")
            raise

    def _use_memory(self) -> None:
        self._close()
        self._database = self._opened(":memory:")
        self._catch_up()

    def _opened(self, place: str) -> sqlite3.Connection:
        try:
            database = self._connected(place, 0.0)
        except sqlite3.OperationalError as error:
            # A file system that refuses all locks looks like an index that another program has locked.
            if not is_busy(error) or not has_locks(Path(place).parent):
                raise
            return patiently(place, lambda: self._connected(place, _GLANCE_S))
        database.execute(f"PRAGMA busy_timeout = {round(_GLANCE_S * 1000)}")
        return database

    def _connected(self, place: str, patience_s: float) -> sqlite3.Connection:
        database = sqlite3.connect(place, timeout=patience_s, isolation_level=None)
        try:
            # A write-ahead log needs shared memory, whose loss on a network file system would end this process.
            database.execute("PRAGMA journal_mode = DELETE")
            # A row lost in a system crash is rebuilt from its file.
            database.execute("PRAGMA synchronous = NORMAL")
            lay_out(database)
        except BaseException:
            database.close()
            raise
        return database

    def _catch_up(self) -> None:
        """Updates the index to match the files.

        Raises:
            sqlite3.OperationalError: If other commands change the index all the time.
        """
        tries, most = 0, -1
        while tries < _TRIES:
            if self._try_to_catch_up():
                return
            # Commands that read a large history at the same time interrupt each other, and each continues the index.
            [(count,)] = self._execute("SELECT COUNT(*) FROM files")
            tries, most = (0, count) if count > most else (tries + 1, most)
        raise sqlite3.OperationalError("other commands change the index")

    def _try_to_catch_up(self) -> bool:
        """Updates the index; returns False if another command has changed it meanwhile."""
        # Files that change afterwards give another state next time.
        state = _state(self._folder)
        with self._transaction("DEFERRED") as version:
            self._version = version
            if self._execute("SELECT state, reader FROM folder").fetchone() == (state, __version__):
                return True
            # A file that another build refused may be a run file of this build.
            text = "SELECT name, size, mtime_ns, ctime_ns, fault IS NULL OR reader = ? FROM files"
            stamps = self._execute(text, [__version__]).fetchall()
        found = {stamp[0]: stamp for stamp in _files(self._folder)}
        known = {os.fsdecode(row[0]): (os.fsdecode(row[0]), *row[1:4]) if row[4] else None for row in stamps}
        gone = known.keys() - found.keys()
        changed = [stamp for name, stamp in found.items() if known.get(name) != stamp]
        if not gone and not changed:
            if state is not None:
                # A read-only index can still be used.
                with suppress(sqlite3.OperationalError):
                    return self._replace([], [], state)
            return True
        # Importing the run file reader takes as long as listing thousands of runs.
        from fastrnns_rs.verbs.history.indexed_files import read_file

        is_read = True
        for first in range(0, max(len(changed), 1), _PART):
            records = [record for stamp in changed[first : first + _PART] for record in read_file(self._folder, stamp)]
            # A file that could not be read is read again by the next command.
            is_read = is_read and all(record[0][-1] for record in records)
            is_last = first + _PART >= len(changed)
            names = [*(gone if is_last else ()), *(record[0][0] for record in records)]
            if not self._replace(names, records, state if is_last and is_read else None):
                return False
        return True

    def _replace(self, names: list[str], records: list[Record], state: str | None) -> bool:
        """Replaces the records of some files in one transaction.

        Returns:
            False if another command has changed the index since its rows were read: then nothing is replaced.
        """
        with self._transaction("IMMEDIATE") as version, closing(self._execute("SELECT 1")) as cursor:
            if version != self._version:
                return False
            encoded = [(os.fsencode(name),) for name in names]
            cursor.executemany("DELETE FROM files WHERE name = ?", encoded)
            cursor.executemany("DELETE FROM sessions WHERE name = ?", encoded)
            cursor.executemany(_INSERT_FILE, [_encoded(one) for one, _ in records])
            cursor.executemany(_INSERT_SESSION, [_encoded(row) for _, rows in records for row in rows])
            cursor.execute("DELETE FROM folder")
            if state is not None:
                cursor.execute("INSERT INTO folder VALUES (?, ?)", (state, __version__))
        return True

    def _discard(self) -> None:
        """Removes a damaged index: it can be rebuilt from the files."""
        self._close()
        for suffix in ("", "-journal"):
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


def _storable(time_ns: int) -> int:
    return max(-_LARGEST_INTEGER, min(time_ns, _LARGEST_INTEGER))


def _state(folder: Path) -> str | None:
    """Returns a text that changes with every file; None if there is no folder."""
    try:
        return f"{hash_folder(folder):016x}"
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unusable_history("read", folder, error) from error


def _files(folder: Path) -> Iterable[Stamp]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                # Hidden files are locks or incomplete files.
                if not entry.name.endswith(".json") or entry.name.startswith("."):
                    continue
                try:
                    status = entry.stat()
                except OSError as error:
                    # A file may be gone, and a link may lead to itself. A file that a network file system does not
                    # find now is named, and read again by the next command.
                    if error.errno in reading.NO_ANSWER:
                        yield entry.name, -1, 0, 0
                    continue
                # Opening a pipe would wait for its writer.
                if stat.S_ISREG(status.st_mode):
                    yield entry.name, status.st_size, _storable(status.st_mtime_ns), _storable(status.st_ctime_ns)
    except FileNotFoundError:
        return
    except OSError as error:
        raise unusable_history("read", folder, error) from error


def unusable_history(use: Literal["read", "write"], folder: Path, error: OSError | ValueError) -> UsageError:
    """Makes the error for a folder that cannot be used, or whose path is impossible."""
    message, hint = f"cannot {use} history: {str(folder)!r}", "Use another `history` or `history=False`."
    reason = (isinstance(error, OSError) and error.strerror) or str(error)
    command_hint = "Use another --history or --no-history."
    return UsageError(message, hint, reason=reason, value=str(folder), command_hint=command_hint)
