"""Tables of the index of a folder of run files."""

from __future__ import annotations

import sqlite3
from contextlib import suppress

#: Version of the tables and of the hashes in them, in `PRAGMA user_version`. An index of another version is rebuilt.
_SHAPE = 11
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
CREATE TABLE folder (state TEXT, reader TEXT);
CREATE INDEX files_by_start ON files (last_started_utc, mtime_ns, name) WHERE fault IS NULL;
CREATE INDEX files_by_fault ON files (mtime_ns, name) WHERE fault IS NOT NULL;
CREATE INDEX sessions_by_name ON sessions (name);
CREATE INDEX sessions_by_kind ON sessions (kind);
CREATE INDEX sessions_by_family ON sessions (family);
"""
_STATEMENTS = [one.strip() for one in _TABLES.split(";") if one.strip()]


def lay_out(database: sqlite3.Connection) -> None:
    """Creates the tables of a new index; safe for concurrent processes.

    Raises:
        sqlite3.DatabaseError: If the database has other tables.
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
    found = [sql for (sql,) in database.execute("SELECT sql FROM sqlite_master ORDER BY rowid") if sql is not None]
    if found and (version != (_SHAPE,) or found != _STATEMENTS):
        raise sqlite3.DatabaseError("the index has other tables")
    return bool(found)
