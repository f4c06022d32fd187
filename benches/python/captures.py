"""Large captures out of real ones: a trace or an export of nsys, written again and again, each time later."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

#: Numbers that tell copies apart, so that ids stay unique and times go on.
_SHIFTED = re.compile(rb'("ts":\s*|"correlation":\s*|"External id":\s*|"id":\s*)(\d+)')
_TIME = re.compile(rb'"ts":\s*(\d+)')


def corpus() -> Path:
    """The folder with captures from the field.

    Raises:
        SystemExit: The variable that names it is not set.
    """
    folder = os.environ.get("FASTRNNS_CORPUS")
    if not folder:
        sys.exit("FASTRNNS_CORPUS must name a folder with kineto/*.json.gz and nsys/*.sqlite")
    return Path(folder)


def enlarge_trace(source: Path, target: Path, times: int) -> None:
    """Writes the events of a trace `times` times, in the layout that they have."""
    text = gzip.decompress(source.read_bytes()) if source.suffix == ".gz" else source.read_bytes()
    begin = text.index(b"[", text.index(b'"traceEvents"')) + 1
    end = text.rindex(b"]", begin)
    events = text[begin:end].rstrip()
    stamps = [int(stamp) for stamp in _TIME.findall(events)]
    # The first ones of a trace say when it was made, long before or after the rest.
    ordered = sorted(stamps)
    span = ordered[-len(ordered) // 100] - ordered[len(ordered) // 100] + 1
    ids = 10_000_000
    with target.open("wb") as file:
        file.write(text[:begin])
        for count in range(times):

            def later(found: re.Match[bytes], count: int = count) -> bytes:
                by = span if found[1].startswith(b'"ts"') else ids
                return found[1] + str(int(found[2]) + count * by).encode()

            file.write(b"," if count else b"")
            file.write(_SHIFTED.sub(later, events) if count else events)
        file.write(text[end:])


def enlarge_export(source: Path, target: Path, kernels: int) -> None:
    """Writes an export of nsys whose kernels and calls are repeated until there are so many kernels."""
    shutil.copyfile(source, target)
    target.chmod(0o644)
    with closing(sqlite3.connect(target)) as database:
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("PRAGMA synchronous = OFF")
        count, first, last = database.execute(
            "SELECT count(*), min(start), max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL"
        ).fetchone()
        for table in ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME"):
            names = [name for _, name, *_ in database.execute(f"PRAGMA table_info({table})")]
            chosen = ", ".join(
                f"{name} + :by" if name in {"start", "end"} else f"{name} + :id" if name == "correlationId" else name
                for name in names
            )
            database.execute(f"CREATE TEMP TABLE seed AS SELECT * FROM {table}")  # noqa: S608  # names of nsys
            for copy in range(1, -(-kernels // count)):
                by = {"by": copy * (last - first + 1000), "id": copy * 10_000_000}
                database.execute(f"INSERT INTO {table} SELECT {chosen} FROM seed ORDER BY start", by)  # noqa: S608
            database.execute("DROP TABLE seed")
        database.commit()
