"""Removal of private data from a capture.

An nsys export contains every environment variable of every process that it saw, and the names of all other processes.
It also contains the names of the machine and its user, and the output of the process. A trace of torch's profiler
contains the machine's name and, with stacks, the folders of sources. The manifest and the log contain folders, in
commands and messages.
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
from fastrnns_rs.verbs.profile.secrets import REDACTED, Form, hide, hide_text, rules

if TYPE_CHECKING:
    from fastrnns_rs.documents.capture_manifest import Capture

#: Tables with the names of the machine, the user, folders and other processes.
_KEYED = ("TARGET_INFO_SYSTEM_ENV", "META_DATA_CAPTURE", "META_DATA_EXPORT", "EXPORT_META_DATA")
_PRIVATE_NAMES = ("env", "host", "user", "path", "dir", "file", "command", "argument")
_PRIVATE_TABLES = ("ProcessStreams", "PROCESSES", "ThreadNames", "ANALYSIS_FILE")
#: Integer columns that refer to strings.
_STRING_COLUMN = re.compile(r"(name|nameId|textId|symbol|module|description|instruction)$", re.IGNORECASE)
#: Field with the machine's name in a trace of torch's profiler; the name may be short.
_HOST_NAME = re.compile(rb'("host_?name"\s*:\s*)"(?:[^"\\]|\\.)*"', re.IGNORECASE)
_TEXT = re.compile("TEXT|CHAR|CLOB|BLOB", re.IGNORECASE)


def redact(path: Path, variables: Mapping[str, str], *folders: Path) -> None:
    """Removes private data from an nsys export; times, kernels and ranges are kept.

    Args:
        path: Path of the SQLite file.
        variables: Environment variables of the process.
        folders: Folders of the capture; that of the file by default.

    Raises:
        FastrnnsError: If the file cannot be rewritten.
    """
    secrets = rules(variables, "database", *(folders or [path.parent]))

    def private(content: bytes, is_text: int) -> bool:
        # The variables of each process are one text, separated by NUL.
        return (bool(is_text) and b"\0" in content) or hide(content, secrets) != content

    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            # There is no journal file, which would contain the private data.
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
                    # Values are compared as bytes: environment variables need not be UTF-8.
                    where = f"private(CAST({column} AS BLOB), typeof({column}) = 'text')"
                    where = f"typeof({column}) IN ('text', 'blob') AND {where}"
                    database.execute(f"UPDATE {_quoted(table)} SET {column} = ? WHERE {where}", (REDACTED,))  # noqa: S608
            # Free pages contain the overwritten data until the file is rebuilt.
            database.execute("VACUUM")
    except (sqlite3.Error, UnicodeError) as error:
        raise FastrnnsError(
            f"cannot redact file: {str(path)!r}", "Do not share the file.", reason=str(error)
        ) from error


def redact_text(path: Path, variables: Mapping[str, str], *folders: Path) -> None:
    """Removes private data from a table or a JSON trace, compressed or not.

    Args:
        path: Path of the file.
        variables: Environment variables of the process.
        folders: Folders of the capture; that of the file by default.

    Raises:
        FastrnnsError: If the file cannot be rewritten.
    """
    packed = path.suffix == ".gz"
    try:
        content = gzip.decompress(path.read_bytes()) if packed else path.read_bytes()
        form: Form = "json" if ".json" in path.suffixes else "table"
        content = hide(content, rules(variables, form, *(folders or [path.parent])))
        content = _HOST_NAME.sub(rb'\1"' + REDACTED.encode() + b'"', content)
        path.write_bytes(gzip.compress(content, compresslevel=6) if packed else content)
    except (OSError, EOFError, zlib.error) as error:
        raise FastrnnsError(
            f"cannot redact file: {str(path)!r}", "Do not share the file.", reason=str(error)
        ) from error


def redact_log(text: str, variables: Mapping[str, str], *folders: Path) -> str:
    """Returns the log without private data."""
    return hide_text(text, rules(variables, "prose", *folders))


def redact_manifest(manifest: Capture, variables: Mapping[str, str], folder: Path, *others: Path) -> Capture:
    """Returns the capture manifest without private data.

    Paths of its files become relative to its folder.

    Args:
        manifest: Manifest with absolute paths of its files.
        variables: Environment variables of the process.
        folder: Folder of the manifest.
        others: Other folders of its files.
    """
    secrets = rules(variables, "prose", folder, *others)

    def shown(text: str) -> str:
        return hide_text(text, secrets)

    def hide_known(text: str | None) -> str | None:
        return None if text is None else shown(text)

    def named(path: str) -> str:
        name = os.path.relpath(path, folder)
        # File names of captures have no secrets; the path to another folder may have some.
        return name if Path(path).parent == folder or shown(name) == name else shown(path)

    return replace(
        manifest,
        tool=replace(manifest.tool, path=hide_known(manifest.tool.path)),
        command=[shown(word) for word in manifest.command],
        artefacts=[replace(one, path=named(one.path)) for one in manifest.artefacts],
        checks=[replace(one, expected=shown(one.expected), found=shown(one.found)) for one in manifest.checks],
        warnings=[
            replace(one, message=shown(one.message), evidence=hide_known(one.evidence), hint=hide_known(one.hint))
            for one in manifest.warnings
        ],
    )


def _keep_strings_in_use(database: sqlite3.Connection, tables: set[str]) -> None:
    """Removes strings without references: of deleted rows, or of other processes."""
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
    """Returns the quoted names of columns that may contain text."""
    described = database.execute(f"PRAGMA table_info({_quoted(table)})").fetchall()
    return [_quoted(name) for _, name, kind, *_ in described if not kind or _TEXT.search(kind)]
