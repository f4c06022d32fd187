"""Checks of a capture's files: they exist, can be read, and contain the ranges."""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, TextIO

from fastrnns_rs._core import reports_loss
from fastrnns_rs.documents.capture_manifest import CheckEntry
from fastrnns_rs.verbs.profile.launch_counts import missing_kernels

#: Text that no profiler message contains, but signatures of kernels and environment variables do.
_NO_MESSAGE = re.compile(r"\0|::|<|\w\(|^\w+=")
_SHOWN = 3
#: Finding of the check `event_loss` if the profiler reports no loss.
NO_LOSS = "none"


def written(path: Path) -> CheckEntry:
    """Checks that a file exists and is not empty."""
    size = path.stat().st_size if path.is_file() else None
    found = "no file" if size is None else "an empty file" if size == 0 else f"{size} bytes"
    return CheckEntry(id=f"written:{path.name}", expected="a file with content", found=found, ok=bool(size))


def nsys_sqlite(path: Path, expected: Counter[str], *, cuda: bool, failed: Collection[str] = ()) -> list[CheckEntry]:
    """Checks the content of an nsys export.

    Args:
        path: Path of the SQLite file.
        expected: Expected ranges, with their number.
        cuda: True if kernels are expected too.
        failed: Runners whose ranges are ignored.
    """

    def look(database: sqlite3.Connection, tables: set[str]) -> Iterator[CheckEntry]:
        ranges = _same(expected, _ours(_nvtx_ranges(database, tables), failed))
        yield ranges
        kernels = _count(database, tables, "CUPTI_ACTIVITY_KIND_KERNEL")
        graphs = _count(database, tables, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE")
        lost = [one for one in _messages(database, tables) if reports_loss(one)]
        reported = "; ".join(" ".join(one.split()) for one in lost[:_SHOWN]) if lost else NO_LOSS
        missing = missing_kernels(database, tables, expected) if lost and cuda and ranges.ok else ""
        # A loss of other events does not make the requested ranges and kernels wrong.
        complete = bool(expected) and ranges.ok and not missing
        found = f"{reported} ({missing})" if missing else reported
        yield CheckEntry(id="event_loss", expected=NO_LOSS, found=found, ok=not lost or complete)
        if cuda:
            found = f"{kernels} kernels, {graphs} graphs"
            yield CheckEntry(id="kernels", expected="at least one", found=found, ok=kernels + graphs > 0)

    return _check_database(path, look)


def nvprof_profile(path: Path, expected: Counter[str], *, failed: Collection[str] = ()) -> list[CheckEntry]:
    """Checks the content of an nvprof profile, with arguments as in `nsys_sqlite`."""

    def look(database: sqlite3.Connection, tables: set[str]) -> Iterator[CheckEntry]:
        kinds = ("CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", "CUPTI_ACTIVITY_KIND_KERNEL")
        kernels = sum(_count(database, tables, kind) for kind in kinds)
        yield CheckEntry(id="kernels", expected="at least one", found=f"{kernels} kernels", ok=kernels > 0)
        yield _same(expected, _ours(_nvprof_ranges(database, tables), failed))

    return _check_database(path, look)


def _check_database(
    path: Path, look: Callable[[sqlite3.Connection, set[str]], Iterator[CheckEntry]]
) -> list[CheckEntry]:
    """Checks that a database opens, and runs further checks on its tables."""
    try:
        with closing(_open(path)) as database:
            tables = _tables(database, path)
            found = [*look(database, tables)]
    except (sqlite3.Error, UnicodeError) as error:
        return [CheckEntry(id="opens", expected="a SQLite file", found=f"it cannot be read: {error}", ok=False)]
    return [CheckEntry(id="opens", expected="a SQLite file", found=f"{len(tables)} tables", ok=True), *found]


def kineto(path: Path, expected: Counter[str]) -> list[CheckEntry]:
    """Checks the content of a trace of torch's profiler."""
    name = f"opens:{path.name}"
    try:
        opened: Any = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8", errors="replace") as file:
            events = _annotations(file)
        ours = Counter(mark for event in events for mark in event if mark.startswith("## "))
    except (OSError, EOFError, zlib.error, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        found = f"it cannot be read: {type(error).__name__}: {error}"
        return [CheckEntry(id=name, expected="a trace in JSON", found=found, ok=False)]
    return [
        CheckEntry(id=name, expected="a trace in JSON", found=f"{len(events)} events", ok=True),
        _same(expected, ours, of=path.name),
    ]


def _annotations(file: TextIO) -> list[tuple[str, ...]]:
    """Returns a tuple for each event of a trace, with the name of an annotation.

    Raises:
        TypeError: If the text is not a trace. Damaged JSON raises other exceptions.
    """
    events = json.load(file, object_hook=_reduced)["traceEvents"]
    if not isinstance(events, list) or not all(isinstance(event, tuple) for event in events):
        raise TypeError("traceEvents is not a list of objects")
    return events


def _reduced(found: dict[str, Any]) -> dict[str, Any] | tuple[Any, ...]:
    """Returns an event of a trace as a tuple, with the name of an annotation.

    The events of a trace as Python objects would take several times the memory of its text. No value of JSON is a
    tuple.
    """
    if "traceEvents" in found:
        return found
    return (found["name"],) if found.get("cat") == "user_annotation" else ()


def expected_ranges(phases: dict[str, list[str]], iterations: Iterable[int]) -> Counter[str]:
    """Returns the names of the ranges of every phase in every captured iteration."""
    counted = [*iterations]
    return Counter(f"{one}/{phase}/{count}" for one, names in phases.items() for phase in names for count in counted)


def expected_marks(phases: Iterable[str], iterations: int) -> Counter[str]:
    """Returns the annotations of torch's profiler, which are named after phases."""
    return Counter({f"## {phase} ##": iterations for phase in phases})


def _open(path: Path) -> sqlite3.Connection:
    # Immutable: SQLite writes no file beside the database, and takes no lock, which a complete file does not need.
    database = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
    # Process names and environment variables may be bytes that are not UTF-8.
    database.text_factory = lambda text: text.decode(errors="replace")
    return database


def _tables(database: sqlite3.Connection, path: Path) -> set[str]:
    """Returns the names of all tables of a complete file.

    SQLite reads zeros if the last page of the file is missing.
    """
    pages, page = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    size = path.stat().st_size
    if size < pages * page:
        raise sqlite3.DatabaseError(f"it is cut short, {size} of {pages * page} bytes")
    return {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _count(database: sqlite3.Connection, tables: set[str], table: str) -> int:
    if table not in tables:
        return 0
    count: int = database.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]  # noqa: S608  # a name of ours
    return count


def _nvtx_ranges(database: sqlite3.Connection, tables: set[str]) -> list[Any]:
    """Returns the names of ended start/end ranges.

    A name is stored in place, or in the table of strings.
    """
    if "NVTX_EVENTS" not in tables:
        return []
    start_end = 60
    name, strings = "ranges.text", ""
    if "StringIds" in tables:
        name, strings = "coalesce(ranges.text, strings.value)", "LEFT JOIN StringIds AS strings ON strings.id = textId"
    query = f"""
        SELECT {name} FROM NVTX_EVENTS AS ranges {strings}
        WHERE ranges.eventType = ? AND ranges.end IS NOT NULL
    """  # noqa: S608  # names of ours
    return [name for (name,) in database.execute(query, (start_end,))]


def _nvprof_ranges(database: sqlite3.Connection, tables: set[str]) -> list[Any]:
    """Returns the names of ranges with both ends.

    Each end is a marker with the same ID; the first marker has the name.
    """
    if "CUPTI_ACTIVITY_KIND_MARKER" not in tables or "StringTable" not in tables:
        return []
    query = """
        SELECT names.value FROM CUPTI_ACTIVITY_KIND_MARKER AS markers
        JOIN StringTable AS names ON names._id_ = markers.name
        WHERE markers.id IN (SELECT id FROM CUPTI_ACTIVITY_KIND_MARKER GROUP BY id HAVING count(*) > 1)
    """
    return [name for (name,) in database.execute(query)]


def _ours(names: list[Any], failed: Collection[str]) -> Counter[str]:
    """Counts the range names of runners, without the runners that failed.

    Libraries create ranges too; their names have another form.
    """
    counted: Counter[str] = Counter()
    for name in names:
        # A column of SQLite can have values of any type.
        form = re.fullmatch(r"(.+)/(forward|backward)/\d+", name, re.DOTALL) if isinstance(name, str) else None
        if form is not None and form[1] not in failed:
            counted[name] += 1
    return counted


def _messages(database: sqlite3.Connection, tables: set[str]) -> list[str]:
    """Returns the messages of the profiler about its own work.

    They are in a separate table, or else among all strings.
    """
    if "DIAGNOSTIC_EVENT" in tables:
        return _diagnostics(database, tables)
    if "StringIds" not in tables:
        return []
    query = "SELECT value FROM StringIds WHERE value LIKE '% %' AND length(value) < 500"
    # These strings are the output of the process, and the names that it gave.
    for table, column in (("ProcessStreams", "contentId"), ("ThreadNames", "nameId"), ("NVTX_EVENTS", "textId")):
        if table in tables:
            query += f" AND id NOT IN (SELECT {column} FROM {table} WHERE {column} IS NOT NULL)"  # noqa: S608
    texts = [text for (text,) in database.execute(query)]
    return [text for text in texts if isinstance(text, str) and not _NO_MESSAGE.search(text)]


def _diagnostics(database: sqlite3.Connection, tables: set[str]) -> list[str]:
    """Returns the diagnostics that concern the runners.

    Diagnostics of processes without ranges of runners are excluded. A diagnostic that names no process is
    about the whole capture.
    """
    columns = {name for _, name, *_ in database.execute("PRAGMA table_info(DIAGNOSTIC_EVENT)")}
    if "globalPid" not in columns:
        return [str(text) for (text,) in database.execute("SELECT text FROM DIAGNOSTIC_EVENT")]
    ours = _processes_of_ranges(database, tables)
    found = database.execute("SELECT text, globalPid FROM DIAGNOSTIC_EVENT")
    return [str(text) for text, process in found if not process or not ours or process in ours]


def _processes_of_ranges(database: sqlite3.Connection, tables: set[str]) -> set[int]:
    """Returns the `globalPid` of each process that has ranges of runners.

    The result is empty if the file has no threads.
    """
    if "NVTX_EVENTS" not in tables:
        return set()
    name, strings = "ranges.text", ""
    if "StringIds" in tables:
        name, strings = "coalesce(ranges.text, strings.value)", "LEFT JOIN StringIds AS strings ON strings.id = textId"
    # The lowest 24 bits of a `globalTid` are the thread.
    query = f"SELECT {name}, globalTid >> 24 << 24 FROM NVTX_EVENTS AS ranges {strings} WHERE globalTid IS NOT NULL"  # noqa: S608
    return {process for text, process in database.execute(query) if _ours([text], ())}


def _same(expected: Counter[str], found: Counter[str], of: str | None = None) -> CheckEntry:
    missing, more = expected - found, found - expected
    text = f"{found.total()} ranges"
    for what, names in (("missing", missing), ("too many", more)):
        if names:
            shown = ", ".join(list(names)[:_SHOWN])
            text += f", {names.total()} {what}: {shown}{', …' if len(names) > _SHOWN else ''}"
    return CheckEntry(
        id="ranges" if of is None else f"ranges:{of}",
        expected=f"{expected.total()} ranges",
        found=text,
        ok=not missing and not more,
    )
