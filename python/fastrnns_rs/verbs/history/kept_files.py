"""Files of any history, by their place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.verbs.history.run_history import RunHistory

if TYPE_CHECKING:
    from pathlib import Path


def find_kept(place: Path) -> Literal["run", "tag"] | None:
    """Returns what a file is in a history; None for other files.

    Args:
        place: Path without symbolic links.
    """
    folder = place.parent
    if not place.is_file() or "" in {folder.name, folder.parent.name}:
        return None
    history = RunHistory(folder.parent)
    if folder == history.runs_folder:
        try:
            return "run" if history.find_place(Run.load(place)) == place else None
        except FastrnnsError:
            return None
    history = RunHistory(folder.parents[1])
    return "tag" if folder.parent == history.tags_folder and history.runs_folder.is_dir() else None
