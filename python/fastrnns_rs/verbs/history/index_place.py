"""Place of the index of a history: a folder to which no other user may write.

The history itself may be of others, or come from an archive. SQLite trusts the files that it opens.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from fastrnns_rs.documents.user_folder import user_folder
from fastrnns_rs.processes.ownership import others_may_write

#: Age of an index that is removed when another one is created. The next use of its history creates it again.
_OLDEST_S = 90 * 24 * 3600


def index_path(folder: Path) -> Path | None:
    """Returns the path of an index, in the user's cache folder.

    Args:
        folder: Folder of the run files.

    Returns:
        None if the folder of the run files is missing, or this user has no cache folder of their own.
    """
    # `Path.is_dir` fails in a folder of others.
    if not os.path.isdir(folder):  # noqa: PTH112
        return None
    place = user_folder("cache") / "history"
    try:
        # Root may have the variables of another user, who could not use the folders of root that would be made.
        missing = [one for one in (place, *place.parents) if not os.path.lexists(one)]
        if others_may_write(missing[-1].parent if missing else place) is not None:
            return None
        for one in reversed(missing):
            # A umask may let others write to new folders.
            one.mkdir(mode=0o700, exist_ok=True)
        path = place / f"{sha256(os.fsencode(folder.resolve())).hexdigest()[:32]}.sqlite"
        if not path.exists():
            _remove_old(place)
    except OSError:
        return None
    return path


def _remove_old(place: Path) -> None:
    for one in place.iterdir():
        with suppress(OSError):
            if time.time() - one.lstat().st_mtime > _OLDEST_S:
                one.unlink()
