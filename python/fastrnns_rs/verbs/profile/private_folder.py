"""Private folder of a capture with `redact`.

Its files leave it only after redaction. An interrupted or killed command then leaves no
unredacted file in the output folder.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.processes.temporary_folder import temporary_folder, temporary_root

if TYPE_CHECKING:
    from fastrnns_rs.runners.profile_request import ProfileRequest

_PREFIX = "fastrnns-rs-redact-"
_NAME = re.compile(rf"{_PREFIX}[0-9a-f]{{16}}")
#: Age in seconds from which a folder without a lock is abandoned: a new folder gets its lock within this time.
_ABANDONED_S = 60.0


@dataclass(frozen=True, slots=True)
class PrivateFolder:
    """Folder that only its owner may open, and where its files go.

    Attributes:
        path: Path of the folder.
        output: Output folder of the capture.
        handler: Handler and folder of `on_trace_ready`, as requested; None for no folder.
    """

    path: Path
    output: Path
    handler: tuple[str, str] | None = None

    @property
    def traces(self) -> Path:
        """Private folder of the traces that `on_trace_ready` writes to another folder."""
        return self.path / "traces"

    def adapt(self, request: ProfileRequest) -> ProfileRequest:
        """Returns the request with a private folder for traces."""
        if self.handler is None:
            return request
        return replace(request, torch=replace(request.torch, on_trace_ready=f"{self.handler[0]}:{self.traces}"))

    def final_text(self, text: str) -> str:
        """Returns a text with the final folders instead of the private folders."""
        if self.handler is not None:
            text = text.replace(str(self.traces), self.handler[1])
        return text.replace(str(self.path), str(self.output))

    def move_out(self, file: Path) -> Path:
        """Moves a redacted file to its final folder, and returns its new path.

        A file outside of the private folder stays in its place.

        Raises:
            OSError: If the file cannot be moved.
        """
        if not file.is_relative_to(self.path):
            return file
        folder = self.output
        if self.handler is not None and file.parent == self.traces:
            # The profiled process would have expanded the tilde.
            folder = Path(self.handler[1]).expanduser().absolute()
            folder.mkdir(parents=True, exist_ok=True)
        _move(file, folder / file.name)
        return folder / file.name


@contextmanager
def private_folder(output: Path, request: ProfileRequest) -> Iterator[PrivateFolder]:
    """Creates a private temporary folder for the length of a `with` block.

    Folders of killed commands are removed first.

    Args:
        output: Output folder of the capture.
        request: Request of the capture.

    Raises:
        FastrnnsError: If the folder cannot be created.
    """
    _remove_abandoned()
    handler = None if request.torch.trace_folder is None else request.torch.handler
    with temporary_folder(_PREFIX) as name, _locked(name):
        # Tools print the path without symbolic links.
        yield PrivateFolder(Path(name).resolve(), output.resolve(), handler)


@contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Locks a folder: the system releases the lock even if the process is killed."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # Without locks of the file system, the folder is removed by this process only.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _remove_abandoned() -> None:
    """Removes private folders of this user whose process was killed."""
    for folder in temporary_root().glob(f"{_PREFIX}*"):
        # A folder of the user may begin like that.
        if _NAME.fullmatch(folder.name) is None:
            continue
        with suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                status = os.fstat(descriptor)
                if status.st_uid == os.geteuid() and time.time() - status.st_mtime > _ABANDONED_S:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(descriptor)


def _move(source: Path, target: Path) -> None:
    """Moves a file atomically, also to another file system."""
    try:
        source.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        copy = target.with_name(f".{secrets.token_hex(8)}.part")
        try:
            shutil.copy2(source, copy)
            copy.replace(target)
        finally:
            copy.unlink(missing_ok=True)
        source.unlink()
