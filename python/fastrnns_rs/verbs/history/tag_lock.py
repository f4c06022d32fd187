"""Lock on the tags of a history: a run must not be tagged and deleted at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fastrnns_rs.documents.writer_lock import WriterLocks
from fastrnns_rs.errors import UsageError


@contextmanager
def locked_tags(folder: Path) -> Iterator[None]:
    """Locks the tags for a `with` block, where that is possible.

    Args:
        folder: Folder of the tags. The lock file is beside it.

    Raises:
        UsageError: If another process keeps them locked.
    """
    with WriterLocks() as locks:
        try:
            locks.wait(folder, str(folder))
        except UsageError as error:
            message, hint = f"cannot lock tags: {str(folder)!r}", "Wait until the process has ended."
            raise UsageError(message, hint, reason=error.reason, value=str(folder)) from None
        yield
