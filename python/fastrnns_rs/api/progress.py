"""Progress of the functions that take long, for a person who waits."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fastrnns_rs.views.output_stream import is_ascii, is_terminal, terminal_width
from fastrnns_rs.views.prose import counted

if TYPE_CHECKING:
    from fastrnns_rs.views.bench_terminal import BenchTerminal
    from fastrnns_rs.views.profile_terminal import ProfileTerminal
    from fastrnns_rs.views.step_progress import StepProgress
    from fastrnns_rs.views.verify_terminal import VerifyTerminal


def is_watched() -> bool:
    """Returns True if stderr is a terminal, or if this is the process of a notebook."""
    # A notebook is no terminal: it gets a line every 15 seconds.
    return is_terminal(sys.stderr) or (sys.stderr is not None and "ipykernel" in sys.modules)


@contextmanager
def bench_terminal(*, shown: bool) -> Iterator[BenchTerminal | None]:
    """Returns the table and bar of `bench`, for a `with` block.

    Without progress, the `with` block gets None.
    """
    if not (shown and is_watched()):
        yield None
        return
    from fastrnns_rs.views.bench_terminal import BenchTerminal

    def width() -> int:
        return terminal_width(sys.stderr)

    terminal = BenchTerminal("bench", shown=True, width=width, ascii_only=is_ascii(sys.stderr))
    try:
        yield terminal
    finally:
        terminal.close()


@contextmanager
def verify_terminal(names: Sequence[str], *, shown: bool) -> Iterator[VerifyTerminal | None]:
    """Returns the bar of `verify`, for a `with` block; None if nothing is shown.

    Args:
        names: Runners as requested.
        shown: False shows nothing.
    """
    if not (shown and is_watched()):
        yield None
        return
    from fastrnns_rs.views.verify_terminal import VerifyTerminal

    with _steps("verify", names, "runners") as steps:
        yield VerifyTerminal(steps, names)


@contextmanager
def profile_terminal(
    names: Sequence[str], captures: Sequence[Sequence[str]], *, baseline: bool, shown: bool
) -> Iterator[ProfileTerminal | None]:
    """Returns the bar of `profile`, for a `with` block; None if nothing is shown.

    Args:
        names: Runners as requested.
        captures: Expected runners of each capture.
        baseline: True if each capture also runs without the profiler.
        shown: False shows nothing.
    """
    if not (shown and is_watched()):
        yield None
        return
    from fastrnns_rs.views.profile_terminal import ProfileTerminal

    with _steps("profile", names, "steps") as steps:
        yield ProfileTerminal(steps, captures, baseline=baseline)


def _steps(verb: str, names: Sequence[str], noun: str) -> StepProgress:
    from fastrnns_rs.views.step_progress import StepProgress

    return StepProgress(verb, counted(len(names), "runner"), noun=noun, ascii_only=is_ascii(sys.stderr))
