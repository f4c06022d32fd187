"""Working directory of this process, where modules and settings of others may be."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def outside_working_directory() -> Iterator[None]:
    """Makes the root folder the working directory for the length of a `with` block."""
    # A descriptor, because the working directory may have been renamed or deleted.
    here = os.open(".", os.O_PATH | os.O_DIRECTORY)
    try:
        os.chdir("/")
        yield
    finally:
        os.fchdir(here)
        os.close(here)
