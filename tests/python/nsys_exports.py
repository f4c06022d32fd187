"""Exports of nsys with ranges, made here, and what nsys itself says of an export."""

from __future__ import annotations

import csv
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from real_nsys import NSYS

PUSHED, STARTED, DOMAIN = 59, 60, 75
#: The class of rows that repeat a call, to say where it came from.
BACKTRACE = 67
TABLES = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER,
    category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER,
    domainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
    globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, graphNodeId INTEGER);
INSERT INTO StringIds VALUES (1, 'void gemm<float>(int)'), (2, 'gemm'), (3, 'cudaLaunchKernel_v7000'),
    (4, 'cudaMemcpyAsync_v3020');
"""


def thread(process: int, number: int) -> int:
    """The global number of a thread of a process."""
    return (1 << 48) | (process << 24) | number


class Export:
    """An export in the making. Times are nanoseconds, threads are global numbers."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows: list[tuple[str, tuple[Any, ...]]] = []

    def range(
        self,
        name: str | None,
        start: int,
        end: int | None,
        of: int,
        *,
        kind: int = PUSHED,
        domain: int = 0,
        ends_on: int | None = None,
        text_id: int | None = None,
    ) -> None:
        row = (start, end, kind, name, of, ends_on, text_id, domain)
        columns = "start, end, eventType, text, globalTid, endGlobalTid, textId, domainId"
        self._rows.append((f"NVTX_EVENTS ({columns})", row))

    def domain(self, name: str, number: int, of: int) -> None:
        self.range(name, 0, None, of, kind=DOMAIN, domain=number)

    def text(self, number: int, text: str) -> None:
        self._rows.append(("StringIds", (number, text)))

    def call(self, start: int, end: int, of: int, correlation: int, name: int = 3) -> None:
        self._rows.append(("CUPTI_ACTIVITY_KIND_RUNTIME", (start, end, 0, of, correlation, name, 0)))

    def kernel(
        self, start: int, end: int, of: int, correlation: int, *, name: int = 1, device: int = 0, stream: int = 7
    ) -> None:
        row = (start, end, device, 1, stream, correlation, of & ~0xFFFFFF, name, 2 if name == 1 else name, None)
        self._rows.append(("CUPTI_ACTIVITY_KIND_KERNEL", row))

    def copy(self, start: int, end: int, of: int, correlation: int) -> None:
        row = (start, end, 0, 1, 7, correlation, of & ~0xFFFFFF, 64, 1, None)
        self._rows.append(("CUPTI_ACTIVITY_KIND_MEMCPY", row))

    def written(self) -> Path:
        """The file, anew."""
        self.path.unlink(missing_ok=True)
        with closing(sqlite3.connect(self.path)) as database:
            # Nobody reads it after a crash.
            database.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN; {TABLES} COMMIT;")
            for table, row in self._rows:
                database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
            database.commit()
        return self.path


def found(path: Path, sql: str) -> list[tuple[Any, ...]]:
    """What a statement finds in a file that nobody writes to; nothing where the file has no such table."""
    with closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as database:
        try:
            return database.execute(sql).fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return []
            raise


def changed(path: Path, copy: Path, sql: Sequence[str], **functions: Callable[[Any], Any]) -> Path:
    """A copy in which statements have been run; those about tables that it does not have are left out."""
    shutil.copyfile(path, copy)
    with closing(sqlite3.connect(copy)) as database:
        for name, function in functions.items():
            database.create_function(name, 1, function, deterministic=True)
        for one in sql:
            try:
                database.execute(one)
            except sqlite3.OperationalError as error:
                if "no such table" not in str(error):
                    raise
        database.commit()
    return copy


def stats(path: Path, *reports: str) -> dict[str, list[dict[str, str]]]:
    """The rows of reports of nsys, none where it finds that there is nothing to report. It may write to the file."""
    command = [str(NSYS), "stats", "--force-export=false", f"--report={','.join(reports)}", "--format=csv", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    parts = re.split(r"^Processing .*/(\w+)\.py\].*\n", done.stdout, flags=re.MULTILINE)
    tables = dict(zip(parts[1::2], (part.strip() for part in parts[2::2]), strict=True))
    assert set(tables) == set(reports), done.stdout[:500]
    return {
        name: [] if text.startswith("SKIPPED:") else [*csv.DictReader(text.splitlines())]
        for name, text in tables.items()
    }
