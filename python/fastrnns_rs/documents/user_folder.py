"""Folders of this user, by the platform's convention."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal


def expand_home(path: str | os.PathLike[str]) -> str:
    """Returns a path with the home folder in place of a tilde, as in `~/runs`.

    No shell expands it in a file, a variable, or behind `--history=`.
    """
    text = os.fspath(path)
    return os.path.expanduser(text) if text == "~" or text.startswith("~/") else text  # noqa: PTH111


def user_folder(kind: Literal["data", "state", "cache"]) -> Path:
    """Returns the folder for the package's files of one kind.

    In a container, a user may have neither `HOME` nor an entry with a home folder. The folders are then in `/`, which
    Docker sets as the home folder of such a user.
    """
    import platformdirs

    places = {
        "data": platformdirs.user_data_path,
        "state": platformdirs.user_state_path,
        "cache": platformdirs.user_cache_path,
    }
    try:
        found = places[kind]("fastrnns-rs")
    except RuntimeError:
        found = None
    # Older versions of platformdirs return a relative path.
    return found if found is not None and found.is_absolute() else Path("/fastrnns-rs") / kind
