"""Runs of the Python API, saved in the history while they are measured."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Self

from fastrnns_rs.documents import writing
from fastrnns_rs.documents.file_names import distinct
from fastrnns_rs.documents.layout import Layout
from fastrnns_rs.documents.run_file import Process, Run
from fastrnns_rs.documents.writer_lock import WriterLocks
from fastrnns_rs.errors import UsageError
from fastrnns_rs.processes.temporary_folder import find_temporary_root
from fastrnns_rs.verbs.history.run_history import chosen_history
from fastrnns_rs.verbs.history.run_names import one_run
from fastrnns_rs.views.text import shell_word

if TYPE_CHECKING:
    from fastrnns_rs.verbs.history.run_history import RunHistory


class RunSaver:
    """Writer that saves a run in the history after each process, for a `with` block.

    No other process writes the run, or resumes it, until the end of the block. A run that the history cannot take is
    written to the temporary folder at the end. A KeyboardInterrupt of the block gets an attribute `run`: the last run,
    or None.

    Args:
        history: History; None to save nothing.
    """

    def __init__(self, history: RunHistory | None) -> None:
        self._history = history
        self._layout = Layout(keep=Process)
        self._locks = WriterLocks()
        self._last: Run | None = None
        # The last run, if the history does not have it.
        self._unsaved: Run | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, *_: object) -> None:
        if isinstance(error, KeyboardInterrupt):
            vars(error).setdefault("run", self._last)
        with self._locks:
            if self._unsaved is not None:
                self._keep_elsewhere(self._unsaved)

    def load(self, source: Run | str | os.PathLike[str]) -> Run:
        """Returns the run to resume, which no other process measures.

        Args:
            source: Run, the path of its file, or its name in the history.

        Raises:
            UsageError: If the run does not exist, is not a run, or is still running.
        """
        if isinstance(source, Run):
            return source
        if not isinstance(source, (str, os.PathLike)):
            hint = "Use a run, the path of its file, or its name, such as @last."
            raise UsageError(f"not a run: {source!r}", hint, where="resume", value=source)
        path = Path(one_run(source, self._history))
        # A name that is too long is not an error here.
        if os.path.isfile(path):  # noqa: PTH113
            self._locks.hold(path)
        return Run.load(path)

    def save(self, run: Run) -> None:
        """Saves a run, and warns once about a history that cannot be written to."""
        self._last = run
        if self._history is None:
            return
        try:
            self._history.make()
            self._history.keep(run, self._layout.pieces(run), self._locks)
            self._unsaved = None
        except UsageError as error:
            self._unsaved = run
            warnings.warn(f"the run is not kept in the history: {error}", stacklevel=2)

    def _keep_elsewhere(self, run: Run) -> None:
        try:
            stem = f"fastrnns-rs-run-{distinct(run.run_id)}"
            place = writing.write_new(str(find_temporary_root()), stem, ".json", self._layout.pieces(run))
            text = (
                f"the run is not in the history, but in {place}. Run: fastrnns-rs history --import {shell_word(place)}"
            )
            if self._history is not None and self._history != chosen_history(None):
                text += f" --history {shell_word(str(self._history.folder))}"
        except OSError as error:
            text = f"the run is in no file: no temporary file can be written: {error.strerror}"
        warnings.warn(text, stacklevel=3)
