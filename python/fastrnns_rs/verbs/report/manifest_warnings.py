"""Warnings about capture manifests: replaced files and failed captures."""

from __future__ import annotations

import hashlib
import os
import shlex
from pathlib import Path

from fastrnns_rs.documents import reading
from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.verbs.report import file_kinds
from fastrnns_rs.verbs.report.manifests import find_read_artefacts

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fastrnns_rs.documents.capture_manifest import ArtefactEntry, Capture
    from fastrnns_rs.documents.codec import RunWarning

#: A larger file is compared by its size only, since hashing takes longer than reading the manifest.
_LARGEST_HASHED = 16 * 1024 * 1024


def find_manifest_warnings(paths: Iterable[str | Path]) -> list[RunWarning]:
    """Returns the warnings about manifests, and about manifests in folders.

    Args:
        paths: Captures, manifests and folders that can be read.
    """
    found = []
    for path in paths:
        for file in _manifests_at(path):
            if (read := find_read_artefacts(file)) is not None:
                manifest, artefacts = read
                found += [*_check_files(artefacts), *_check_capture(file, manifest)]
    return found


def _manifests_at(path: str | Path) -> list[str | Path]:
    folder = Path(path)
    if not folder.is_dir():
        return [path]
    return [file for file in sorted(folder.glob("[!.]*")) if file_kinds.may_be_manifest(file)]


def _check_files(artefacts: Iterable[tuple[ArtefactEntry, Path]]) -> Iterator[RunWarning]:
    for artefact, file in artefacts:
        difference = _difference(artefact, file)
        if difference:
            yield make_warning("capture_file_differs", evidence=f"{file}: {difference}", FILE=shlex.quote(str(file)))


def _difference(artefact: ArtefactEntry, file: Path) -> str | None:
    """Returns the difference between a file and its manifest, if any."""
    try:
        size = file.stat().st_size
        if size != artefact.size_bytes:
            return f"{size:,} bytes, and {artefact.size_bytes:,} bytes in the manifest"
        if artefact.sha256 and size <= _LARGEST_HASHED:
            digest = hashlib.sha256(reading.content(file, _LARGEST_HASHED)).hexdigest()
            return "another sha256" if digest != artefact.sha256.lower() else None
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
    if failures:
        yield make_warning("capture_failed", evidence=f"{os.fspath(path)}: {'; '.join(failures)}")
