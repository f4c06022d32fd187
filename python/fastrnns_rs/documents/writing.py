"""Atomic writing of files: a new file is written first and then renamed."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO

from fastrnns_rs.documents.reading import NO_ANSWER
from fastrnns_rs.documents.replaceable import why_not_replaceable
from fastrnns_rs.errors import DiskError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

#: Hints by error of a disk that accepted files before.
_DISK_HINTS = {
    **dict.fromkeys(NO_ANSWER, "Use a file on another disk: the network file system of {folder} does not answer."),
    errno.ENOSPC: "Free space on the full disk of {folder}, or use a file on another disk.",
    errno.EDQUOT: "Free space in your quota on the disk of {folder}, or use a file on another disk.",
    errno.EIO: "Use a file on another disk: the disk of {folder} is damaged or missing.",
    errno.EFBIG: "Raise the limit on the size of files (ulimit -f), or use a file on another disk.",
}
_HINTS = {
    errno.ENAMETOOLONG: "Use a shorter name: most file systems allow 255 bytes.",
    errno.ELOOP: "Use the path of a file: these symbolic links lead to each other.",
}
#: Names of new files that have not yet replaced their old files.
_TEMPORARY = re.compile(r"\.fastrnns-rs-[0-9a-f]{12}")
_ACCESS_LIST = "system.posix_acl_access"
#: Folders with links to the open files of a process, with the number of the process.
_OPEN_FILES = re.compile(r"/proc/(\d+)(?:/task/\d+)?/fd")
#: Number of links that Linux follows.
_MOST_LINKS = 40


def check_writable(path: Path) -> None:
    """Rejects a path that cannot be written to, before any result can be lost.

    Raises:
        UsageError: If the path cannot be written to; the message contains the reason.
    """
    place = real_path(path)
    name = os.path.basename(place)
    if name.startswith(".") and name.endswith(".lock"):
        reason, hint = "the name is of a lock file", "Use another name."
        raise UsageError(f"cannot write file: {str(path)!r}", hint, reason=reason, value=str(path))
    if open_descriptor(path) is not None:
        reason, hint = "the path is an open file of this process", "Use the path of a file, or write to stdout."
        raise UsageError(f"cannot write file: {str(path)!r}", hint, reason=reason, value=str(path))
    why_not = why_not_replaceable(place)
    if why_not is not None:
        raise UsageError(f"cannot write file: {str(path)!r}", "Use another file.", reason=why_not, value=str(path))
    first, second = _temporary(place), _temporary(place)
    try:
        with removed_on_error(first), removed_on_error(second):
            for one in (first, second):
                os.close(_owner(one, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            try:
                os.rename(first, second)
            except OSError as error:
                # Some network file systems, such as those of object stores, do not rename files.
                hint = "Use a file on another file system, such as a local disk."
                reason = f"the file system does not replace files: {error.strerror}"
                raise UsageError(f"cannot write file: {str(path)!r}", hint, reason=reason, value=str(path)) from error
            # Saves work where no file can be removed.
            with suppress(OSError):
                os.unlink(second)
    except OSError as error:
        raise _refusal(path, error) from error


def real_path(path: Path) -> str:
    """Follows symbolic links to the file that a path leads to, which may be missing.

    Raises:
        UsageError: If no regular file can be there.
    """
    try:
        # A relative path has no folder if the working directory was removed.
        found = os.path.realpath(path)
    except (OSError, ValueError) as error:
        raise _refusal(path, error) from error
    try:
        mode = os.stat(found).st_mode
    except FileNotFoundError:
        return found
    except (OSError, ValueError) as error:
        raise _refusal(path, error) from error
    try:
        # `missing/../file` leads nowhere, but to realpath it is this file, which may be an input of the command.
        os.stat(path)
    except OSError as error:
        raise _refusal(path, error) from error
    if stat.S_ISDIR(mode):
        hint = "Use the path of a file."
        raise UsageError(f"cannot write file: {str(path)!r}", hint, reason="the path is a folder", value=str(path))
    if not stat.S_ISREG(mode):
        hint, reason = "Use the path of a file, or write to stdout.", "the path is not a regular file"
        raise UsageError(f"cannot write file: {str(path)!r}", hint, reason=reason, value=str(path))
    return found


def write(path: Path, pieces: Iterable[bytes], place: str | None = None) -> None:
    """Writes a file; after a crash it has the old or the new content.

    This applies to a crash of the program and of the machine.

    Args:
        path: File.
        pieces: New content.
        place: As in `replacing`.

    Raises:
        UsageError: If the path cannot be written to.
    """
    with replacing(path, place) as file:
        file.writelines(pieces)
        file.flush()
        try:
            os.fsync(file.fileno())
        except OSError as error:
            # Some file systems do not support fsync.
            if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
                raise


@contextmanager
def replacing(path: Path, place: str | None = None) -> Iterator[BinaryIO]:
    """Opens a new file that replaces `path` at the end of a `with` block.

    The new file is removed if the block fails. It has the mode of the old file, and its owner and group where that is
    permitted. Symbolic links stay, and hard links keep the old content.

    Args:
        path: File.
        place: File that `path` led to when it was locked; symbolic links may have changed since. None is the file that
            it leads to now.

    Raises:
        UsageError: If the path cannot be written to.
    """
    if place is None:
        place = real_path(path)
    temporary = _temporary(place)
    try:
        old = _status(place)
        with removed_on_error(temporary):
            with open(temporary, "xb", opener=_everyone if old is None else _owner) as file:
                yield file
                file.flush()
                if old is not None:
                    _keep_rights(file.fileno(), old, place)
            os.replace(temporary, place)
    except OSError as error:
        if isinstance(error.filename, (str, bytes)) and error.filename not in {temporary, place}:
            # The block failed to read another file.
            raise
        raise _refusal(path, error) from error


def open_descriptor(path: str | os.PathLike[str]) -> int | None:
    """Returns the descriptor that a path such as `/dev/fd/3` names.

    The open file may have other content, which must be neither replaced nor emptied.

    Returns:
        The descriptor of this process; None for other paths.
    """
    place = os.fspath(path)
    with suppress(OSError, ValueError):
        for _ in range(_MOST_LINKS):
            folder, name = os.path.split(place)
            folder = os.path.realpath(folder)
            found = _OPEN_FILES.fullmatch(folder)
            if found is not None and int(found[1]) == os.getpid():
                os.fstat(int(name))
                return int(name)
            place = os.path.join(folder, os.readlink(place))
    return None


def check_open_file(path: Path) -> None:
    """Rejects the path of an open file that cannot be written to.

    Raises:
        UsageError: If the file was opened for reading.
    """
    descriptor = open_descriptor(path)
    if descriptor is not None and fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        raise _refusal(path, OSError(errno.EBADF, "the file was opened for reading"))


def open_stream(path: Path) -> BinaryIO:
    """Opens a pipe, a device or an open file of this process for writing.

    Raises:
        UsageError: If it cannot be opened.
    """
    try:
        descriptor = open_descriptor(path)
        return open(path if descriptor is None else os.dup(descriptor), "wb")
    except (OSError, ValueError) as error:
        raise _refusal(path, error) from error


def write_new(folder: str, stem: str, suffix: str, pieces: Iterable[bytes]) -> str:
    """Writes a file under a new name, readable only by its owner.

    Returns:
        Path of the file.

    Raises:
        OSError: If the folder cannot be written to.
    """
    path = os.path.join(folder, f"{stem}-{os.urandom(4).hex()}{suffix}")
    with open(path, "xb", opener=_owner) as file, removed_on_error(path):
        file.writelines(pieces)
        file.flush()
    return path


def remove_abandoned(folder: str, minimum_age_s: float) -> int:
    """Removes the new files that killed processes left in a folder.

    Args:
        folder: Folder, which may be missing.
        minimum_age_s: Time since the last write to a removed file, in seconds.

    Returns:
        Number of removed files.
    """
    count = 0
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not _TEMPORARY.fullmatch(entry.name) or not entry.is_file(follow_symlinks=False):
                continue
            with suppress(OSError):
                if time.time() - entry.stat(follow_symlinks=False).st_mtime > minimum_age_s:
                    os.unlink(entry.path)
                    count += 1
    return count


@contextmanager
def removed_on_error(path: str) -> Iterator[None]:
    """Removes a file if a `with` block fails or is interrupted."""
    try:
        yield
    except BaseException:
        with suppress(OSError):
            os.unlink(path)
        raise


def _temporary(place: str) -> str:
    # The name is short, since the name of the file itself may be as long as the file system allows.
    return os.path.join(os.path.dirname(place), f".fastrnns-rs-{os.urandom(6).hex()}")


def _everyone(path: str, flags: int) -> int:
    # The system applies the umask, or the access list of the folder.
    return os.open(path, flags, 0o666)


def _owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _status(path: str) -> os.stat_result | None:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    return None if stat.S_ISLNK(found.st_mode) else found


def _keep_rights(descriptor: int, old: os.stat_result, place: str) -> None:
    """Copies owner, group, access list and mode of the old file to the new file.

    It uses a descriptor: in a folder of another user the name may lead to another file by now.
    """
    for owner in (old.st_uid, -1):
        with suppress(OSError):
            os.fchown(descriptor, owner, old.st_gid)
            break
    mode = stat.S_IMODE(old.st_mode) & 0o777
    if os.fstat(descriptor).st_gid != old.st_gid:
        # Rights of the old group must not pass to another group, which gets the rights of others.
        mode = (mode & 0o707) | (mode & 0o007) << 3
    try:
        access_list = os.getxattr(place, _ACCESS_LIST)
    except OSError:
        # The folder may have given an access list to the new file.
        with suppress(OSError):
            os.removexattr(descriptor, _ACCESS_LIST)
    else:
        try:
            os.setxattr(descriptor, _ACCESS_LIST, access_list)
        except OSError:
            # The mode has the rights of everyone in the list as those of the group.
            mode &= 0o707
    with suppress(OSError):
        # Some file systems do not support modes: the new file stays readable by its owner alone.
        os.fchmod(descriptor, mode)


def _refusal(path: Path, error: OSError | ValueError) -> UsageError:
    shown = str(path)
    message = f"cannot write file: {shown!r}"
    if isinstance(error, ValueError):
        return UsageError(message, "Use the path of a file.", reason=str(error), value=shown)
    reason = error.strerror or str(error)
    if error.errno in _DISK_HINTS:
        folder = os.path.dirname(os.path.realpath(path))
        return DiskError(message, _DISK_HINTS[error.errno].format(folder=folder), reason=reason, value=shown)
    hint = _HINTS.get(error.errno or 0, "Use a file in a folder that is writable.")
    return UsageError(message, hint, reason=reason, value=shown)
