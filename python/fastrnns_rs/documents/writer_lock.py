"""Locks that prevent two processes from writing the same file.

A lock is held on a file next to the document, since each save replaces the document by another file. The system
releases the lock when the process ends, for any reason.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import get_ident
from typing import TYPE_CHECKING, Self

from fastrnns_rs.documents.writing import real_path, removed_on_error
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

#: Longest file name of most file systems, in bytes.
_LONGEST_NAME = 255
#: Time to wait for another process, and between attempts, in seconds.
_PATIENCE_S, _PAUSE_S = 30.0, 0.05
_NOT_ORDINARY = "its lock file is not an ordinary file"
#: Number of attempts to lock a file that other processes remove.
_TRIES = 100
#: Text of a lock file: number of the process, and name of the machine.
_HOLDER = re.compile(r"(\d{1,10}) (.*)\n")
#: Opening fails for a link in place of the lock file, and does not wait for a pipe.
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
#: Object, process and thread of each lock of this process, by the path of its file.
_OWN: dict[str, tuple[WriterLocks, int, int]] = {}


class _HeldError(Exception):
    """Error: another process has locked the file."""


class WriterLocks:
    """Locks of this process, which are released at the end of a `with` block."""

    def __init__(self) -> None:
        # Descriptor of each lock file; None where the file may exist. Ctrl-C may come between any two steps.
        self._held: dict[str, int | None] = {}
        # Place of each claimed file, without links.
        self._claimed: dict[Path, str] = {}
        self._process = os.getpid()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if os.getpid() != self._process:
            # A fork shares the locks of its parent, which still writes the files.
            return
        self._claimed.clear()
        interrupt: KeyboardInterrupt | None = None
        while self._held:
            try:
                self._release(next(iter(self._held)))
            except KeyboardInterrupt as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt

    def hold(self, path: Path, real: str | None = None) -> str | None:
        """Locks a file, unless this object has already locked it.

        Args:
            path: File, which may be missing. Symbolic links to one file share a lock, hard links do not.
            real: Result of `real_path` for `path`; None computes it.

        Returns:
            Reason why another process may write the file all the same. None if it is locked.

        Raises:
            UsageError: If another process has locked the file, or no regular file can be there.
        """
        place = _lock_file(real_path(path) if real is None else real)
        if place in self._held:
            return None
        self._held[place] = None
        try:
            return self._lock(place)
        except _HeldError as error:
            self._forget(place)
            hint, reason = "Wait until the process has ended, or use another file.", f"{error} writes the file"
            raise UsageError(f"cannot write file: {str(path)!r}", hint, reason=reason, value=str(path)) from None
        except OSError as error:
            self._forget(place)
            return error.strerror

    def wait(self, path: Path, real: str | None = None) -> None:
        """Locks a file as `hold` does, but waits for a process that writes it.

        Raises:
            UsageError: If another process keeps it locked for long or this thread has locked it, or no regular file can
                be there.
        """
        real = real_path(path) if real is None else real
        owner, *thread = _OWN.get(_lock_file(real), (self,))
        if owner is not self and thread == [os.getpid(), get_ident()]:
            # The thread would wait for itself. Another thread may release its lock, and so may the parent of a fork.
            reason = f"process {os.getpid()} writes the file in this thread"
            raise UsageError(f"cannot write file: {str(path)!r}", "Use another file.", reason=reason, value=str(path))
        end = time.monotonic() + _PATIENCE_S
        while True:
            try:
                self.hold(path, real)
            except UsageError:
                if time.monotonic() >= end:
                    raise
            else:
                return
            time.sleep(_PAUSE_S)

    def claim(self, path: Path, check_first: Callable[[], object]) -> None:
        """Locks a file at the first call, and checks its place at every call.

        Args:
            path: File, which may be missing.
            check_first: Function that is called once the file is locked, and refuses it by an error.

        Raises:
            UsageError: If the file is refused, or another process has locked it or may have replaced it.
        """
        if path not in self._claimed:
            # A relative path cannot be followed once the working directory was removed.
            real = real_path(path)
            self.hold(path, real)
            check_first()
            self._claimed[path] = real
        self.check(path, self._claimed[path])

    def check(self, path: Path, real: str) -> None:
        """Rejects a file that lies in another place than the one that was locked.

        If its folder was replaced, a file of that name there may be of any other program.

        Args:
            path: File, for the message.
            real: File that `path` led to when it was locked.

        Raises:
            UsageError: If its lock is gone, and a file is there.
        """
        place = _lock_file(real)
        descriptor = self._held.get(place)
        # A folder that cannot be searched any more is not the one that was locked.
        with suppress(OSError):
            if descriptor is None or _is_at(descriptor, place):
                return
        if not os.path.lexists(real):
            # There is nothing to lose: the folder was removed, and perhaps created again.
            self._forget(place)
            self.hold(path, real)
            return
        hint, reason = "Use a folder that nothing else changes.", "its folder was replaced, or its lock file removed"
        raise UsageError(f"cannot write file: {str(path)!r}", hint, reason=reason, value=str(path))

    def _lock(self, path: str) -> str | None:
        """Creates and locks a lock file.

        Returns:
            Reason why the lock may not keep other processes away; None if there is no sign of another process.

        Raises:
            _HeldError: If another process has locked it; the text names that process.
            OSError: If it cannot be opened or locked.
        """
        for _ in range(_TRIES):
            self._held[path] = descriptor = _opened(path)
            _check_regular(descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                is_named = os.fstat(descriptor).st_size > 0
                # SMB refuses a lock that is held with EACCES.
                if isinstance(error, BlockingIOError) or (error.errno == errno.EACCES and is_named):
                    raise _HeldError(_holder(descriptor)) from None
                if not is_named:
                    # This file system does not support locks, so the file is useless.
                    with suppress(OSError):
                        os.unlink(path)
                raise
            # The previous holder may have removed the file since it was opened: then its lock protects nothing.
            if _is_at(descriptor, path):
                # A copy by hard links of a folder gives a second name to a lock file, which may be locked all the same.
                _check_single(descriptor)
                _check_own(descriptor)
                other = _other_process(descriptor)
                with suppress(OSError):
                    _name_holder(descriptor)
                _OWN[path] = (self, os.getpid(), get_ident())
                return other
            self._forget(path)
            self._held[path] = None
        with suppress(OSError):
            if os.stat(path).st_size == 0:
                os.unlink(path)
        raise OSError(errno.ESTALE, "its lock file does not keep its inode number")

    def _release(self, path: str) -> None:
        """Removes a lock file that no other process has locked, and forgets it.

        The call can be repeated after an interrupt.
        """
        with suppress(OSError):
            descriptor = self._held[path]
            if descriptor is None:
                self._held[path] = descriptor = _opened(path)
            _check_regular(descriptor)
            _check_single(descriptor)
            # The file is removed only while it is locked: afterwards it may be the lock of another process.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(descriptor, path):
                _check_own(descriptor)
                os.unlink(path)
        self._forget(path)

    def _forget(self, path: str) -> None:
        if path in _OWN and _OWN[path][0] is self:
            del _OWN[path]
        descriptor = self._held[path]
        if descriptor is not None:
            # A network file system may end a lock only some time after its file was closed.
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_UN)
            with suppress(OSError):
                os.close(descriptor)
        del self._held[path]


@contextmanager
def locked(path: Path, *, waits: bool = False) -> Iterator[str]:
    """Locks a file for a `with` block, where that is possible.

    Args:
        path: File, which may be missing.
        waits: True to wait for a process that writes it.

    Yields:
        File that the path's symbolic links lead to.

    Raises:
        UsageError: If another process has locked the file, or no regular file can be there.
    """
    place = real_path(path)
    with WriterLocks() as locks:
        if waits:
            locks.wait(path, place)
        else:
            locks.hold(path, place)
        yield place


def has_locks(folder: Path) -> bool:
    """Returns False if files of a folder cannot be locked."""
    path = str(folder / f".fastrnns-rs-{os.urandom(6).hex()}")
    try:
        # A signal may come between any two steps.
        with removed_on_error(path):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            with suppress(OSError):
                os.unlink(path)
    except OSError:
        return False
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _lock_file(path: str) -> str:
    folder, name = os.path.split(path)
    own = f".{name}.lock"
    if len(os.fsencode(own)) > _LONGEST_NAME:
        import hashlib

        own = f".{hashlib.sha256(os.fsencode(name)).hexdigest()[:32]}.lock"
    return os.path.join(folder, own)


def _opened(path: str) -> int:
    """Opens a lock file and returns its descriptor.

    Child programs do not inherit the descriptor.

    Raises:
        OSError: If it cannot be opened.
    """
    try:
        return os.open(path, _FLAGS, 0o666)
    except PermissionError:
        # Another user left the file behind.
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)


def _check_regular(descriptor: int) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise OSError(errno.EINVAL, _NOT_ORDINARY)


def _check_single(descriptor: int) -> None:
    """Rejects a file with several names.

    The number of the process would otherwise be written into the file of another user.

    Raises:
        OSError: If it has several names.
    """
    if os.fstat(descriptor).st_nlink > 1:
        raise OSError(errno.EINVAL, _NOT_ORDINARY)


def _check_own(descriptor: int) -> None:
    """Rejects a file with a text that no lock file has.

    It would be emptied, and then removed.

    Raises:
        OSError: If there is such a text.
    """
    text = _text(descriptor)
    if text and _HOLDER.fullmatch(text) is None:
        raise OSError(errno.EINVAL, "its lock file is another file")


def _is_at(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


def _name_holder(descriptor: int) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()} {os.uname().nodename}\n".encode(), 0)


def _holder(descriptor: int) -> str:
    found = _named(descriptor)
    return "another process" if found is None else _shown(*found)


def _other_process(descriptor: int) -> str | None:
    """Returns the reason to doubt a lock, or None.

    The lock file may name another process that is alive.

    File systems such as sshfs keep locks on each machine, so that locking succeeds although another machine has locked
    the file. A file that a killed process of another machine left behind looks the same.
    """
    found = _named(descriptor)
    if found is None:
        return None
    process, machine = found
    if machine == os.uname().nodename and (process == os.getpid() or not _is_alive(process)):
        return None
    return f"locks may not be shared, and {_shown(process, machine)} has locked the file too or was killed"


def _named(descriptor: int) -> tuple[int, str] | None:
    """Returns the process and the machine that a lock file names."""
    found = _HOLDER.fullmatch(_text(descriptor))
    return None if found is None else (int(found[1]), found[2])


def _text(descriptor: int) -> str:
    """Returns the start of a lock file; empty if it cannot be read."""
    # SMB refuses to read a file that another process has locked.
    with suppress(OSError):
        return os.pread(descriptor, 300, 0).decode(errors="replace")
    return ""


def _shown(process: int, machine: str) -> str:
    return f"process {process}" + (f" of {machine}" if machine != os.uname().nodename else "")


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return process > 0
