"""The process of a faulty file system; see faulty_files.py."""

# ruff: noqa: ARG002  # libfuse passes more than is needed
from __future__ import annotations

import errno
import fcntl
import itertools
import json
import os
import struct
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import mfusepy

_NS = 10**9
#: Commands of Linux that Python has no names for, and the layout of their argument.
_F_OFD_GETLK, _F_OFD_SETLK = 36, 37
_FLOCK = "hhqqi4x"


class Faulty(mfusepy.Operations):
    """Operations on the files of a folder."""

    use_ns = True

    def __init__(self, root: str, control: str) -> None:
        self._root = root
        self._control = control
        self._seen: tuple[int, int] | None = None
        self._faults: dict[str, Any] = {}
        self._left: dict[str, int] = {}
        self._inodes = itertools.count(1 << 20)

    # Each operation first looks for its fault.

    def _check(self, operation: str, path: str | None, at: int = 0) -> None:
        faults = self._current()
        if faults.get("only", "") not in (path or ""):
            return
        if faults.get("hang_in") == operation:
            time.sleep(faults["hang_s"])
        if name := faults.get(operation):
            if operation == "read" and at < faults.get("read_from", 0):
                return
            self._left[operation] = self._left.get(operation, faults.get("skips", 0)) - 1
            if self._left[operation] < 0:
                code = getattr(errno, name)
                raise OSError(code, os.strerror(code))

    def _current(self) -> dict[str, Any]:
        status = os.stat(self._control)
        if self._seen != (seen := (status.st_mtime_ns, status.st_ino)):
            self._faults, self._seen, self._left = json.loads(Path(self._control).read_text()), seen, {}
        return self._faults

    def _real(self, path: str) -> str:
        if not self._current().get("case"):
            return self._root + path
        found = self._root
        for name in filter(None, path.split("/")):
            there = os.listdir(found) if os.path.isdir(found) else []
            found = os.path.join(found, next((one for one in there if one.lower() == name.lower()), name))
        return found

    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        self._check("getattr", path)
        status = os.lstat(self._real(path)) if fh is None else os.fstat(fh)
        faults = self._current()
        found = {name: getattr(status, name) for name in dir(status) if name.startswith("st_")}
        for name in ("st_atime", "st_mtime", "st_ctime"):
            tick = int(faults.get("tick_s", 0) * _NS) or 1
            exact = found[f"{name}_ns"] + int(faults.get("ahead_s", 0) * _NS)
            found[name] = exact // tick * tick
        if "folders_s" in faults and os.path.isdir(self._real(path)):
            found["st_mtime"] = found["st_ctime"] = int(faults["folders_s"] * _NS)
        if faults.get("new_inodes"):
            found["st_ino"] = next(self._inodes)
        if "size" in faults and faults.get("only", "") in path and not os.path.isdir(self._real(path)):
            found["st_size"] = faults["size"]
        return found

    def open(self, path: str, flags: int) -> int:
        self._check("open", path)
        return os.open(self._real(path), flags & ~os.O_NOFOLLOW)

    def create(self, path: str, mode: int, flags: int = os.O_RDWR) -> int:
        self._check("create", path)
        return os.open(self._real(path), flags | os.O_CREAT, mode)

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        self._check("read", path, offset + size)
        return os.pread(fh, size, offset)

    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        self._check("write", path)
        return os.pwrite(fh, data, offset)

    def truncate(self, path: str, length: int, fh: int | None = None) -> int:
        os.truncate(self._real(path) if fh is None else fh, length)
        return 0

    def flush(self, path: str, fh: int) -> int:
        self._check("close", path)
        return 0

    def fsync(self, path: str, datasync: int, fh: int) -> int:
        self._check("fsync", path)
        os.fsync(fh)
        return 0

    def release(self, path: str, fh: int) -> int:
        os.close(fh)
        return 0

    def rename(self, old: str, new: str) -> int:
        self._check("rename", new)
        if os.path.lexists(self._real(new)):
            self._check("rename_over", new)
        os.rename(self._real(old), self._real(new))
        return 0

    def unlink(self, path: str) -> int:
        self._check("unlink", path)
        os.unlink(self._real(path))
        return 0

    def link(self, target: str, source: str) -> int:
        self._check("link", target)
        os.link(self._real(source), self._real(target))
        return 0

    def symlink(self, target: str, source: str) -> int:
        self._check("symlink", target)
        os.symlink(source, self._real(target))
        return 0

    def readlink(self, path: str) -> str:
        return os.readlink(self._real(path))

    def mkdir(self, path: str, mode: int) -> int:
        self._check("mkdir", path)
        os.mkdir(self._real(path), mode)
        return 0

    def rmdir(self, path: str) -> int:
        os.rmdir(self._real(path))
        return 0

    def readdir(self, path: str, fh: int) -> Iterable[tuple[str, dict[str, int], int]]:
        self._check("readdir", path)
        with os.scandir(self._real(path)) as entries:
            # The C library skips entries without an inode number.
            found = [(one.name, {"st_ino": one.inode()}, 0) for one in entries]
        return [(".", {"st_ino": 1}, 0), ("..", {"st_ino": 1}, 0), *found]

    def chmod(self, path: str, mode: int) -> int:
        self._check("chmod", path)
        os.chmod(self._real(path), mode)
        return 0

    def chown(self, path: str, uid: int, gid: int) -> int:
        self._check("chown", path)
        os.lchown(self._real(path), uid if uid != 2**32 - 1 else -1, gid if gid != 2**32 - 1 else -1)
        return 0

    def utimens(self, path: str, times: tuple[int, int] | None = None) -> int:
        os.utime(self._real(path), ns=times)
        return 0

    def getxattr(self, path: str, name: str, position: int = 0) -> bytes:
        self._check("getxattr", path)
        return os.getxattr(self._real(path), name)

    def setxattr(self, path: str, name: str, value: bytes, options: int, position: int = 0) -> int:
        self._check("setxattr", path)
        os.setxattr(self._real(path), name, value, options)
        return 0

    def removexattr(self, path: str, name: str) -> int:
        self._check("setxattr", path)
        os.removexattr(self._real(path), name)
        return 0

    def statfs(self, path: str) -> dict[str, int]:
        found = os.statvfs(self._root)
        return {name: getattr(found, name) for name in dir(found) if name.startswith("f_")}


class Locking(Faulty):
    """The same with locks of all clients of the folder."""

    def flock(self, path: str, fh: int, op: int) -> int:
        self._check("flock", path)
        # A server that waited for one client would leave the others waiting.
        fcntl.flock(fh, op | fcntl.LOCK_NB)
        return 0

    def lock(self, path: str, fh: int, cmd: int, lock: Any) -> int:
        self._check("lock", path)
        # Locks of this process would be those of all clients: these belong to an open file.
        command = _F_OFD_GETLK if cmd == fcntl.F_GETLK else _F_OFD_SETLK
        wanted = lock.contents
        values = (wanted.l_type, wanted.l_whence, wanted.l_start, wanted.l_len, 0)
        found = fcntl.fcntl(fh, command, struct.pack(_FLOCK, *values))
        if cmd == fcntl.F_GETLK:
            wanted.l_type, wanted.l_whence, wanted.l_start, wanted.l_len, _ = struct.unpack(_FLOCK, found)
        return 0


if __name__ == "__main__":
    folder, place, faults, direct, locks = sys.argv[1:]
    operations = (Locking if locks == "1" else Faulty)(folder, faults)
    # Nothing is remembered, so that each question reaches the server.
    options = {"attr_timeout": 0, "entry_timeout": 0, "use_ino": True, "direct_io": direct == "1"}
    mfusepy.FUSE(operations, place, foreground=True, **options)
