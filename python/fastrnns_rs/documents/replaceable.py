"""Files that cannot be replaced, in folders that are writable."""

from __future__ import annotations

import fcntl
import os
import re
import stat
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

#: Request of Linux for the flags of a file, and the flags that keep it from being replaced (`chattr +i` and `+a`).
_GET_FLAGS, _FLAGS = 0x80086601, {0x10: "immutable", 0x20: "append-only"}


def why_not_replaceable(path: str) -> str | None:
    """Returns the reason why a file cannot be replaced.

    It is None for other files, and if the file is missing.

    Args:
        path: Path without symbolic links.
    """
    try:
        found, folder = Path(path).lstat(), Path(path).parent.stat()
    except OSError:
        return None
    if folder.st_mode & stat.S_ISVTX and os.geteuid() not in {0, found.st_uid, folder.st_uid}:
        return "another user owns the file, in a folder where only owners replace files"
    if path in _mount_points():
        return "the file is a mount of its own"
    return next(_flags(path), None)


def _mount_points() -> set[str]:
    text = ""
    with suppress(OSError):
        text = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    # Mount ID, mount ID of the parent, device, folder of the device, and mount point.
    places = (fields[4] for line in text.split("\n") if (fields := line.split(" "))[4:])
    return {re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), one) for one in places}


def _flags(path: str) -> Iterator[str]:
    # Many file systems have no flags, and a file may not be readable.
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        try:
            # The request has the size of a long, and the answer that of an int.
            answer = fcntl.ioctl(descriptor, _GET_FLAGS, bytes(8))
        finally:
            os.close(descriptor)
        found = struct.unpack_from("I", answer)[0]
        yield from (f"the file is {name}" for flag, name in _FLAGS.items() if found & flag)
