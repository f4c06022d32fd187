"""Real paths of files that others may remove meanwhile."""

from __future__ import annotations

from pathlib import Path


def real_path(path: str | Path) -> Path:
    """Returns the path without links, or the absolute path if the file vanishes.

    `Path.resolve` raises OSError for a link that is removed or replaced while it looks, and RuntimeError for a loop.
    """
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError):
        return Path(path).absolute()
