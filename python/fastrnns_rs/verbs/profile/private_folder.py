"""Private folders: of temporary files of profilers, and of redacted captures.

Files leave the latter only after redaction. An interrupted or killed command then leaves no
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

from fastrnns_rs.processes.folder_removal import remove_folder
from fastrnns_rs.processes.temporary_folder import temporary_folder, temporary_root
from fastrnns_rs.processes.worker_setting import OWN_TMPDIR
from fastrnns_rs.verbs.profile.tools import PROGRAMS

if TYPE_CHECKING:
    from fastrnns_rs.runners.profile_request import ProfileRequest

_PREFIX = "fastrnns-rs-profile-"
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

    Args:
        output: Output folder of the capture.
        request: Request of the capture.

    Raises:
        FastrnnsError: If the folder cannot be created.
    """
    handler = None if request.torch.trace_folder is None else request.torch.handler
    with _new_folder() as path:
        yield PrivateFolder(path, output.resolve(), handler)


@contextmanager
def profiler_variables(name: str, own: str | None) -> Iterator[dict[str, str]]:
    """Yields variables that lead temporary files of a profiler to a private folder.

    nsys lets all users read its files, which have all variables of the process.

    Args:
        name: Name of the profiler.
        own: Value of `TMPDIR` for the profiled process; None for no value.

    Raises:
        FastrnnsError: If the folder cannot be created.
    """
    if name not in PROGRAMS:
        yield {}
        return
    with _new_folder() as path:
        # nsys has no variable of its own: the profiled process restores `TMPDIR`.
        yield {"NVPROF_TMPDIR": str(path)} if name == "nvprof" else {"TMPDIR": str(path), OWN_TMPDIR: own or ""}


@contextmanager
def _new_folder() -> Iterator[Path]:
    """Creates a folder of this user only, and removes those of killed commands."""
    _remove_abandoned()
    with temporary_folder(_PREFIX) as name, _locked(name):
        # Tools print the path without symbolic links.
        yield Path(name).resolve()


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
                    remove_folder(folder)
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
