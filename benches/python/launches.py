"""Which call launched each kernel and why devices were idle, against the join alone in DuckDB: whole processes.

`pip install duckdb duckdb-extension-sqlite-scanner` for the peer, which is left out where it is missing.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from captures import corpus, enlarge_export
from report import OURS, apart, compare, has, python

#: Kernels and calls of one process have its number in bits 24 to 47 of their ids.
DUCKDB_JOIN = """
import duckdb, duckdb_extension_sqlite_scanner, pathlib, sys
database = duckdb.connect()
folder = pathlib.Path(duckdb_extension_sqlite_scanner.__file__).parent
database.execute(f"LOAD '{next(folder.rglob('*.duckdb_extension'))}'")
database.execute(f"ATTACH '{sys.argv[1]}' AS capture (TYPE sqlite, READ_ONLY)")
database.execute('''
    SELECT count(*), median(kernel.start - call.start)
    FROM capture.CUPTI_ACTIVITY_KIND_KERNEL AS kernel
    JOIN capture.CUPTI_ACTIVITY_KIND_RUNTIME AS call
    ON kernel.correlationId = call.correlationId AND (kernel.globalPid >> 24) = (call.globalTid >> 24)
''').fetchall()
"""


def rows(path: Path) -> int:
    """How many kernels and calls an export has."""
    with closing(sqlite3.connect(path)) as database:
        count = "SELECT (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL) + count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME"
        (found,) = database.execute(count).fetchone()
        return int(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", type=int, default=10_000_000, help="10^7 make some 3 GB")
    parser.add_argument(
        "--folder", type=Path, help="where the large file goes, and stays; a temporary folder by default"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        export = (given.folder or Path(temporary)) / "launches.sqlite"
        if not export.exists():
            apart(enlarge_export, corpus() / "nsys" / "h100_2gpu_2026.2.sqlite", export, given.kernels)
        commands = {"ours": python(OURS, export)}
        if has("duckdb", "duckdb_extension_sqlite_scanner"):
            commands["duckdb, the join alone"] = python(DUCKDB_JOIN, export)
        title = f"{rows(export) / 1e6:.1f} million rows in {export.stat().st_size / 1e9:.2f} GB of SQLite"
        compare(title, commands)


if __name__ == "__main__":
    main()
