"""Marks around the output of runners, to separate it from a profiler's output."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

#: Lines that the process prints, on both streams, before and after the output of its runners.
BEGIN, END = "# fastrnns-rs: what follows is the runners'", "# fastrnns-rs: what follows is the profiler's"


@contextmanager
def framed() -> Iterator[None]:
    """Marks the output of a `with` block as output of runners, not of the profiler."""
    _print(BEGIN)
    try:
        yield
    finally:
        _print(END)


def _print(line: str) -> None:
    # Runners may have closed, removed or replaced the streams.
    for name, stream in (("stdout", sys.__stdout__), ("stderr", sys.__stderr__)):
        with suppress(Exception):
            getattr(sys, name).flush()
        with suppress(OSError, ValueError):
            # The last line of a runner may lack its newline.
            print(f"\n{line}", file=stream, flush=True)
