"""Module search path of this process, without what files of runners add to it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

#: The path without the additions, and the path with them, when a file was last loaded.
_known: tuple[list[str], list[str]] | None = None


@contextmanager
def additions_noted() -> Iterator[None]:
    """Notes what code that the block loads adds to the module search path.

    Every file is loaded in this process, and may import modules later, so that its additions stay. In the process of a
    runner from another file, they would replace modules.
    """
    global _known  # noqa: PLW0603
    before = own_path()
    try:
        yield
    finally:
        _known = before, present_path()


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
