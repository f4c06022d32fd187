"""Reports of nsys and their exports in the same folder, of which one is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from contextlib import closing
from pathlib import Path

from fastrnns_rs.documents.statement_limit import limit_statements
from fastrnns_rs.verbs.report import file_kinds
from fastrnns_rs.verbs.report.real_paths import real_path

_TABLES = "(SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0)"
#: Finds a row in an export, by the tables that the reader requires.
_IS_EXPORT = f"""
    SELECT 1 FROM {_TABLES} AS events WHERE EXISTS (SELECT 1 FROM {_TABLES} WHERE lower(name) = 'stringids') AND (
        events.name GLOB 'TARGET_INFO_*' OR lower(events.name) GLOB 'cupti_activity_kind_*'
        OR EXISTS (SELECT 1 FROM pragma_table_info(events.name) AS one WHERE lower(one.name) IN ('start', 'timestamp'))
    ) LIMIT 1
"""  # noqa: S608  # text of ours


def find_unread(files: Sequence[Path], recorded: Collection[Path] = ()) -> dict[Path, Path]:
    """Returns the files of a folder that another file is read for.

    An export is read for a report of the same name. The report is read if the export is older: nsys wrote the report
    again.

    Args:
        files: Files of the folder.
        recorded: Resolved files of capture manifests. They are read even if they are older than a report.

    Returns:
        The file that is read for each file that is not. Keys that end in `.sqlite` are exports, and others are reports.
    """
    exports = {file.stem: file for file in files if file.suffix == ".sqlite"}
    found: dict[Path, Path] = {}
    for file in files:
        export = exports.get(file.stem)
        if export is None or not file_kinds.needs_nsys(file) or not is_export(export):
            continue
        if _is_older(export, file) and real_path(export) not in recorded:
            found[export] = file
        else:
            found[file] = export
    return found


def is_export(path: Path) -> bool:
    """Returns True for an SQLite export of nsys, which may be truncated."""
    try:
        # Immutable: SQLite writes no file beside the database, and reads no journal there.
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(uri, uri=True)) as database, limit_statements(database, path.stat().st_size):
            # SQLite refuses truncated files otherwise. The reader reads them as far as possible.
            database.execute("PRAGMA writable_schema = ON")
            return database.execute(_IS_EXPORT).fetchone() is not None
    except (sqlite3.Error, OSError, ValueError):
        return False


def _is_older(export: Path, report: Path) -> bool:
    try:
        return export.stat().st_mtime_ns < report.stat().st_mtime_ns
    except OSError:
        # The reader of the file reports the error.
        return False
