"""Selection of the files to read in a folder of captures."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from fastrnns_rs.errors import FastrnnsError, UsageError
from fastrnns_rs.verbs.report import file_kinds
from fastrnns_rs.verbs.report.export_pairs import find_unread
from fastrnns_rs.verbs.report.manifests import find_manifest_files
from fastrnns_rs.verbs.report.real_paths import real_path

#: Unlike the methods of `Path`, they raise no error for a link that cannot be followed.
_is_file, _is_folder = os.path.isfile, os.path.isdir


def files_in(folder: str | Path) -> list[tuple[str, str | None]]:
    """Returns the files of a folder that may be captures, in natural order of names.

    A capture manifest of `profile` stands for its files, which are then not listed separately. An SQLite export of nsys
    replaces the report of the same name beside it, unless the export is older. Traces that `report --trace` drew are
    left out. Subfolders and hidden files are skipped.

    Returns:
        Each file with its runner; None for a file of several runners, or if its runner is unknown.

    Raises:
        FastrnnsError: If the folder cannot be listed.
        UsageError: If the folder contains no file.
    """
    found = _list(folder)
    if not found:
        hint = "Use a folder of captures; subfolders are skipped."
        raise UsageError(f"no file in folder: {str(folder)!r}", hint, value=str(folder))
    manifests = _find_manifests(found)
    recorded = _recorded(manifests)
    unread = {*find_unread(found, recorded), *_drawings(found)}
    chosen: list[tuple[str, str | None]] = []
    for file in found:
        if file in manifests:
            chosen += manifests[file][0]
        elif file not in unread and real_path(file) not in recorded:
            chosen.append((str(file), None))
    # A link, or a second manifest, may name a file again.
    return [*{real_path(one): (one, runner) for one, runner in reversed(chosen)}.values()][::-1]


def find_older_exports(folder: str | Path) -> dict[Path, Path]:
    """Returns the exports of nsys that `files_in` leaves out.

    Each has its report, which is newer.

    Raises:
        FastrnnsError: If the folder cannot be listed.
    """
    found = _list(folder)
    unread = find_unread(found)
    # Few folders have older exports, and reading manifests takes time.
    if any(file.suffix == ".sqlite" for file in unread):
        unread = find_unread(found, _recorded(_find_manifests(found)))
    return {file: report for file, report in unread.items() if file.suffix == ".sqlite"}


def find_drawings(folder: str | Path) -> list[Path]:
    """Returns the traces drawn by `report --trace` that `files_in` leaves out.

    Raises:
        FastrnnsError: If the folder cannot be listed.
    """
    return _drawings(_list(folder))


def find_special(folder: str | Path) -> list[Path]:
    """Returns links without a file, pipes, sockets and devices.

    Raises:
        FastrnnsError: If the folder cannot be listed.
    """
    return _list(folder, lambda one: not _is_file(one) and not _is_folder(one))


def _drawings(files: list[Path]) -> list[Path]:
    """Returns the drawn traces; none if there are no captures beside them."""
    drawn = [file for file in files if file_kinds.is_drawing(file)]
    others = {*files} - {*drawn} if drawn else ()
    return drawn if any(file_kinds.kind(file) == "capture" for file in others) else []


def _list(folder: str | Path, is_counted: Callable[[Path], bool] = _is_file) -> list[Path]:
    try:
        counted = (one for one in Path(folder).iterdir() if not one.name.startswith(".") and is_counted(one))
        return sorted(counted, key=lambda file: natural(file.name))
    except OSError as error:
        message, hint = f"cannot read folder: {str(folder)!r}", "Use a folder that is readable."
        raise FastrnnsError(message, hint, reason=error.strerror or str(error), value=str(folder)) from None


def _find_manifests(files: list[Path]) -> dict[Path, tuple[list[tuple[str, str | None]], set[Path]]]:
    """Returns the manifests, each with the files to read and all its files."""
    named = (file for file in files if file_kinds.may_be_manifest(file))
    return {file: manifest for file in named if (manifest := find_manifest_files(file))}


def _recorded(manifests: dict[Path, tuple[list[tuple[str, str | None]], set[Path]]]) -> set[Path]:
    return {one for _, files in manifests.values() for one in files}


def natural(name: str) -> list[tuple[int, str]]:
    """Returns a sort key in natural order: `rank2` before `rank10`."""
    parts = re.split(r"([0-9]+)", name)
    return [(int(part), "") if place % 2 else (-1, part) for place, part in enumerate(parts)]
