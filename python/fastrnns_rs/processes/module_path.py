"""Module search path of this process, without what files of runners add to it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

#: The path without the additions, and the path with them, when a file was last loaded.
_known: tuple[list[str], list[str]] | None = None
#: Folders that loading a file has added in front of the path, and behind it.
_added: dict[str, tuple[list[str], list[str]]] = {}


@contextmanager
def additions_noted(file: str | None = None) -> Iterator[None]:
    """Notes what code that the block loads adds to the module search path.

    Every file is loaded in this process, and may import modules later, so that its additions stay. In the process of a
    runner from another file, they would replace modules.

    Args:
        file: File of runners that the block loads.
    """
    global _known  # noqa: PLW0603
    before, present = own_path(), present_path()
    # A file may add only folders that are not there, as those of a file before.
    sys.path[:] = before
    try:
        yield
    finally:
        front, back = _split(present_path(), before)
        sys.path[:] = [*front, *present, *back]
        _known = before, present_path()
        if file is not None:
            _added[file] = front, back


def _split(path: list[str], inner: list[str]) -> tuple[list[str], list[str]]:
    """Returns the folders of a path before and after those of another one."""
    for start in range(len(path) - len(inner) + 1):
        end = start + len(inner)
        if path[start:end] == inner:
            return path[:start], path[end:]
    return [one for one in path if one not in inner], []


def with_additions(file: str, own_folder: str | None, path: Sequence[str]) -> tuple[list[str], list[str]]:
    """Returns the search path of a process that loads a file of runners.

    Args:
        file: Path of the file.
        own_folder: Folder of the file, if its modules can be imported; None otherwise.
        path: Search path of the process before.

    Returns:
        The folders before those of `path`, and all.
    """
    # A file that was loaded may have taken its folder off the path.
    front, back = _added.get(file, ([] if own_folder is None else [own_folder], []))
    if own_folder is None:
        front = [one for one in front if one != str(Path(file).parent)]
    return front, [*front, *path, *back]


def own_path() -> list[str]:
    """Returns the module search path without the additions of loaded files."""
    found = present_path()
    if _known is None:
        return found
    before, after = _known
    if found == after:
        return list(before)
    # The program has changed it since.
    # Files add folders at the beginning, also those that are there already.
    added = after[::-1]
    for one in before:
        if one in added:
            added.remove(one)
    for one in added:
        if one in found:
            found.remove(one)
    return found


def present_path() -> list[str]:
    """Returns the whole module search path, as far as Python does not ignore it."""
    return [one for one in sys.path if isinstance(one, str)]
