"""What a file is, told by how it begins: the only place that looks at the first bytes of captures and documents."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    Path: TypeAlias = str | os.PathLike[str]

#: Enough to tell what a file is.
_HEAD = 4096
#: How captures begin that are no JSON: databases, compressed files, nvprof's texts and tables.
_BINARY = (b"SQLite format 3\0", b"\x1f\x8b")
_OF_NVPROF = (b"==", b'"Type"', b'"Device"', b'"Start"')
#: What stands near the beginning of a trace in Chrome's form, and in no measurement.
_OF_TRACES = (b'"traceEvents"', b'"deviceProperties"', b'"ph"', b'"schemaVersion"')
#: How reports of nsys begin, whatever they are called, and streams that were never imported.
_OF_NSYS = (b"NVIDIA Tegra Profiler Report ", b"U3w[END]")
_OF_RECORDS = b'"fastrnns-rs/capture"'


def kind(path: Path) -> Literal["capture", "measurement", "folder"] | None:
    """The kind of a file; None for what does not tell: a pipe, nothing at all."""
    if os.path.isdir(path):
        return "folder"
    found = head(path)
    if not found:
        return None
    if found.startswith((*_BINARY, *_OF_NSYS)) or _OF_RECORDS in found:
        return "capture"
    text = found.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith((b"{", b"[")):
        return "capture" if any(word in text for word in _OF_TRACES) else "measurement"
    return "capture" if text.startswith(_OF_NVPROF) else "measurement"


def may_be_record(path: Path) -> bool:
    """Whether a file begins like a capture record. A trace may too."""
    return _OF_RECORDS in head(path)


def needs_nsys(path: Path) -> bool:
    """Whether it is a report or a stream of nsys, which must be exported."""
    return head(path).startswith(_OF_NSYS)


def head(path: Path) -> bytes:
    """How a file begins; nothing for what cannot be read twice, or at all."""
    try:
        if os.path.isfile(os.fspath(path)):
            with open(path, "rb") as file:
                return file.read(_HEAD)
    except (OSError, ValueError):
        # Whoever reads it says what is wrong with it.
        pass
    # What is read from a pipe is lost to who comes after.
    return b""
