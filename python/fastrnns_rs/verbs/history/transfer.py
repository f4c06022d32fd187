"""Export of runs to a folder, and import from folders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.documents import reading, writing
from fastrnns_rs.documents.missing_file import file_not_found
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.documents.writer_lock import locked
from fastrnns_rs.errors import FastrnnsError, UsageError, make_system_error
from fastrnns_rs.verbs.history import indexed_files

if TYPE_CHECKING:
    from fastrnns_rs.documents.history import KeptRun
    from fastrnns_rs.verbs.history.run_history import RunHistory


def export_runs(runs: Iterable[KeptRun], folder: Path) -> list[Path]:
    """Copies run files into a folder, under their names in the history.

    An existing file with the same content is kept.

    Returns:
        The paths of the copies.

    Raises:
        UsageError: If the folder cannot be written to, or has a different file of the same name.
    """
    found = []
    try:
        if folder.exists() and not folder.is_dir():
            reason = "the path is a file"
            raise UsageError(f"invalid path: {str(folder)!r}", "Use a folder.", reason=reason, value=str(folder))
        folder.mkdir(parents=True, exist_ok=True)
        for one in runs:
            path = folder / Path(one.path).name
            content = reading.content(one.path)
            # Another command may export it at the same time.
            with locked(path, waits=True) as place:
                if not os.path.lexists(path):
                    writing.write(path, [content], place)
                elif path.is_symlink() or not path.is_file() or reading.content(path) != content:
                    message, hint = f"file exists with another content: {str(path)!r}", "Export to an empty folder."
                    raise UsageError(message, hint, value=str(path))
            found.append(path)
    except OSError as error:
        raise make_system_error(error) from error
    return found


def import_runs(history: RunHistory, places: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """Copies the run files of folders, or single run files, into the history.

    A run that the history already contains is not replaced.

    Returns:
        The paths of the copies, and a note on each other file: what is wrong, or that the run is in the history.

    Raises:
        UsageError: If a path does not exist, or the history cannot be written to.
    """
    kept: list[Path] = []
    notes: list[str] = []
    history.make()
    # Copies may have any name.
    known = {one.run_id: Path(one.path) for one in history.document().runs}
    for file in _files(places, notes):
        try:
            text = reading.document_text(file, Run.noun)
            run = Run.from_text(text, file)
            indexed_files.check(run, file)
        except FastrnnsError as error:
            notes.append(f"skipped: {error.message}")
            continue
        if run.run_id in known:
            # A run that is still measured is locked.
            notes.append(_explain(file, text, known[run.run_id], is_known=True))
            continue
        place = history.find_place(run)
        # Another command may import it at the same time.
        with locked(place, waits=True):
            if os.path.lexists(place):
                notes.append(_explain(file, text, place, is_known=False))
                continue
            # The content is copied unchanged: a newer build may have written keys that this build does not know.
            writing.write(place, [text.encode()])
        kept.append(place)
        known[run.run_id] = place
    return kept, notes


def _explain(file: Path, text: str, place: Path, *, is_known: bool) -> str:
    """Returns a note on a run that is in `place`, or whose place is taken."""
    try:
        is_other = os.path.lexists(place) and not (place.is_file() and reading.content(place) == text.encode())
    except OSError as error:
        # Only another user may read the file, or it is too large.
        return f"skipped: cannot read {place.name!r} in the history ({error.strerror or error}): {str(file)!r}"
    if is_other and not is_known:
        # Text of any kind may be an id, and time and id name the place.
        return f"skipped: file name of another run in the history: {place.name!r}"
    # The run may have been resumed.
    return f"{'skipped: other content of this run is' if is_other else 'already'} in the history: {str(file)!r}"


def _files(places: Sequence[Path], notes: list[str]) -> Iterable[Path]:
    """Yields the files of folders and histories, and notes folders without any."""
    for place in places:
        if place.is_dir():
            found = [*_files_in(place), *(_files_in(place / "runs") if (place / "runs").is_dir() else ())]
            if not found:
                notes.append(f"skipped: no run file in the folder: {str(place)!r}")
            yield from found
        elif place.is_file():
            yield place
        elif place.exists():
            message, hint = f"not a file or folder: {str(place)!r}", "Use a folder of run files."
            raise UsageError(message, hint, value=str(place))
        else:
            raise file_not_found(place, "Use a folder of run files.")


def _files_in(folder: Path) -> list[Path]:
    try:
        found = sorted(one for one in folder.iterdir() if one.suffix == ".json" and not one.name.startswith("."))
    except OSError as error:
        raise make_system_error(error) from error
    # Opening a pipe would wait for its writer.
    return [one for one in found if one.is_file()]
