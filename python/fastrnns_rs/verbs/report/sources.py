"""Which files stand behind a path, and which of them only nsys can read: all that most captures need to be asked."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from pathlib import Path

#: Enough to tell what a file is.
_HEAD = 4096
#: How reports of nsys begin, whatever they are called, and streams that were never imported.
_OF_NSYS = (b"NVIDIA Tegra Profiler Report ", b"U3w[END]")


def behind(path: str | Path) -> list[tuple[str, bool]]:
    """The file itself, or those of the capture record or of the folder that it is; each with whether it may be none.

    Raises:
        FastrnnsError: A record lacks its files, or is damaged; a folder has no file.
    """
    if os.path.isdir(path):
        from fastrnns_rs.verbs.report.capture_folders import files_in

        return [(file, True) for file in files_in(path)]
    if not may_be_record(path):
        return [(os.fspath(path), False)]
    from fastrnns_rs.verbs.report.manifests import files_of

    return [(file, False) for file in files_of(path)]


def may_be_record(path: str | Path) -> bool:
    """Whether a file begins like a capture record. A trace may too."""
    return b'"fastrnns-rs/capture"' in head(path)


def needs_nsys(path: str) -> bool:
    """Whether it is a report or a stream of nsys, which must be exported."""
    return head(path).startswith(_OF_NSYS)


def head(path: str | Path) -> bytes:
    """How a file begins; nothing for what cannot be read twice, or at all."""
    try:
        if os.path.isfile(os.fspath(path)):
            with open(path, "rb") as file:
                return file.read(_HEAD)
    except (OSError, ValueError):
        # Whoever reads it says what is wrong with it.
        pass
    # What is read from a pipe is lost to who comes after.
    return b""


def shown(path: str) -> str:
    """Its name as text. Names are bytes, and need not be any."""
    return os.fsencode(path).decode(errors="replace")
