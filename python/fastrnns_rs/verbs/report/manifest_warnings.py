"""Warnings about folders and capture manifests.

They tell of older exports, drawn traces, replaced files and failed captures, and repeat those of the manifests.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from dataclasses import replace
from pathlib import Path

from fastrnns_rs.counting import counted
from fastrnns_rs.documents import reading
from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.verbs.report.capture_folders import find_drawings, find_older_exports, find_special
from fastrnns_rs.verbs.report.manifests import find_read_artefacts, manifests_at

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fastrnns_rs.documents.capture_manifest import ArtefactEntry, Capture
    from fastrnns_rs.documents.codec import RunWarning

#: A larger file is compared by its size only, since hashing takes longer than reading the manifest.
_LARGEST_HASHED = 16 * 1024 * 1024
#: Maximum number of files that a warning names.
_MOST_NAMED = 10


def find_manifest_warnings(paths: Iterable[str | Path]) -> list[RunWarning]:
    """Returns the warnings about manifests, folders and the manifests in them.

    Args:
        paths: Captures, manifests and folders that can be read.
    """
    found: list[RunWarning] = []
    for path in paths:
        if Path(path).is_dir():
            found += [*_check_exports(path), *_check_others(path)]
        for file in manifests_at(path):
            if (read := find_read_artefacts(file)) is not None:
                manifest, artefacts = read
                found += [*_check_files(artefacts), *_check_capture(file, manifest), *_repeat(file, manifest)]
    return found


def _check_exports(folder: str | Path) -> Iterator[RunWarning]:
    """Yields a warning if exports of nsys are left out of a folder.

    Their reports are newer.
    """
    older = find_older_exports(folder)
    if older:
        their = "its report is" if len(older) == 1 else "their reports are"
        named = [f"{export}: older than {report.name}" for export, report in older.items()]
        file = shlex.quote(str(next(iter(older))))
        yield make_warning(
            "files_left_out",
            message=f"figures do not include {counted(len(older), 'nsys export')}: {their} newer",
            evidence=_first(named),
            hint=f"Delete the older export, or read only the export: fastrnns-rs report {file}",
        )


def _check_others(folder: str | Path) -> Iterator[RunWarning]:
    """Yields warnings about drawn traces, links without a file, pipes and devices."""
    for paths, noun, what, hint in (
        (find_drawings(folder), "trace", "drawn by `report --trace`", "Read only such a trace: fastrnns-rs report {}"),
        (find_special(folder), "path", "without a regular file", "Check the path: ls -l {}"),
    ):
        if paths:
            yield make_warning(
                "files_left_out",
                message=f"figures do not include {counted(len(paths), noun)} {what}",
                evidence=_first([*map(str, paths)]),
                hint=hint.format(shlex.quote(str(paths[0]))),
            )


def _first(named: list[str]) -> str:
    more = [f"and {len(named) - _MOST_NAMED} more"] if len(named) > _MOST_NAMED else []
    return "; ".join([*named[:_MOST_NAMED], *more])


def _check_files(artefacts: Iterable[tuple[ArtefactEntry, Path]]) -> Iterator[RunWarning]:
    digests: dict[tuple[int, int], str] = {}
    for artefact, file in artefacts:
        difference = _difference(artefact, file, digests)
        if difference:
            yield make_warning("capture_file_differs", evidence=f"{file}: {difference}", FILE=shlex.quote(str(file)))


def _difference(artefact: ArtefactEntry, file: Path, digests: dict[tuple[int, int], str]) -> str | None:
    """Returns the difference between a file and its manifest, if any.

    Args:
        artefact: Entry of the manifest.
        file: Its file.
        digests: Known digests by device and inode: a manifest may name a file many times.
    """
    try:
        found = file.stat()
        if found.st_size != artefact.size_bytes:
            return f"{found.st_size:,} bytes, and {artefact.size_bytes:,} bytes in the manifest"
        if artefact.sha256 and found.st_size <= _LARGEST_HASHED:
            key = (found.st_dev, found.st_ino)
            if key not in digests:
                digests[key] = hashlib.sha256(reading.content(file, _LARGEST_HASHED)).hexdigest()
            return "another sha256" if digests[key] != artefact.sha256.lower() else None
    except (OSError, ValueError):
        # The reader of the file reports the error. Python raises ValueError for a path that no file can have.
        pass
    return None


def _check_capture(path: str | Path, manifest: Capture) -> Iterator[RunWarning]:
    """Yields a warning if the checks or the command of a capture failed."""
    failures = [f"{one.id}: expected {one.expected}, found {one.found}" for one in manifest.checks if not one.ok]
    if manifest.timed_out:
        failures.append("the command did not end in time")
    elif manifest.signal is not None:
        failures.append(f"the command was killed by signal {manifest.signal}")
    elif manifest.exit_status:
        failures.append(f"the command ended with exit status {manifest.exit_status}")
    elif not manifest.checks:
        failures.append("the command ended before the checks")
    if failures:
        yield make_warning("capture_failed", evidence=f"{os.fspath(path)}: {'; '.join(failures)}")


def _repeat(path: str | Path, manifest: Capture) -> Iterator[RunWarning]:
    """Yields the warnings that a manifest contains, with its path in their evidence."""
    for one in manifest.warnings:
        evidence = os.fspath(path) if one.evidence is None else f"{os.fspath(path)}: {one.evidence}"
        yield replace(one, evidence=evidence)
