"""Marks around the output of runners, which tell it from the output of the profiler around them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

#: What the process prints, on both streams, before and after all that its runners print.
BEGIN, END = "# fastrnns-rs: what follows is the runners'", "# fastrnns-rs: what follows is the profiler's"


@contextmanager
def framed() -> Iterator[None]:
    """Tells what is printed inside the block from what the profiler prints."""
    _print(BEGIN)
    try:
        yield
    finally:
        _print(END)


def _print(line: str) -> None:
    # Runners may have closed them, or put something else in their place.
    for current, stream in ((sys.stdout, sys.__stdout__), (sys.stderr, sys.__stderr__)):
        with suppress(AttributeError, OSError, ValueError):
            current.flush()
        with suppress(OSError, ValueError):
            # A runner's last line need not have ended.
            print(f"\n{line}", file=stream, flush=True)
