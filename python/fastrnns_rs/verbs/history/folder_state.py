"""State of a folder of run files, by which an unchanged folder is recognised."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from fastrnns_rs.errors import UsageError
from fastrnns_rs.processes.ownership import fuse_mounts


@dataclass(frozen=True, slots=True)
class FolderState:
    """State of a folder.

    Attributes:
        text: Text that is another after each change of the folder's entries, and for each folder.
        changed_ns: Time of the last change, in nanoseconds.
    """

    text: str
    changed_ns: int


def folder_state(folder: Path) -> FolderState | None:
    """Returns the state of a folder.

    Returns:
        None if the folder is missing, or its times may not change with its entries. This holds on FUSE: s3fs keeps the
        times of folders by default. On a read-only file system, all times may be equal in each version of an image.

    Raises:
        UsageError: If the folder cannot be read.
    """
    try:
        found = folder.stat()
        is_read_only = os.statvfs(folder).f_flag & os.ST_RDONLY
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unreadable_history(folder, error) from error
    if is_read_only or [*fuse_mounts({found.st_dev})]:
        return None
    # Two folders that were unpacked at once have equal times, and one may take the place of the other.
    return FolderState(f"{found.st_dev} {found.st_ino} {found.st_ctime_ns}", found.st_ctime_ns)


def unreadable_history(folder: Path, error: OSError | ValueError) -> UsageError:
    """Makes the error for a folder that cannot be read, or whose path is impossible."""
    message, hint = f"cannot read history: {str(folder)!r}", "Use another `history` or `history=False`."
    return UsageError(message, hint, reason=(isinstance(error, OSError) and error.strerror) or str(error))
