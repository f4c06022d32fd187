"""Limit on CPU time, which containers have."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_GROUPS = Path("sys/fs/cgroup")


def cpu_quota(root: Path = Path("/")) -> float | None:
    """Returns the limit on CPU time as a number of CPUs; None without a limit.

    When the time is used up, the kernel stops all threads until the next period, most often for tens of milliseconds.

    Args:
        root: Folder that contains the kernel's `proc` and `sys`.
    """
    return min((found for one in _folders(root) if (found := _quota(one)) is not None), default=None)


def _folders(root: Path) -> Iterator[Path]:
    """Yields the folders of the control groups that this process is in."""
    for line in _text(root / "proc/self/cgroup").split("\n"):
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and "cpu" not in controllers.split(","):
            continue
        names = [controllers, "cpu"] if controllers else ["", "unified"]
        # A container may have its own group as the root, whatever the path is.
        parts = [part for part in path.split("/") if part and part != ".."]
        for name in names:
            yield from (root.joinpath(_GROUPS, name, *parts[:count]) for count in range(len(parts) + 1))


def _quota(folder: Path) -> float | None:
    """Returns the limit of a control group, of version 2 or 1."""
    words = _text(folder / "cpu.max").split()
    words = words or [_text(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
    # The text is `max` or -1 without a limit.
    quota, period = (int(word[:18]) if word.isdecimal() else 0 for word in [*words, "", ""][:2])
    return quota / period if quota and period else None


def _text(path: Path) -> str:
    try:
        # The name of a control group has any bytes.
        return os.fsdecode(path.read_bytes())
    except OSError:
        return ""
