"""Working directory of this process, where modules and settings of others may be."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def working_directory_restored() -> Iterator[None]:
    """Restores the working directory at the end of a `with` block."""
    here: int | None = None
    # A descriptor, because the working directory may have been renamed or deleted.
    with suppress(OSError):
        here = os.open(".", os.O_PATH | os.O_DIRECTORY)
    try:
        yield
    finally:
        # Code of the block may have closed the descriptor.
        with suppress(OSError):
            if here is not None:
                os.fchdir(here)
                os.close(here)


@contextmanager
def outside_working_directory() -> Iterator[None]:
    """Makes the root folder the working directory for the length of a `with` block."""
    with working_directory_restored():
        os.chdir("/")
        yield


def leave_removed_directory() -> None:
    """Makes the root folder the working directory if that was removed.

    Libraries of torch, such as oneMKL, cannot be loaded in a folder without a path.
    """
    try:
        os.getcwd()  # noqa: PTH109
    except FileNotFoundError:
        os.chdir("/")
