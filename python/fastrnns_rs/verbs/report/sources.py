"""Which files stand behind a path: those of a folder or of a capture record, or the file itself."""

from __future__ import annotations

import os

from fastrnns_rs.verbs.report.file_kinds import may_be_record

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def behind(path: str | Path) -> list[tuple[str, bool]]:
    """The file itself, or those of the capture record or of the folder that it is; each with whether it may be none.

    Raises:
        FastrnnsError: A record lacks its files, or is damaged; a folder has no file.
    """
    if os.path.isdir(path):
        from fastrnns_rs.verbs.report.capture_folders import files_in

        return [(file, True) for file in files_in(path)]
    if not may_be_record(path):
        return [(os.fspath(path), False)]
    from fastrnns_rs.verbs.report.manifests import files_of

    return [(file, False) for file in files_of(path)]


def files_not_to_replace(path: str | Path) -> Iterator[str | Path]:
    """Yields a path, the files in it if it is a folder, and all files of the capture records among them."""
    yield path
    listed: list[str | Path] = [path]
    if os.path.isdir(path):
        try:
            listed = [os.path.join(path, name) for name in os.listdir(path) if not name.startswith(".")]
        except OSError:
            # An error when the captures are read.
            return
        yield from listed
    for file in listed:
        if may_be_record(file):
            from fastrnns_rs.verbs.report.manifests import beside

            wanted, others = beside(file) or ((), ())
            yield from (*wanted, *others)
