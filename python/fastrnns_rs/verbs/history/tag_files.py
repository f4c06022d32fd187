"""Files of tags: a folder for each tag, with a file for each run that has it."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from fastrnns_rs.documents import reading
from fastrnns_rs.documents.file_names import distinct
from fastrnns_rs.errors import UsageError, make_system_error

#: Largest file of a tag in bytes; it has the ID of a run.
_LARGEST_TAG = 1 << 20
_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")


def check_tag(tag: str) -> None:
    """Checks the name of a tag.

    Raises:
        UsageError: If the name is invalid.
    """
    if not _TAG.fullmatch(tag):
        hint = "Use up to 64 letters, digits and ._+-, with a letter or a digit first."
        raise UsageError(f"invalid tag: {tag!r}", hint, value=tag)


def read_tags(folder: Path, run_ids: set[str], *, strict: bool) -> dict[str, set[str]]:
    """Returns the tags of some runs.

    Files of others may have any other text, which could fill the memory.

    Args:
        folder: Folder of the tags.
        run_ids: IDs of the runs.
        strict: True to refuse tags that only another user may read: a run without tags may be deleted. False to omit
            their folders, and to use the names of their files.

    Raises:
        UsageError: If tags are not where they were.
        FastrnnsError: If a tag cannot be read.
    """
    found: dict[str, set[str]] = {}
    names = cache(lambda: {file_name(one): one for one in run_ids})
    closed = () if strict else (PermissionError,)
    try:
        for tag in _folders(folder, closed):
            # Another command may remove the folder with its last file.
            with suppress(FileNotFoundError, *closed), os.scandir(tag) as files:
                for file in files:
                    tagged: set[str] = set()
                    with suppress(*closed):
                        tagged = find_run_ids(file) & run_ids
                    if not tagged and file.name in names():
                        # A damaged file, as after a full disk, keeps the run of its name from being deleted.
                        tagged = {names()[file.name]}
                    for run_id in tagged:
                        found.setdefault(run_id, set()).add(tag.name)
    except OSError as error:
        raise make_system_error(error) from error
    return found


def is_closed(folder: Path, tag: str) -> bool:
    """Returns True if only another user may read a tag."""
    if _TAG.fullmatch(tag):
        try:
            os.scandir(folder / tag).close()
        except PermissionError:
            return True
        except OSError:
            pass
    return False


def _folders(path: Path, closed: Sequence[type[OSError]]) -> list[Path]:
    """Returns the folders of tags.

    Args:
        path: Folder of the tags.
        closed: Errors of a folder that is omitted.

    Raises:
        UsageError: If tags are not where they were, as behind a link to a disk that is not mounted.
        OSError: If the folder cannot be read.
    """
    if not os.path.lexists(path):
        return []
    if not _is_folder(path):
        raise _lost_tags(path)
    found: list[Path] = []
    with suppress(FileNotFoundError, *closed):
        found = [one for one in path.iterdir() if _TAG.fullmatch(one.name)]
    folders = []
    for one in found:
        with suppress(*closed):
            if _is_folder(one):
                folders.append(one)
            elif one.is_symlink():
                raise _lost_tags(one)
    return folders


def _is_folder(path: Path) -> bool:
    """Returns True for a folder.

    `Path.is_dir` may return False for one that cannot be looked at, whose tags protect runs.

    Raises:
        OSError: If the path cannot be looked at.
    """
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}:
            return False
        raise


def _lost_tags(path: Path) -> UsageError:
    hint = "Mount the disk of the tags, or remove what is there."
    return UsageError(f"cannot read tags: {str(path)!r}", hint, reason="no folder is there", value=str(path))


def file_name(run_id: str) -> str:
    """Returns the name of a run's file in the folder of a tag."""
    # A run ID of another tool may be any text.
    return distinct(run_id) or "~"


def find_run_ids(file: os.DirEntry[str]) -> set[str]:
    """Returns the ID of a run from the file of a tag; empty for a foreign file.

    Without a line end too, which editors add.
    """
    # Opening a pipe would wait for its writer, a device has no end, and hidden files are incomplete.
    if not file.is_file(follow_symlinks=False) or file.name.startswith("."):
        return set()
    with suppress(FileNotFoundError, UnicodeError):
        if file.stat(follow_symlinks=False).st_size <= _LARGEST_TAG:
            text = reading.content(file.path, _LARGEST_TAG).decode()
            return {text, text.rstrip("\r\n")}
    return set()
