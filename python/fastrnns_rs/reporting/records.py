"""The files of a capture record that can be read."""

from __future__ import annotations

import json
from pathlib import Path

from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.profiling.record import Capture

#: What of a record is read: the kinds of its files.
READABLE = {"nsys_sqlite", "kineto"}
#: What else is read of it where it has none of these, the first that it has: nsys must export it first.
_EXPORTABLE = ("nsys_report", "nsys_stream")
#: Records are far smaller; what is larger need not be read to see that it is none.
_LARGEST = 16 * 1024 * 1024


def files_of(path: str | Path) -> list[str]:
    """The files of a record, or what only looked like one itself.

    Raises:
        FastrnnsError: The record lacks its files, or is damaged.
    """
    path = Path(path)
    found = _of_record(path, Capture.load(path)) if _is_record(path) else [path]
    return [str(file) for file in found]


def _is_record(path: Path) -> bool:
    if path.stat().st_size > _LARGEST:
        return False
    try:
        plain = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return False
    return isinstance(plain, dict) and plain.get("schema") == "fastrnns-rs/capture"


def _of_record(path: Path, record: Capture) -> list[Path]:
    kinds = {one.kind for one in record.artefacts}
    wanted = kinds & READABLE or {*[kind for kind in _EXPORTABLE if kind in kinds][:1]}
    if not wanted:
        held = ", ".join(sorted(kinds)) or "no file"
        raise FastrnnsError(f"{path} has no file that can be read: {held}", "capture again with --nsys or --torch")
    files = [_place(path, Path(one.path)) for one in record.artefacts if one.kind in wanted]
    missing = [file for file in files if not file.exists()]
    if missing:
        more = f", nor are {len(missing) - 1} more" if missing[1:] else ""
        raise FastrnnsError(
            f"{path} is the record of {missing[0]}, which is not there{more}",
            "put the files of a capture beside its record, or capture again",
        )
    return files


def _place(record: Path, file: Path) -> Path:
    """The file beside the record, or else where the record says: captures are moved and copied as whole folders."""
    beside = record.parent / file.name
    return beside if beside.exists() else file
