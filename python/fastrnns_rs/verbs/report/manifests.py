"""Capture manifests: readable files, numbers of runs, and wall times."""

from __future__ import annotations

import json
import os
from pathlib import Path

from fastrnns_rs.documents import reading
from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.errors import FastrnnsError, UsageError
from fastrnns_rs.problem.profiler_schedule import Schedule
from fastrnns_rs.verbs.report.file_kinds import may_be_record

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Sequence

#: Kinds of files that are read from a manifest.
READABLE = {"nsys_sqlite", "nvprof_profile", "kineto"}
#: Kinds that are read if no readable kind exists; the first available kind is used. nsys must export them first.
_EXPORTABLE = ("nsys_report", "nsys_stream")
#: Manifests are far smaller. A larger file is not a manifest, and need not be read.
_LARGEST = 16 * 1024 * 1024


def files_of(path: str | Path) -> list[str]:
    """Returns the files of a manifest, or the path itself if it is not a manifest.

    Raises:
        FastrnnsError: If files of the manifest are missing, or it is damaged.
    """
    path = Path(path)
    found = _of_record(path, Capture.load(path)) if _is_record(path) else [path]
    return [str(file) for file in found]


def beside(path: str | Path) -> tuple[list[str], set[Path]] | None:
    """Returns the files to read of a manifest, and all files that belong to it.

    Returns:
        None for a file that is not a manifest, and for a damaged manifest.
    """
    try:
        record = _record_at(path)
        if record is None:
            return None
        wanted = _of_record(Path(path), record)
    except FastrnnsError:
        return None
    places = [_place(Path(path), Path(one.path)) for one in record.artefacts]
    return [str(file) for file in wanted], {place.resolve() for place in places if _is_there(place)}


def runs_in(paths: Sequence[str | Path]) -> int:
    """Returns the number of model runs in all captures, from their manifests.

    Returns:
        The number of runs; 1 if no file is a manifest.

    Raises:
        UsageError: If only some files are manifests, or a capture failed or has several models.
    """
    records = [_record_at(path) for path in paths]
    if not any(records):
        return 1
    runs = 0
    for path, record in zip(paths, records, strict=True):
        why = _untold(record)
        if record is None or why:
            raise UsageError(f"the number of runs is not known: {path} {why}", "give it with --runs")
        runs += _runs(record)
    return runs


def wall_time_of(paths: Sequence[str | Path]) -> float:
    """Returns the time of one run of the captured model without a profiler, in ms.

    Raises:
        UsageError: If there is not exactly one manifest, or it does not contain the time.
    """
    path, *others = paths
    record = _record_at(path)
    took_ns = next(iter(record.unprofiled_ns), None) if record else None
    if others:
        why = "several files are given"
    elif record is None:
        why = f"{path} is no record"
    elif untold := _untold(record):
        why = f"{path} {untold}"
    elif took_ns is None:
        why = f"{path} has no unprofiled_ns, as after --no-baseline"
    else:
        return took_ns / 1e6
    message = f"--by inductor needs --wall-time-ms, how long a run takes without a profiler: {why}"
    raise UsageError(message, "give it, or one record of a capture of one runner")


def sequence_length_of(paths: Sequence[str | Path]) -> int | None:
    """Returns the number of steps of a sequence, if all captures agree.

    Returns:
        None if a file is not a manifest, or the numbers differ.
    """
    records = [_record_at(path) for path in paths]
    lengths = {record.problem.seq_length if record else None for record in records}
    return lengths.pop() if len(lengths) == 1 else None


def _record_at(path: str | Path) -> Capture | None:
    """Returns the manifest in a file; None for a file of another kind."""
    return Capture.load(path) if may_be_record(path) and _is_record(Path(path)) else None


def _untold(record: Capture | None) -> str:
    """Returns the reason why the runs of a capture are unknown; empty if known."""
    if record is None:
        return "is no record, and others are"
    if not record.ok:
        return "is the record of a capture that failed"
    return f"is of several runners: {', '.join(record.runners)}" if record.runners[1:] else ""


def _runs(record: Capture) -> int:
    if record.tool.name != "torch":
        return record.iterations
    # The profiled command has a schedule only if it is not the default.
    flag = "--schedule="
    given = [word.removeprefix(flag) for word in record.command if word.startswith(flag)]
    schedule = Schedule.parse(given[-1]) if given else Schedule()
    return sum(map(len, schedule.cycles(record.iterations)))


def _is_record(path: Path) -> bool:
    try:
        plain = json.loads(reading.content(path, _LARGEST))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(plain, dict) and plain.get("schema") == "fastrnns-rs/capture"


def _of_record(path: Path, record: Capture) -> list[Path]:
    kinds = {one.kind for one in record.artefacts}
    wanted = kinds & READABLE or {*[kind for kind in _EXPORTABLE if kind in kinds][:1]}
    if not wanted:
        held = ", ".join(sorted(kinds)) or "no file"
        raise FastrnnsError(f"{path} has no file that can be read: {held}", "capture again with --nsys or --torch")
    files = [_place(path, Path(one.path)) for one in record.artefacts if one.kind in wanted]
    missing = [file for file in files if not _is_there(file)]
    if missing:
        more = f", nor are {len(missing) - 1} more" if missing[1:] else ""
        raise FastrnnsError(
            f"{path} is the record of {missing[0]}, which is not there{more}",
            "put the files of a capture beside its record, or capture again",
        )
    return files


def _place(record: Path, file: Path) -> Path:
    """Returns the file beside the manifest, or else at the recorded path.

    Captures are moved and copied as whole folders.
    """
    beside = record.parent / file.name
    return beside if _is_there(beside) else file


def _is_there(file: Path) -> bool:
    # `os.path.exists` returns False for a name that is too long; `Path.exists` raises an error.
    return os.path.exists(file)  # noqa: PTH110
