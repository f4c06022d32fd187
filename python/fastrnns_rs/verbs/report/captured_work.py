"""Problems of captures, from their manifests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.verbs.report import file_kinds
from fastrnns_rs.verbs.report.manifests import find_read_artefacts

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Parts of a problem that do not change the work. Devices are compared by their names.
_IDLE = ("seed", "device")


def find_problems(paths: Iterable[str | Path]) -> dict[str, set[str]]:
    """Returns the options of the problems of captures.

    Args:
        paths: Captures, manifests and folders that can be read.

    Returns:
        Values by name; empty for captures without a manifest.
    """
    found: dict[str, set[str]] = {}
    for path in paths:
        for file in manifests_at(path):
            read = find_read_artefacts(file)
            # A capture that failed, or whose files are gone, is not read.
            if read is not None and read[1] and all(os.path.isfile(place) for _, place in read[1]):  # noqa: PTH113
                manifest, _ = read
                for name, value in manifest.problem.by_name().items():
                    if name not in _IDLE:
                        found.setdefault(name.replace("_", "-"), set()).add(str(value))
    return found


def manifests_at(path: str | Path) -> list[str | Path]:
    """Returns a file, or the files of a folder that may be manifests."""
    folder = Path(path)
    if not folder.is_dir():
        return [path]
    return [file for file in sorted(folder.glob("[!.]*")) if file_kinds.may_be_manifest(file)]
