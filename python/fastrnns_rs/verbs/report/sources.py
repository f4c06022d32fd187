"""Which files stand behind a path: those of a folder or of a capture record, or the file itself."""

from __future__ import annotations

import os

from fastrnns_rs.verbs.report.file_kinds import may_be_record

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
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
