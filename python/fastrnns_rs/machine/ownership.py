"""Checks for files that other users may have written."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_ROOT = 0


def others_may_write(path: Path) -> str | None:
    """Looks for users other than this one and root who may change a file or folder, or put another in its place.

    Args:
        path: It must be there. Of a symbolic link both the link and what it stands for count.

    Returns:
        The reason, as `it belongs to the user anna`; None where no other user may.

    Raises:
        OSError: It cannot be looked at.
    """
    path, real = path.absolute(), path.resolve()
    if path.lstat().st_uid not in _trusted():
        return f"it belongs to {_user(path.lstat().st_uid)}"
    folders = dict.fromkeys([*path.parents, *real.parents])
    return _writable(real) or next((f"in {folder}, {why}" for folder in folders if (why := _replaceable(folder))), None)


def others_may_add(folder: Path) -> str | None:
    """Looks for users other than this one and root who may put files of their own into a folder, as into `/tmp`.

    Returns:
        The reason; None where no other user may.

    Raises:
        OSError: It cannot be looked at.
    """
    why = _writable(folder.resolve())
    return None if why is None else f"in {folder}, {why}"


def _trusted() -> set[int]:
    return {os.geteuid(), _ROOT}


def _writable(path: Path) -> str | None:
    found = path.stat()
    if found.st_uid not in _trusted():
        return f"it belongs to {_user(found.st_uid)}"
    if found.st_mode & stat.S_IWOTH:
        return "every user may write it"
    # With an access control list the mode of the group says the most that anyone in the list may do.
    if found.st_mode & stat.S_IWGRP and not (_is_own_group(found.st_gid) and not _has_access_list(path)):
        return f"the group {_group(found.st_gid)} may write it"
    return None


def _replaceable(folder: Path) -> str | None:
    """Returns why other users may replace what this user has in a folder."""
    # In a folder such as /tmp only the owners of a file and of the folder may remove it.
    if folder.stat().st_mode & stat.S_ISVTX and folder.stat().st_uid in _trusted():
        return None
    return _writable(folder)


def _is_own_group(number: int) -> bool:
    """Returns True for a group without other members than this user and root, as each user has one on many systems."""
    import grp
    import pwd

    try:
        members = {*grp.getgrgid(number).gr_mem}
    except KeyError:
        members = set()
    users = pwd.getpwall()
    others = {one.pw_name for one in users if one.pw_uid not in _trusted()}
    is_ours = number == _ROOT or any(one.pw_uid in _trusted() and one.pw_gid == number for one in users)
    return is_ours and not members & others and not any(one.pw_gid == number and one.pw_name in others for one in users)


def _has_access_list(path: Path) -> bool:
    try:
        return "system.posix_acl_access" in os.listxattr(path)
    except OSError:
        # The file system has none.
        return False


def _user(number: int) -> str:
    import pwd

    try:
        return f"the user {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f"the user {number}"


def _group(number: int) -> str:
    import grp

    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
