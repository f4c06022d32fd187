"""Checks for files that other users may have written."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

_ROOT = 0


def others_may_write(path: Path) -> str | None:
    """Checks if users other than this user and root may change or replace a path.

    Args:
        path: Existing file or folder. Every symbolic link and every folder that leads to it is checked too.

    Returns:
        Reason, as `the user anna owns the file`; None if no other user may write.

    Raises:
        OSError: If the path cannot be inspected.
    """
    real, links, folders = _walk(path)
    for link in links:
        if link.lstat().st_uid not in _trusted():
            return f"{_user(link.lstat().st_uid)} owns the link {link}"
    noun = "the folder" if real.is_dir() else "the file"
    return (
        _served([real, *links, *folders])
        or _writable(real, noun)
        or next(filter(None, map(_replaceable, folders)), None)
    )


def _walk(path: Path) -> tuple[Path, list[Path], list[Path]]:
    """Follows a path as the kernel does.

    Returns:
        File or folder without links, and the links and the folders that lead to it.

    Raises:
        OSError: If the path does not exist, or a link leads to itself.
    """
    # The kernel follows at most 40 links, and reports more.
    path.stat()
    links: list[Path] = []
    folders: dict[Path, None] = {}
    place, rest = Path("/"), [*reversed(path.absolute().parts[1:])]
    while rest:
        name = rest.pop()
        if name == "..":
            place = place.parent
            continue
        folders[place] = None
        step = place / name
        if not step.is_symlink():
            place = step
            continue
        links.append(step)
        target = step.readlink()
        if target.is_absolute():
            place = Path("/")
        rest += [one for one in reversed(target.parts) if one != target.anchor]
    return place, links, [*folders]


def others_may_add(folder: Path) -> str | None:
    """Checks if users other than this user and root may add files to a folder.

    An example is `/tmp`.

    Returns:
        Reason; None if no other user may add files.

    Raises:
        OSError: If the folder cannot be inspected.
    """
    return _writable(folder.resolve(), f"the folder {folder}")


def _served(paths: Iterable[Path]) -> str | None:
    """Returns the reason why owners and modes of files say nothing.

    On a FUSE mount, a program of the user who mounted it reports them.
    """
    for user in _fuse_mounts({one.lstat().st_dev for one in paths}):
        if user not in _trusted():
            return f"{_user(user)} mounted the file system"
    return None


def _fuse_mounts(devices: Collection[int]) -> Iterator[int]:
    """Yields the user of each FUSE mount that has one of these device numbers."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    numbers = {f"{os.major(number)}:{os.minor(number)}" for number in devices}
    for mount in mounts:
        # The last field has the options of the file system; those of FUSE name the user who mounted it.
        user = re.search(r" - fuse\S* .*\buser_id=(\d+)", mount)
        if user and mount.split(" ")[2] in numbers:
            yield int(user[1])


def _trusted() -> set[int]:
    return {os.geteuid(), _ROOT}


def _writable(path: Path, name: str) -> str | None:
    found = path.stat()
    if found.st_uid not in _trusted():
        return f"{_user(found.st_uid)} owns {name}"
    if found.st_mode & stat.S_IWOTH:
        return f"every user may write to {name}"
    # With an access control list, the group's mode is the upper limit for all entries of the list.
    if found.st_mode & stat.S_IWGRP and not (_is_own_group(found.st_gid) and not _has_access_list(path)):
        return f"the group {_group(found.st_gid)} may write to {name}"
    return None


def _replaceable(folder: Path) -> str | None:
    """Returns the reason why other users may replace this user's files in a folder."""
    # In a folder such as /tmp, only the owners of a file and of the folder may remove the file.
    if folder.stat().st_mode & stat.S_ISVTX and folder.stat().st_uid in _trusted():
        return None
    return _writable(folder, f"the folder {folder}")


def _is_own_group(number: int) -> bool:
    """Returns True for a group whose only members are this user and root.

    Many systems have such a group for each user.
    """
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
        # The file system does not support access control lists.
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
