"""State of this process that loaded code of others may change."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from fastrnns_rs.processes.working_directory import working_directory_restored


@contextmanager
def process_restored() -> Iterator[None]:
    """Restores working directory, umask and signal handlers after the block.

    Code of runners runs in processes of its own later. Here it would move the files that a command writes, let others
    write to them, or keep the command from ending.
    """
    stops = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
    handlers = {one: signal.getsignal(one) for one in stops}
    umask = os.umask(0o077)
    os.umask(umask)
    try:
        with working_directory_restored():
            yield
    finally:
        os.umask(umask)
        for one, handler in handlers.items():
            if handler is not None and signal.getsignal(one) is not handler:
                # Only the main thread sets handlers, so that code in another one has set none.
                with suppress(ValueError):
                    signal.signal(one, handler)
