"""Kind of a file, for the error of a command that reads another kind.

The kind is detected from the first bytes of a file. Only files that a command could not read get here.
"""

from __future__ import annotations

import os
import re
import zlib
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from fastrnns_rs.documents import reading
from fastrnns_rs.errors import UsageError

#: Number of bytes that suffice to detect the kind.
_HEAD = 8192


@dataclass(frozen=True, slots=True)
class Description:
    """Description of a file.

    Attributes:
        noun: Kind of file, with its article.
        verb: Command that reads the file; None if no command reads it.
    """

    noun: str
    verb: str | None = None


#: Documents of this package, by schema.
_DOCUMENTS = {
    "run": Description("a run", "show"),
    "comparison": Description("a comparison", "show"),
    "capture": Description("a capture manifest", "report"),
    "summary": Description("a summary of captures", "show"),
    "verification": Description("a verification"),
    "inductor": Description("a report of inductor"),
    "list": Description("a list of runners"),
    "doctor": Description("a report of doctor"),
    "noise-floor": Description("a noise floor"),
    "history": Description("a list of runs"),
    "dry-run": Description("a plan of profile"),
}
#: Kinds that the first bytes decide.
_BEGINNINGS = (
    (b"NVIDIA Tegra Profiler Report ", Description("an nsys report", "report")),
    (b"U3w[END]", Description("an nsys stream", "report")),
    (b"NVR\x00", Description("an ncu report")),
    (b"==PROF==", Description("output of ncu")),
    (b'"ID","Process ID"', Description("output of ncu")),
    (b"==", Description("output of nvprof", "report")),
    (b'"Type"', Description("output of nvprof", "report")),
    (b'"Start"', Description("output of nvprof", "report")),
    (b'"Device"', Description("output of nvprof", "report")),
    (b"\x7fELF", Description("a program")),
    (b"PK\x03\x04", Description("a ZIP archive")),
)
#: Kinds of JSON, by keys near the beginning. The first kind with all of its keys is the kind of the file.
_JSON = (
    ((b'"traceEvents"',), Description("a torch.profiler trace", "report")),
    ((b'"deviceProperties"',), Description("a torch.profiler trace", "report")),
    ((b'"schemaVersion"', b'"distributedInfo"'), Description("a torch.profiler trace", "report")),
    ((b'"machine_info"',), Description("results of pytest-benchmark", "show")),
    ((b'"context"', b'"library_build_type"'), Description("results of google-benchmark", "show")),
    ((b'"results"', b'"command"'), Description("results of hyperfine", "show")),
    ((b'"benchmarks"',), Description("results of pyperf", "show")),
)
EMPTY = Description("an empty file")
_GZIP = b"\x1f\x8b"
_SCHEMA = re.compile(rb'"schema"\s*:\s*"fastrnns-rs/([^"]*)"')
_PYTHON = re.compile(rb"^(?:from [\w.]+ import |import \w|def \w|class \w|# AOT ID)", re.MULTILINE)


def describe(path: str | os.PathLike[str]) -> Description | None:
    """Returns the description of a file.

    Returns:
        None if the kind is unknown, or the file cannot be read.
    """
    try:
        file = Path(path)
        if file.is_dir():
            return Description("a folder")
        # The content of a pipe would be lost to its reader.
        found = _head(file) if file.is_file() else None
        is_compressed = found is not None and reading.head(file, 2) == _GZIP
    except (OSError, ValueError, zlib.error):
        return None
    if found is not None and found.startswith(b"SQLite format 3\0"):
        return _describe_database(file)
    kind = None if found is None else _describe_content(found)
    if kind is not None and kind.verb == "show" and is_compressed:
        return Description(f"{kind.noun}, compressed; gunzip unpacks it")
    return kind


def can_be_described(path: str | os.PathLike[str]) -> bool:
    """Returns False for a file that cannot be opened or decompressed."""
    try:
        file = Path(path)
        # A pipe has been read by its reader.
        return not file.is_file() or bool(_head(file))
    except (OSError, ValueError, zlib.error):
        return False


def wrong_kind(
    path: str | os.PathLike[str], wanted: str, *, reason: str = "", readers: tuple[str, ...] = (), hint: str = ""
) -> UsageError:
    """Makes the error for a file of another kind.

    Args:
        path: Path of the file.
        wanted: Kind of file that is wanted, without an article.
        reason: Reason where the kind is unknown.
        readers: Commands that read `wanted`. A file that they read is damaged rather than of another kind.
        hint: Hint where no command reads the file; empty for "Use a <wanted>.".
    """
    shown = os.fsdecode(path)
    found = describe(path)
    hint = hint or f"Use a {wanted}."
    if found is None or found.verb in readers or found.noun.endswith(f" {wanted}"):
        return UsageError(f"not a {wanted}: {shown!r}", hint, reason=reason, value=shown)
    return UsageError(f"not a {wanted}: {shown!r} is {found.noun}", hint, value=shown, verb=found.verb)


def _head(path: Path) -> bytes:
    """Returns the first bytes of a file, decompressed."""
    found = reading.head(path, _HEAD)
    # The rest of a compressed file is not needed.
    return zlib.decompressobj(31).decompress(found, _HEAD) if found.startswith(_GZIP) else found


def _describe_content(found: bytes) -> Description | None:
    for beginning, kind in _BEGINNINGS:
        if found.startswith(beginning):
            return kind
    text = found.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith((b"{", b"[")):
        return _describe_json(text)
    if _PYTHON.search(text):
        generated = b"async_compile" in text or b"AOT ID" in text
        return Description("a generated module", "inductor") if generated else Description("a Python file")
    return None if text else EMPTY


def _describe_json(text: bytes) -> Description | None:
    schema = _SCHEMA.search(text)
    if schema is not None:
        return _DOCUMENTS.get(schema[1].decode(errors="replace"))
    return next((kind for keys, kind in _JSON if all(key in text for key in keys)), None)


def _describe_database(path: Path) -> Description:
    import sqlite3
    from urllib.parse import quote

    from fastrnns_rs.documents.statement_limit import limit_statements

    try:
        uri = f"file:{quote(str(path))}?mode=ro&immutable=1"
        with closing(sqlite3.connect(uri, uri=True)) as database, limit_statements(database, path.stat().st_size):
            tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
    except (sqlite3.OperationalError, OSError):
        # Others use the database, or it cannot be opened.
        tables = set()
    except (sqlite3.DatabaseError, UnicodeError):
        return Description("a damaged SQLite database")
    if "StringIds" in tables or "TARGET_INFO_SYSTEM_ENV" in tables:
        return Description("an nsys export", "report")
    if "StringTable" in tables or any(name.startswith("CUPTI_") for name in tables):
        return Description("a profile of nvprof", "report")
    return Description("an SQLite database")


def find_schema(text: str) -> str | None:
    """Returns the schema in the text of a document; None for other texts."""
    found = _SCHEMA.search(text[:_HEAD].encode(errors="replace"))
    return None if found is None else f"fastrnns-rs/{found[1].decode(errors='replace')}"
