"""Detection of file formats; the only code that reads the first bytes of files."""

from __future__ import annotations

import os

from fastrnns_rs.documents import reading

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    Path: TypeAlias = str | os.PathLike[str]

#: Number of bytes that suffice to detect the format: some traces begin with 26 kB of metadata.
_HEAD = 1 << 16
#: Prefixes of captures that are not JSON: databases, compressed files, and text and tables of nvprof.
_GZIP = b"\x1f\x8b"
_BINARY = (b"SQLite format 3\0", _GZIP)
#: Prefix of the traces that `report --trace` draws.
_DRAWING = b'{"drawnBy": "fastrnns-rs"'
_NVPROF_STARTS = (b"==", b'"Type"', b'"Device"', b'"Start"')
#: Keys near the beginning of a trace in Chrome's format, and of no measurement. A phase is a text.
_PHASE = b'"ph"'
_TRACE_KEYS = (b'"traceEvents"', b'"deviceProperties"', b'"schemaVersion"', _PHASE)
#: Prefixes of nsys reports, whatever their file name, and of streams that were never imported.
_NSYS_STARTS = (b"NVIDIA Tegra Profiler Report ", b"U3w[END]")
_MANIFEST_SCHEMA = b'"fastrnns-rs/capture"'


def kind(path: Path) -> Literal["capture", "measurement", "folder"] | None:
    """Returns the kind of a file; None if it cannot be detected, as for a pipe.

    A file that is empty or does not exist has no kind either.
    """
    if os.path.isdir(path):
        return "folder"
    found = head(path)
    if not found:
        return None
    if found.startswith((*_BINARY, *_NSYS_STARTS)) or _MANIFEST_SCHEMA in found:
        return "capture"
    text = found.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith((b"{", b"[")):
        return "capture" if any(_has_key(text, key) for key in _TRACE_KEYS) else "measurement"
    return "capture" if text.startswith(_NVPROF_STARTS) else "measurement"


def _has_key(text: bytes, key: bytes) -> bool:
    """Returns True if a text is a key, and not only a value."""
    place = text.find(key)
    while place >= 0:
        end = place + len(key)
        after = text[end : end + 32].lstrip()
        if after.startswith(b":") and (key != _PHASE or after[1:].lstrip().startswith(b'"')):
            return True
        place = text.find(key, end)
    return False


def may_be_manifest(path: Path) -> bool:
    """Returns True if a file begins like a capture manifest. A trace may do so too."""
    return _MANIFEST_SCHEMA in head(path)


def nvprof_kind(path: Path) -> Literal["summary", "trace", "database"] | None:
    """Returns the kind of an output of nvprof with GPU activities.

    None for other files. A database may also be an export of nsys.
    """
    found = head(path)
    if found.startswith(_BINARY[0]):
        return "database"
    if not found.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(_NVPROF_STARTS):
        return None
    if b"Time(%)" in found:
        # A summary of calls alone repeats no GPU activity.
        return "summary" if b"GPU activities" in found or b"API calls" not in found else None
    return "trace" if b'"Grid X"' in found else None


def is_drawing(path: Path) -> bool:
    """Returns True for a trace that `report --trace` drew of other captures."""
    found = head(path)
    if found.startswith(_GZIP):
        import zlib

        try:
            found = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(found, len(_DRAWING))
        except zlib.error:
            return False
    return found.startswith(_DRAWING)


def needs_nsys(path: Path) -> bool:
    """Returns True for a report or a stream of nsys, which must be exported."""
    return head(path).startswith(_NSYS_STARTS)


def head(path: Path) -> bytes:
    """Returns the first bytes of a file; empty if it cannot be read, or not twice."""
    try:
        if os.path.isfile(os.fspath(path)):
            return reading.head(path, _HEAD)
    except (OSError, ValueError):
        # The reader of the file reports the error.
        pass
    # Bytes read from a pipe would be lost to the later reader.
    return b""
