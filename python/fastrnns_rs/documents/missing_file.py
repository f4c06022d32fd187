"""Error for an input file that does not exist."""

from __future__ import annotations

import os

from fastrnns_rs.documents.reading import NO_ANSWER
from fastrnns_rs.errors import UsageError, closest

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Iterator

#: Most steps to find a near name in a folder: each letter of the name by each letter of another.
_MOST_STEPS = 4_000_000
#: A short name takes as many steps as one with so many more letters.
_START = 10
#: Number of characters of a longer name that no file has.
_LONGEST_NAME = 255


def file_not_found(path: str | os.PathLike[str], hint: str = "", *, where: str = "") -> UsageError:
    """Makes the error for a missing file, with the nearest name in its folder.

    A file of a network file system that does not answer may exist, so its error is another.

    Args:
        path: Path that was given.
        hint: Hint where no name is near.
        where: Argument that has the path.
    """
    shown = os.fsdecode(path)
    if (reason := _why_unanswered(path)) is not None:
        return UsageError(
            f"cannot read file: {shown!r}", "Check the network file system.", where=where, reason=reason, value=shown
        )
    hint = hint or "Check the path of the file."
    return UsageError(f"file not found: {shown!r}", hint, where=where, value=shown, correction=_nearest(shown))


def _why_unanswered(path: str | os.PathLike[str]) -> str | None:
    try:
        os.stat(path)  # noqa: PTH116  # pathlib is slow to load
    except OSError as error:
        return error.strerror if error.errno in NO_ANSWER else None
    except ValueError:
        # The name is impossible.
        return None
    return None


def _nearest(path: str) -> str | None:
    folder, name = os.path.split(path)
    if not name or len(name) > _LONGEST_NAME:
        return None
    # The suffix is the same for most files of a folder, and makes unlike names look near.
    stem = name.partition(".")[0]
    near, steps = [], 0
    for one in _names(folder or os.curdir):
        other = one.partition(".")[0]
        steps += (_START + len(name)) * (_START + len(one))
        if steps > _MOST_STEPS:
            break
        if closest(stem, [other]) is not None:
            near.append(one)
    found = closest(name, near)
    return None if found is None else path.removesuffix(name) + found


def _names(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                yield entry.name
    except (OSError, ValueError):
        # The folder does not exist, or its name is impossible.
        return
