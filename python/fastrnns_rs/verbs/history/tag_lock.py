"""Lock on the tags of a history: a run must not be tagged and deleted at once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fastrnns_rs.documents.writer_lock import WriterLocks
from fastrnns_rs.errors import UsageError

#: Time to wait for another command that has locked the tags, and between attempts, in seconds.
_PATIENCE_S = 30.0
_PAUSE_S = 0.05


@contextmanager
def locked_tags(folder: Path) -> Iterator[None]:
    """Locks the tags for a `with` block, where that is possible.

    Args:
        folder: Folder of the tags. The lock file is beside it.

    Raises:
        UsageError: If another process keeps them locked.
    """
    end = time.monotonic() + _PATIENCE_S
    with WriterLocks() as locks:
        while True:
            try:
                locks.hold(folder, str(folder))
                break
            except UsageError as error:
                if time.monotonic() >= end:
                    message, hint = f"cannot lock tags: {str(folder)!r}", "Wait until the process has ended."
                    raise UsageError(message, hint, reason=error.reason, value=str(folder)) from None
            time.sleep(_PAUSE_S)
        yield
