"""Takes what nobody else should read out of a capture.

An export of nsys holds every variable of every process that it saw, the names of the machine and of its user, what the
process printed, and the names of all other processes. A trace of torch's profiler holds the machine's name, and with
stacks the folders of sources. The record and the log hold folders, in commands and in what is said of them.
"""

from __future__ import annotations

import gzip
import os
import re
import sqlite3
import zlib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.verbs.profile.secrets import REDACTED, hide, hide_text, rules

if TYPE_CHECKING:
    from fastrnns_rs.documents.capture_manifest import Capture

#: Where the names of the machine, of the user and of folders stand, and those of other processes.
_KEYED = ("TARGET_INFO_SYSTEM_ENV", "META_DATA_CAPTURE", "META_DATA_EXPORT", "EXPORT_META_DATA")
_PRIVATE_NAMES = ("env", "host", "user", "path", "dir", "file", "command", "argument")
_PRIVATE_TABLES = ("ProcessStreams", "PROCESSES", "ThreadNames", "ANALYSIS_FILE")
#: Columns of numbers that stand for strings.
_STRING_COLUMN = re.compile(r"(name|nameId|textId|symbol|module|description|instruction)$", re.IGNORECASE)
#: Where a trace of torch's profiler has the machine's name, which may be short.
_HOST_NAME = re.compile(rb'("host_?name"\s*:\s*)"(?:[^"\\]|\\.)*"', re.IGNORECASE)
_TEXT = re.compile("TEXT|CHAR|CLOB|BLOB", re.IGNORECASE)


def redact(path: Path, variables: Mapping[str, str]) -> None:
    """Rewrites an export of nsys without what is private. Times, kernels, ranges and their names stay.

    Args:
        path: The SQLite file.
        variables: Those that the process had.

    Raises:
        FastrnnsError: The file cannot be rewritten.
    """
    secrets = rules(variables, "database", path.parent)

    def private(content: bytes, is_text: int) -> bool:
        # Each process has its variables in one text, parted by NUL.
        return (bool(is_text) and b"\0" in content) or hide(content, secrets) != content

    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            # Kept in memory: a journal would hold what is to go.
            database.execute("PRAGMA journal_mode = OFF")
            database.execute("PRAGMA secure_delete = ON")
            database.create_function("private", 2, private)
            tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            for table in tables.intersection(_KEYED):
                keys = " OR ".join(f"name LIKE '%{name}%'" for name in _PRIVATE_NAMES)
                database.execute(f'UPDATE "{table}" SET value = ? WHERE {keys}', (REDACTED,))  # noqa: S608
            for table in tables.intersection(_PRIVATE_TABLES):
                database.execute(f'DELETE FROM "{table}"')  # noqa: S608  # a name of ours
            if "StringIds" in tables:
                _keep_strings_in_use(database, tables)
            for table in tables:
                for column in _text_columns(database, table):
                    # As bytes: what a process has among its variables need not be UTF-8.
                    where = f"private(CAST({column} AS BLOB), typeof({column}) = 'text')"
                    where = f"typeof({column}) IN ('text', 'blob') AND {where}"
                    database.execute(f"UPDATE {_quoted(table)} SET {column} = ? WHERE {where}", (REDACTED,))  # noqa: S608
            # What was overwritten is still in free pages until the file is made anew.
            database.execute("VACUUM")
    except (sqlite3.Error, UnicodeError) as error:
        raise FastrnnsError(f"{path} cannot be redacted: {error}", "do not share it") from error


def redact_text(path: Path, variables: Mapping[str, str]) -> None:
    """The same for a table or a trace in JSON, compressed or not.

    Raises:
        FastrnnsError: The file cannot be rewritten.
    """
    packed = path.suffix == ".gz"
    try:
        content = gzip.decompress(path.read_bytes()) if packed else path.read_bytes()
        content = hide(content, rules(variables, "json" if ".json" in path.suffixes else "table", path.parent))
        content = _HOST_NAME.sub(rb'\1"' + REDACTED.encode() + b'"', content)
        path.write_bytes(gzip.compress(content, compresslevel=6) if packed else content)
    except (OSError, EOFError, zlib.error) as error:
        raise FastrnnsError(f"{path} cannot be redacted: {error}", "do not share it") from error


def redact_log(text: str, variables: Mapping[str, str], folder: Path) -> str:
    """What the log says, without what is private."""
    return hide_text(text, rules(variables, "prose", folder))


def redact_record(record: Capture, variables: Mapping[str, str], folder: Path) -> Capture:
    """The record as it may be shared: its files by their names from its own folder, its texts without what is private.

    Args:
        record: The record, with its files by their paths.
        variables: Those that the process had.
        folder: Where it is going to be.
    """
    secrets = rules(variables, "prose", folder)

    def shown(text: str) -> str:
        return hide_text(text, secrets)

    def told(text: str | None) -> str | None:
        return None if text is None else shown(text)

    def named(path: str) -> str:
        name = os.path.relpath(path, folder)
        # Files of ours have names without secrets; what leads to another folder may be one.
        return name if Path(path).parent == folder or shown(name) == name else shown(path)

    return replace(
        record,
        tool=replace(record.tool, path=told(record.tool.path)),
        command=[shown(word) for word in record.command],
        artefacts=[replace(one, path=named(one.path)) for one in record.artefacts],
        checks=[replace(one, expected=shown(one.expected), found=shown(one.found)) for one in record.checks],
        warnings=[
            replace(one, message=shown(one.message), evidence=told(one.evidence), hint=told(one.hint))
            for one in record.warnings
        ],
    )


def _keep_strings_in_use(database: sqlite3.Connection, tables: set[str]) -> None:
    """Takes out the strings that no row refers to any more: they were of rows that went, or of other processes."""
    database.execute("CREATE TEMP TABLE in_use (id INTEGER PRIMARY KEY)")
    for table in tables - {"StringIds"}:
        for _, name, kind, *_ in database.execute(f"PRAGMA table_info({_quoted(table)})").fetchall():
            if kind.upper() == "INTEGER" and _STRING_COLUMN.search(name):
                rows = f"SELECT {_quoted(name)} FROM {_quoted(table)} WHERE typeof({_quoted(name)}) = 'integer'"  # noqa: S608
                database.execute(f"INSERT OR IGNORE INTO in_use {rows}")
    database.execute("UPDATE StringIds SET value = ? WHERE id NOT IN in_use", (REDACTED,))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text_columns(database: sqlite3.Connection, table: str) -> list[str]:
    """The columns that may hold text, quoted."""
    described = database.execute(f"PRAGMA table_info({_quoted(table)})").fetchall()
    return [_quoted(name) for _, name, kind, *_ in described if not kind or _TEXT.search(kind)]
