"""Results file of a command.

No second command writes the file at the same time, and a full disk does not lose the results.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from fastrnns_rs.cli import output_checks, shared
from fastrnns_rs.documents import writing
from fastrnns_rs.documents.writer_lock import WriterLocks
from fastrnns_rs.errors import UsageError
from fastrnns_rs.escaping import visible

if TYPE_CHECKING:
    from pathlib import Path


#: Maximum length of a suffix. Longer endings are part of the name.
_LONGEST_SUFFIX = 10


class ResultsFile:
    """File at `--output`, for a `with` block.

    If the last results could not be written, they are kept in another place at the end of the block.

    Args:
        path: Path of the file; None for stdout, or if results are written elsewhere.

    Attributes:
        failed: True if the last results are not in the file.
        on_stdout: True if the same document is on stdout.
        locks: Locks of all files that the command writes. A run that is resumed may be one of them already.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._place: str | None = None
        self.locks = WriterLocks()
        self._unsaved: Sequence[bytes] = ()
        self._name = ""
        self.failed = False
        self.on_stdout = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self.locks:
            if self._path is not None and self.failed:
                self._keep_elsewhere(self._path)

    def reserve(self, inputs: Iterable[str | os.PathLike[str]] = ()) -> None:
        """Checks and locks the file before there is anything to lose.

        Other processes cannot write the file until the end of the block.

        Args:
            inputs: Files that the command reads.

        Raises:
            UsageError: If the file cannot be written to, is one of the inputs, or is being written.
        """
        if self._path is None:
            return
        output_checks.check_output(self._path, inputs)
        if shared.is_stream(self._path):
            # A run is written again after each process: it needs a file that can be replaced.
            writing.check_writable(self._path)
        # The path is resolved once: symbolic links that change during the run do not change the locked and written
        # file.
        self._place = writing.real_path(self._path)
        reason = self.locks.hold(self._path, self._place)
        if reason is not None:
            shared.tell([f"warning: nothing keeps a second run from writing {self._path}: {reason}"])

    def reserve_earlier(self, path: Path) -> None:
        """Locks a run that is to be resumed, if possible, before the run is read.

        Raises:
            UsageError: If the run is still running.
        """
        if os.path.isfile(path):  # noqa: PTH113  # a name that is too long is not an error here
            self.locks.hold(path)

    @property
    def path(self) -> Path | None:
        """Returns the file as the user named it."""
        return self._path

    @property
    def place(self) -> str | None:
        """Returns the written file, after all symbolic links.

        None for stdout, or before the file is reserved.
        """
        return self._place

    def save(self, pieces: Sequence[bytes], name: str) -> None:
        """Writes the results so far, as far as the disk allows.

        Args:
            pieces: Text of the document, in pieces.
            name: File name without suffix, used if the results are kept in another place.
        """
        if self._path is not None:
            self._write(self._path, pieces, name)

    def deliver(self, text: str) -> None:
        """Writes a whole result, to stdout if there is no file."""
        if self._path is None:
            shared.deliver(text, None)
        else:
            self._write(self._path, [text.encode(errors="surrogateescape")], "fastrnns-rs")

    def _write(self, path: Path, pieces: Sequence[bytes], name: str) -> None:
        try:
            if self._place is not None:
                self.locks.check(path, self._place)
            writing.write(path, pieces, self._place)
        except UsageError as error:
            if not self.failed:
                _tell_error(f"error: {error.message}", f"hint: {error.hint}")
            self.failed, self._unsaved, self._name = True, pieces, name
        else:
            if self.failed:
                _tell_error(f"note: {path} could be written again, and has all results")
            self.failed, self._unsaved = False, ()

    def _keep_elsewhere(self, path: Path) -> None:
        from fastrnns_rs.processes.temporary_folder import find_temporary_root

        suffix = path.suffix if len(path.suffix) <= _LONGEST_SUFFIX else ""
        missing = f"error: the last results are not in {path}, but"
        try:
            place = writing.write_new(str(find_temporary_root()), self._name, suffix, self._unsaved)
            _tell_error(f"{missing} in {place}", f"hint: Move that file to {path} when that path can be written.")
        except OSError as error:
            _tell_error(f"{missing} on stdout: no temporary file can be written: {error.strerror}")
            self.hand_over(self._unsaved)

    def hand_over(self, pieces: Sequence[bytes]) -> None:
        """Writes results that no file takes to stdout, unless they are there."""
        if self.on_stdout:
            return

        def write(take: Callable[[bytes], object]) -> None:
            for piece in pieces:
                take(piece)

        shared.deliver_pieces(write, None)


def _tell_error(*lines: str) -> None:
    # Stderr may be a file on the same disk.
    with suppress(OSError, ValueError):
        shared.tell_error(map(visible, lines))
