"""What a capture record says of captures: which files can be read, what ran how often, and how long it took."""

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

#: What of a record is read: the kinds of its files.
READABLE = {"nsys_sqlite", "nvprof_profile", "kineto"}
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


def beside(path: str | Path) -> tuple[list[str], set[Path]] | None:
    """Of a record: the files to read, and all that belong to it; None for another file, and for a damaged record."""
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
    """How many runs of a model the captures hold together, by their records; 1 where none of them is a record.

    Raises:
        UsageError: Only some are records, or one does not tell: it failed, or is of several models.
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
    """Milliseconds that one run of the captured model takes without a profiler, by the record of its capture.

    Raises:
        UsageError: There is no such record, or not only one, or it does not tell.
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
    """How many steps a sequence has in all of the captures; None where one is no record, or says another number."""
    records = [_record_at(path) for path in paths]
    lengths = {record.problem.seq_length if record else None for record in records}
    return lengths.pop() if len(lengths) == 1 else None


def _record_at(path: str | Path) -> Capture | None:
    """The record that a file is; None for one of another kind."""
    return Capture.load(path) if may_be_record(path) and _is_record(Path(path)) else None


def _untold(record: Capture | None) -> str:
    """Why a record does not tell of the runs that its captures hold; empty where it does."""
    if record is None:
        return "is no record, and others are"
    if not record.ok:
        return "is the record of a capture that failed"
    return f"is of several runners: {', '.join(record.runners)}" if record.runners[1:] else ""


def _runs(record: Capture) -> int:
    if record.tool.name != "torch":
        return record.iterations
    # The command that was profiled has one only where it is not the default.
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
    """The file beside the record, or else where the record says: captures are moved and copied as whole folders."""
    beside = record.parent / file.name
    return beside if _is_there(beside) else file


def _is_there(file: Path) -> bool:
    # A name that is too long for a file is no error here.
    return os.path.exists(file)  # noqa: PTH110
