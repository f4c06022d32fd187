"""Tables of the index of a folder of run files."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

#: Version of the tables, in `PRAGMA user_version`. An index of another version is rebuilt.
_SHAPE = 7
_TABLES = """
CREATE TABLE files (
    name BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,
    fault TEXT, run_id TEXT, created_utc TEXT, last_started_utc TEXT, status TEXT, commit_id TEXT, dirty INTEGER,
    verb TEXT, runners TEXT, devices TEXT, torch_version TEXT, machine_id TEXT, reader TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE sessions (
    name BLOB NOT NULL, session TEXT NOT NULL, kind TEXT NOT NULL, family TEXT NOT NULL,
    n_processes INTEGER NOT NULL, mean REAL NOT NULL, variance REAL
);
CREATE TABLE folder (ctime_ns INTEGER, reader TEXT);
CREATE INDEX files_by_start ON files (last_started_utc, mtime_ns, name) WHERE fault IS NULL;
CREATE INDEX files_by_fault ON files (mtime_ns, name) WHERE fault IS NOT NULL;
CREATE INDEX sessions_by_name ON sessions (name);
CREATE INDEX sessions_by_kind ON sessions (kind);
CREATE INDEX sessions_by_family ON sessions (family);
"""
_STATEMENTS = [one.strip() for one in _TABLES.split(";") if one.strip()]


#: Number of bytes of a database, its journal or its log that contain the statements: the first page, and its copies.
_BEGINNING = 1 << 16
#: Place of the number of tables and indexes that the first page of a database lists.
_ENTRIES = slice(103, 105)
_JOURNAL_MAGIC = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"


def may_replace(path: Path) -> bool:
    """Returns True if an index here replaces no foreign data.

    This holds for missing and empty files, and databases with tables of any version of this index, unless their journal
    names another file: SQLite would delete that file, and no build writes such a journal.

    Args:
        path: Path of the index, which is a regular file or missing.
    """
    if _names_a_file(f"{path}-journal"):
        return False
    database, log, journal = (_beginning(f"{path}{suffix}") for suffix in ("", "-wal", "-journal"))
    if any(statement.encode() in database + log + journal for statement in _STATEMENTS):
        return True
    # A writer that ended early may have left no more than a journal, whose first bytes are written last.
    if log or (journal.strip(b"\0") and not journal.startswith(_JOURNAL_MAGIC)):
        return False
    has_tables = not database.startswith(b"SQLite format 3\0") or any(database[_ENTRIES])
    return not database or not has_tables


def _names_a_file(journal: str) -> bool:
    """Returns True for a journal of several databases.

    It ends with the name of a file and these bytes.
    """
    return _read(journal, -len(_JOURNAL_MAGIC), os.SEEK_END) == _JOURNAL_MAGIC


def _beginning(path: str) -> bytes:
    return _read(path, 0, os.SEEK_SET)


def _read(path: str, offset: int, whence: int) -> bytes:
    try:
        # A pipe would wait for its writer.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW), "rb") as file:
            file.seek(offset, whence)
            return file.read(_BEGINNING) or b""
    except OSError:
        # SQLite cannot read it either, or the file is shorter.
        return b""


def lay_out(database: sqlite3.Connection) -> None:
    """Creates the tables of a new index; safe for concurrent processes.

    Raises:
        sqlite3.DatabaseError: If the database has other tables, or views and triggers, which could run for ever.
    """
    if _is_laid_out(database):
        return
    database.execute("BEGIN IMMEDIATE")
    try:
        if not _is_laid_out(database):
            for statement in _STATEMENTS:
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {_SHAPE}")
        database.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            database.execute("ROLLBACK")
        raise


def _is_laid_out(database: sqlite3.Connection) -> bool:
    """Returns True if this build laid out the tables, False if there are none."""
    version = database.execute("PRAGMA user_version").fetchone()
    # Entries that share pages could fill the memory.
    entries = database.execute("SELECT sql FROM sqlite_master ORDER BY rowid LIMIT ?", [2 * len(_STATEMENTS)])
    found = [sql for (sql,) in entries if sql is not None]
    if found and (version != (_SHAPE,) or found != _STATEMENTS):
        raise sqlite3.DatabaseError("the index has other tables")
    return bool(found)
