"""Selection of the files to read in a folder of captures."""

from __future__ import annotations

import os
import re
from pathlib import Path

from fastrnns_rs.errors import FastrnnsError, UsageError
from fastrnns_rs.verbs.report import file_kinds
from fastrnns_rs.verbs.report.manifests import find_manifest_files


def files_in(folder: str | Path) -> list[tuple[str, str | None]]:
    """Returns the files of a folder that may be captures, in natural order of names.

    A capture manifest of `profile` stands for its files, which are then not listed separately. An SQLite export of nsys
    replaces the report of the same name beside it. Subfolders and hidden files are skipped.

    Returns:
        Each file with its runner; None for a file of several runners, or if its runner is unknown.

    Raises:
        FastrnnsError: If the folder cannot be listed.
        UsageError: If the folder contains no file.
    """
    try:
        counted = (one for one in Path(folder).iterdir() if not one.name.startswith(".") and one.is_file())
        found = sorted(counted, key=lambda file: natural(file.name))
    except OSError as error:
        message, hint = f"cannot read folder: {str(folder)!r}", "Use a folder that is readable."
        raise FastrnnsError(message, hint, reason=error.strerror or str(error), value=str(folder)) from None
    if not found:
        raise UsageError(f"empty folder: {str(folder)!r}", "Use a folder of captures.", value=str(folder))
    manifests = {
        file: manifest for file in found if file_kinds.may_be_manifest(file) and (manifest := find_manifest_files(file))
    }
    recorded = {one for _, files in manifests.values() for one in files}
    exports = {file.stem for file in found if file.suffix == ".sqlite"}
    chosen: list[tuple[str, str | None]] = []
    for file in found:
        if file in manifests:
            chosen += manifests[file][0]
        elif file.resolve() not in recorded and not (file.stem in exports and file_kinds.needs_nsys(str(file))):
            chosen.append((str(file), None))
    # A link, or a second manifest, may name a file again.
    return [*{os.path.realpath(one): (one, runner) for one, runner in reversed(chosen)}.values()][::-1]


def natural(name: str) -> list[tuple[int, str]]:
    """Returns a sort key in natural order: `rank2` before `rank10`."""
    parts = re.split(r"([0-9]+)", name)
    return [(int(part), "") if place % 2 else (-1, part) for place, part in enumerate(parts)]
