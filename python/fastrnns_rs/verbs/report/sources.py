"""Files behind a path: of a folder, of a capture manifest, or the file itself."""

from __future__ import annotations

import os

from fastrnns_rs.verbs.report.file_kinds import may_be_manifest

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def behind(path: str | Path) -> list[tuple[str, bool, str | None]]:
    """Returns the files behind a path.

    Returns:
        Files of a folder or of a capture manifest, or the path itself. Each has a flag that is True if the file may be
        something other than a capture, and its runner; None for a file of several runners, or if its runner is unknown.

    Raises:
        FastrnnsError: If files of a manifest are missing, it is damaged, or a folder has no file.
        UsageError: If no file can have the name.
    """
    if os.path.isdir(path):
        from fastrnns_rs.verbs.report.capture_folders import files_in

        return [(file, True, runner) for file, runner in files_in(path)]
    if not may_be_manifest(path):
        shown = os.fspath(path)
        try:
            os.fsencode(shown)
        except UnicodeEncodeError as error:
            from fastrnns_rs.documents.missing_file import file_not_found

            # Half of a character, which no file name has.
            raise file_not_found(shown, "Use the path of a capture.") from error
        return [(shown, False, None)]
    from fastrnns_rs.verbs.report.manifests import list_files

    return [(file, False, runner) for file, runner in list_files(path)]


def files_not_to_replace(path: str | Path) -> Iterator[str | Path]:
    """Yields a path, the files of a folder, and all files of capture manifests."""
    yield path
    listed: list[str | Path] = [path]
    if os.path.isdir(path):
        try:
            listed = [os.path.join(path, name) for name in os.listdir(path) if not name.startswith(".")]
        except OSError:
            # The error is reported when the captures are read.
            return
        yield from listed
    for file in listed:
        if may_be_manifest(file):
            from fastrnns_rs.verbs.report.manifests import find_manifest_files

            wanted, others = find_manifest_files(file) or ((), ())
            yield from (*(one for one, _ in wanted), *others)
