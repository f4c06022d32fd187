"""Stored parts of an attempt: files, log and capture manifest."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.documents import file_names, writing
from fastrnns_rs.documents.capture_manifest import ArtefactEntry, Capture, CheckEntry, ToolEntry
from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.errors import FastrnnsError, UsageError
from fastrnns_rs.verbs.profile import redaction
from fastrnns_rs.verbs.profile.attempt import child_environment

if TYPE_CHECKING:
    from fastrnns_rs._core import Profiler
    from fastrnns_rs.runners.plan import Plan
    from fastrnns_rs.verbs.profile.attempt import Attempt


def save_tables(attempt: Attempt) -> None:
    """Writes the tables of torch's profiler once each: no other file contains them."""
    for cycle in attempt.cycles:
        name = file_names.choose_distinct(cycle["runner"], (one["runner"] for one in attempt.cycles))
        path = file_names.with_suffix(attempt.raw_stem, f".{name}.{cycle['index']}.txt")
        _write(path, cycle["table"])
        if str(path) not in (name for name, _ in cycle["files"]):
            cycle["files"].append((str(path), "torch_table"))


def keep(
    plan: Plan,
    tool: Profiler,
    attempt: Attempt,
    found: list[CheckEntry],
    *,
    intermediate: bool,
) -> Capture:
    """Writes the log and the capture manifest beside the other files.

    The function may be called again after a failure.

    Args:
        plan: Plan of the capture.
        tool: Profiler.
        attempt: State of the attempt.
        found: Results of the checks.
        intermediate: Keep intermediate files.

    Returns:
        The manifest, with absolute paths of its files.

    Raises:
        OSError: If a file cannot be written.
        FastrnnsError: If a valid file could not be redacted, and was removed.
    """
    save_tables(attempt)
    files = _files(tool, attempt, intermediate=intermediate)
    failures: list[FastrnnsError] = []
    log = "\n".join(entry.text for entry in attempt.log if not (attempt.redact and entry.printed)) + "\n"
    variables, folder = child_environment(), attempt.stem.parent
    if attempt.redact:
        failures = _redact_and_place(files, attempt, variables)
        files = [*attempt.placed.items()]
        log = redaction.redact_log(log, variables, *attempt.folders)
    attempt.forget_answer()
    _write(attempt.log_path, log)
    completed = attempt.completed
    phases = dict.fromkeys(phase for one in attempt.runners for phase in one["phases"])
    manifest = Capture(
        tool=ToolEntry(name=tool.name, path=str(tool.path) if tool.path else None, version=tool.version),
        command=[*map(attempt.final_text, attempt.command)],
        started_utc=attempt.started.isoformat(timespec="seconds").replace("+00:00", "Z"),
        duration_ns=completed.duration_ns if completed else 0,
        exit_status=completed.exit_status if completed else None,
        signal=completed.signal if completed else None,
        timed_out=attempt.ran_out_of_time,
        artefacts=[_artefact(path, kind) for path, kind in files],
        checks=found,
        profiled_over_unprofiled=attempt.ratio,
        profiled_over_unprofiled_ci=None if attempt.ratio_interval is None else [*attempt.ratio_interval],
        unprofiled_ns=[attempt.unprofiled_ns.get(task.runner.name) for task in plan.tasks],
        warnings=[
            *attempt.warnings,
            *(
                make_warning("torch_warning", evidence=" ".join(text.split()))
                for text in attempt.answer.get("warnings", [])
            ),
        ],
        runners=[task.runner.name for task in plan.tasks],
        problem=plan.tasks[0].problem,
        iterations=plan.nloops,
        phases=list(phases),
    )
    if attempt.redact:
        manifest = redaction.redact_manifest(manifest, variables, *attempt.folders)
    _write(file_names.with_suffix(attempt.stem, ".json"), manifest.to_json())
    if failures and found and manifest.ok:
        raise failures[0]
    return manifest.resolved(folder)


def _write(path: Path, text: str) -> None:
    """Writes a file, and replaces a symbolic link in its place.

    Another user may have put the link there.

    Raises:
        OSError: If the file cannot be written.
    """
    try:
        writing.write(path, [text.encode(errors="replace")], str(path))
    except UsageError as error:
        # The folder was writable before, so the original error, such as a full disk, is more accurate.
        raise error.__cause__ or error from None


def _files(tool: Profiler, attempt: Attempt, *, intermediate: bool) -> list[tuple[Path, str]]:
    """Returns the existing files, and removes intermediate files that are not needed."""
    listed = [(name, kind) for cycle in attempt.cycles for name, kind in cycle["files"]]
    if tool.name == "torch" and not attempt.answer.get("finished"):
        # The process lists the files of a runner after its last cycle, and may have been ended before.
        listed += _find_unlisted(attempt, {name for name, _ in listed})
    # A runner may list any name. Unlike `Path.is_file`, this is False for one that no file has.
    files = [(Path(name).absolute(), kind) for name, kind in listed if os.path.isfile(name)]  # noqa: PTH113
    made = [one for one in tool.artefacts(attempt.raw_stem) if one[0].is_file()]
    readable = any(path.stat().st_size for path, _, is_step in made if not is_step) and not tool.finish(
        attempt.raw_stem
    )
    for path, kind, is_step in made:
        if is_step and readable and not intermediate:
            path.unlink()
        else:
            files.append((path, kind))
    return files


def _find_unlisted(attempt: Attempt, listed: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yields the path and the kind of further files of torch's profiler."""
    for folder, suffix, kind in (
        (attempt.trace_folder, ".json.gz", "kineto"),
        (attempt.trace_folder, ".pt.trace.json", "kineto"),
        (attempt.raw_stem.parent, ".memory.json", "memory_timeline"),
    ):
        # Unlike `Path.glob`, this finds nothing in a folder that cannot be read.
        found = glob.glob(f"{glob.escape(str(folder / attempt.raw_stem.name))}.*{suffix}")  # noqa: PTH207
        yield from ((name, kind) for name in sorted(found) if name not in listed)


def _redact_and_place(
    files: list[tuple[Path, str]], attempt: Attempt, variables: Mapping[str, str]
) -> list[FastrnnsError]:
    """Redacts files and moves them to their final folder.

    Files that cannot be redacted are removed.

    Returns:
        The errors.
    """
    failures = []
    for path, kind in files:
        # A report has the same content as the export, in a format that only nsys writes; a snapshot is a pickle.
        if kind in {"nsys_report", "nsys_stream", "memory_snapshot"}:
            path.unlink()
            continue
        try:
            redact = redaction.redact if kind in {"nsys_sqlite", "nvprof_profile"} else redaction.redact_text
            redact(path, variables, *attempt.folders)
        except FastrnnsError as error:
            path.unlink()
            message = f"{attempt.final_text(error.message)} (the file was removed)"
            failures.append(FastrnnsError(message, "Capture again without `redact`."))
            continue
        attempt.placed[path if attempt.private is None else attempt.private.move_out(path)] = kind
    return failures


def _artefact(path: Path, kind: str) -> ArtefactEntry:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return ArtefactEntry(path=str(path), kind=kind, size_bytes=path.stat().st_size, sha256=digest)
