"""Errors for files that are no captures, or are damaged."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from fastrnns_rs.documents.file_description import EMPTY, can_be_described, describe, wrong_kind
from fastrnns_rs.documents.missing_file import file_not_found
from fastrnns_rs.errors import FastrnnsError, UsageError

_WANTED = "capture"
#: Hint for files that are not captures.
KINDS = "Use a torch.profiler trace, an nsys report or export, nvprof output, or a capture manifest."

#: Endings of the names of captures, and of no other files that are usual beside them.
_SUFFIXES = (".json.gz", ".nsys-rep", ".qdrep", ".qdstrm", ".sqlite", ".nvvp")


def make_reading_error(error: ValueError, files: Sequence[str]) -> FastrnnsError:
    """Makes the error for a file that the reader of captures could not read.

    A missing file and a file of another kind are wrong arguments. A damaged capture is a failure.

    Args:
        error: Error of the reader: the path with the reason, and a hint.
        files: Files that were read, as they were given.
    """
    message, hint = error.args if len(error.args) == 2 else (str(error), "")  # noqa: PLR2004
    # The first file that the message names; a path may be the start of another.
    named = [file for file in files if message.startswith(f"{_shown(file)}: ")]
    if not named:
        return FastrnnsError(message, hint)
    file = max(named, key=len)
    shown = _shown(file)
    if not os.path.exists(file):  # noqa: PTH110  # as the imports above: pathlib is slow to load
        return file_not_found(file, "Use the path of a capture.")
    found = describe(file)
    reason = message.removeprefix(f"{shown}: ")
    if found is not None and found.verb != "report":
        return wrong_kind(file, _WANTED, hint=KINDS)
    if found is None and can_be_described(file):
        return UsageError(f"not a {_WANTED}: {shown!r}", hint, reason=reason, value=file)
    return FastrnnsError(f"cannot read capture: {shown!r}", hint, reason=reason, value=file)


def find_damaged(left_out: Iterable[tuple[str, str]], files: Sequence[str]) -> FastrnnsError | None:
    """Returns the error for the first damaged capture among files that were left out.

    Damaged captures are the files that fail when they are read alone, and files of another content whose names are
    those of captures. Files of other kinds are none.

    Args:
        left_out: Path as the reader prints it, and reason, of each file that was left out.
        files: Files that were read, as they were given.
    """
    hint = "Leave out `strict` to read the rest."
    given = {_shown(one): one for one in reversed(files)}
    for path, reason in left_out:
        file = given.get(path, path)
        error = make_reading_error(ValueError(f"{path}: {reason}", hint), [file])
        if not isinstance(error, UsageError):
            return error
        if file.endswith(_SUFFIXES) and describe(file) in {None, EMPTY}:
            return FastrnnsError(f"cannot read capture: {path!r}", hint, reason=reason, value=path)
    return None


def _shown(file: str) -> str:
    """Returns a path as the reader prints it."""
    # File names are bytes, and need not be valid text.
    return os.fsencode(file).decode(errors="replace")
