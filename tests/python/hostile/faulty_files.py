"""A file system that passes everything on to a folder, and fails as network file systems do.

`Mounted` mounts it by FUSE in a process of its own: faulty_server.py. Its faults can be changed while files are open.
"""

from __future__ import annotations

import contextlib
import ctypes.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

#: Time that a mount may take, and the end of it.
_PATIENCE_S = 20.0
_SERVER = Path(__file__).with_name("faulty_server.py")
#: Names of FUSE, of which a version 2 or 3 is needed.
_LIBRARIES = ("fuse3", "fuse")


def why_not() -> str | None:
    """Returns what is missing to mount such a file system; None if nothing is."""
    if not any(map(ctypes.util.find_library, _LIBRARIES)):
        return "needs libfuse: apt-get install libfuse3-3 fuse3"
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError as error:
        return f"needs FUSE: /dev/fuse: {error.strerror}"
    return None


class Mounted:
    """A folder that is seen through this file system, for a `with` block.

    Faults are named by the operation that fails, with the name of the error: `flock="ENOLCK"`. The operations are those
    of faulty_server.py, and `rename_over`, which replaces a file. Others:

    - `only`: part of the names of files that have faults; all of them without it.
    - `read_from`: position in bytes from which reading fails.
    - `hang_s` and `hang_in`: seconds that an operation takes.
    - `skips`: number of times that an operation succeeds before it fails.
    - `tick_s` and `ahead_s`: resolution of times, and the lead of the server's clock.
    - `folders_s`: times of all folders, which do not change with their files.
    - `new_inodes`: another inode number in each answer. `case`: names that differ in case are equal.
    - `size`: size of all files in their attributes.

    Args:
        folder: A new folder, which gets the folders `server` and `seen`.
        seen: Name of the second folder, of which a server may have several.
        direct: Refuse to map files that are shared.
        locks: Ask the server for locks; False for locks that this machine keeps alone, as sshfs has.
        faults: Faults from the beginning.
    """

    def __init__(
        self, folder: Path, *, seen: str = "seen", direct: bool = False, locks: bool = True, **faults: Any
    ) -> None:
        self.server, self.folder = folder / "server", folder / seen
        for path in (self.server, self.folder):
            path.mkdir(exist_ok=True)
        self._control = folder / f"{seen}.faults"
        self.fail(**faults)
        words = [self.server, self.folder, self._control, int(direct), int(locks)]
        self._process = subprocess.Popen(
            [sys.executable, str(_SERVER), *map(str, words)], stdin=subprocess.DEVNULL, start_new_session=True
        )

    def __enter__(self) -> Self:
        deadline = time.monotonic() + _PATIENCE_S
        while not os.path.ismount(self.folder):
            if self._process.poll() is not None or time.monotonic() > deadline:
                self._process.kill()
                pytest.skip("needs the right to mount with FUSE")
            time.sleep(0.01)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.unmount()
        self._process.kill()
        self._process.wait(_PATIENCE_S)

    def fail(self, **faults: Any) -> None:
        """Has other faults from now on, and none without arguments."""
        new = self._control.with_suffix(".new")
        new.write_text(json.dumps(faults))
        new.replace(self._control)

    def unmount(self) -> None:
        """Takes the file system away, also from those who have files open."""
        subprocess.run(["umount", "--lazy", str(self.folder)], capture_output=True, check=False)

    def stop(self) -> None:
        """Ends the server: each use of the folder is refused from now on (ENOTCONN)."""
        self._process.kill()
        self._process.wait(_PATIENCE_S)

    def names(self) -> list[str]:
        """Names of all files on the server, sorted, without those that FUSE keeps until they are closed."""
        found = (one for one in self.server.rglob("*") if not one.is_dir() and not one.name.startswith(".fuse_hidden"))
        return sorted(str(one.relative_to(self.server)) for one in found)


@contextlib.contextmanager
def two_clients(folder: Path, **settings: Any) -> Iterator[tuple[Mounted, Mounted]]:
    """Yields two mounts of one server, as two machines have."""
    with Mounted(folder, **settings) as one, Mounted(folder, seen="other", **settings) as other:
        yield one, other
