"""Whether files hold captures of profilers or measurements, told by how they begin."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.report import sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrnns_rs.documents.run_file import Run

    Source = str | os.PathLike[str] | Run

#: How captures begin that are no JSON: databases, compressed files, nvprof's texts and tables.
_BINARY = (b"SQLite format 3\0", b"\x1f\x8b")
_OF_NVPROF = (b"==", b'"Type"', b'"Device"', b'"Start"')
#: What stands near the beginning of a trace in Chrome's form, and in no measurement.
_OF_TRACES = (b'"traceEvents"', b'"deviceProperties"', b'"ph"', b'"schemaVersion"')


def are_captures(baseline: Sequence[Source], candidate: Sequence[Source]) -> bool:
    """Whether all files are captures; False where none is one.

    Raises:
        UsageError: One is a capture and another is not; the message names both.
    """
    found = {os.fspath(one): _kind(one) for one in (*baseline, *candidate) if isinstance(one, str | os.PathLike)}
    captures = [name for name, kind in found.items() if kind == "capture"]
    others = [name for name, kind in found.items() if kind == "measurement"]
    others += [f"run {one.run_id}" for one in (*baseline, *candidate) if not isinstance(one, str | os.PathLike)]
    if captures and others:
        message = f"{captures[0]} is a capture and {others[0]} is none: times of kernels and of runners do not compare"
        raise UsageError(message, "give captures on both sides, or run files on both")
    # Folders hold captures; of a folder beside a run file, whoever reads it says what is wrong.
    return bool(captures) or (bool(found) and not others and {*found.values()} == {"folder"})


def _kind(path: str | os.PathLike[str]) -> str | None:
    """`capture`, `measurement`, `folder`, or None for what does not tell: a pipe, nothing at all."""
    name = os.fspath(path)
    if os.path.isdir(name):  # noqa: PTH112  # Path refuses some texts
        return "folder"
    head = sources.head(name)
    if not head:
        return None
    if head.startswith(_BINARY) or sources.needs_nsys(name) or sources.may_be_record(name):
        return "capture"
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith((b"{", b"[")):
        return "capture" if any(word in text for word in _OF_TRACES) else "measurement"
    return "capture" if text.startswith(_OF_NVPROF) else "measurement"
