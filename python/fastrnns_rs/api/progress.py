"""Progress of the functions that take long, for a person who waits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from fastrnns_rs.counting import counted
from fastrnns_rs.errors import UsageError
from fastrnns_rs.views.output_stream import is_ascii, is_terminal, terminal_width

if TYPE_CHECKING:
    from fastrnns_rs.views.bench_terminal import BenchTerminal
    from fastrnns_rs.views.inductor_terminal import InductorTerminal
    from fastrnns_rs.views.profile_terminal import ProfileTerminal
    from fastrnns_rs.views.progress import Audience
    from fastrnns_rs.views.step_progress import StepProgress
    from fastrnns_rs.views.verify_terminal import VerifyTerminal

#: Argument `progress`: a flag, or a function of the finished steps, all steps or None, and the running step.
Progress: TypeAlias = bool | Callable[[int, int | None, str], object]


def is_watched() -> bool:
    """Returns True if stderr is a terminal, or if this is the process of a notebook."""
    return is_terminal(sys.stderr) or _is_notebook()


def _is_notebook() -> bool:
    return sys.stderr is not None and "ipykernel" in sys.modules and not is_terminal(sys.stderr)


def _audience(progress: Progress) -> Audience | None:
    """Returns who gets the progress, or None if no one does.

    Raises:
        UsageError: If `progress` is neither a flag nor a function.
    """
    if not isinstance(progress, bool) and not callable(progress):
        hint = "Use True, False, or a function of the finished steps, all steps, and the running step."
        raise UsageError(f"invalid value: {progress!r}", hint, where="progress", value=progress)
    if progress is False or (progress is True and not is_watched()):
        return None
    from fastrnns_rs.views.progress import Audience

    return Audience(is_notebook=_is_notebook(), listener=None if progress is True else progress)


@contextmanager
def bench_terminal(progress: Progress, verb: str = "bench") -> Iterator[BenchTerminal | None]:
    """Returns the table and bar of `bench` or `ab`, for a `with` block, or None."""
    audience = _audience(progress)
    if audience is None:
        yield None
        return
    from fastrnns_rs.views.bench_terminal import BenchTerminal

    def width() -> int:
        return terminal_width(sys.stderr)

    terminal = BenchTerminal(verb, shown=True, width=width, ascii_only=is_ascii(sys.stderr), audience=audience)
    try:
        yield terminal
    finally:
        terminal.close()


@contextmanager
def verify_terminal(progress: Progress, names: Sequence[str]) -> Iterator[VerifyTerminal | None]:
    """Returns the bar of `verify`, for a `with` block; None for no progress.

    Args:
        progress: Argument of the call.
        names: Runners as requested.
    """
    audience = _audience(progress)
    if audience is None:
        yield None
        return
    from fastrnns_rs.views.verify_terminal import VerifyTerminal

    with _steps("verify", counted(len(names), "runner"), "runners", audience) as steps:
        yield VerifyTerminal(steps, names)


@contextmanager
def profile_terminal(
    progress: Progress, names: Sequence[str], captures: Sequence[Sequence[str]], *, baseline: bool
) -> Iterator[ProfileTerminal | None]:
    """Returns the bar of `profile`, for a `with` block; None for no progress.

    Args:
        progress: Argument of the call.
        names: Runners as requested.
        captures: Expected runners of each capture.
        baseline: True if each capture also runs without the profiler.
    """
    audience = _audience(progress)
    if audience is None:
        yield None
        return
    from fastrnns_rs.views.profile_terminal import ProfileTerminal

    with _steps("profile", counted(len(names), "runner"), "steps", audience) as steps:
        yield ProfileTerminal(steps, captures, baseline=baseline)


@contextmanager
def inductor_terminal(
    progress: Progress, modules: int, processes: int, extras: Sequence[str]
) -> Iterator[InductorTerminal | None]:
    """Returns the bar of `inductor`, for a `with` block; None for no progress.

    Args:
        progress: Argument of the call.
        modules: Number of modules.
        processes: Number of processes per module.
        extras: Steps that the first process of a module makes in addition.
    """
    audience = _audience(progress)
    if audience is None:
        yield None
        return
    from fastrnns_rs.views.inductor_terminal import InductorTerminal

    with _steps("inductor", counted(modules, "module"), "steps", audience) as steps:
        yield InductorTerminal(steps, runners=[], modules=modules, processes=processes, extras=extras)


def _steps(verb: str, intent: str, noun: str, audience: Audience) -> StepProgress:
    from fastrnns_rs.views.step_progress import StepProgress

    return StepProgress(verb, intent, noun=noun, ascii_only=is_ascii(sys.stderr), audience=audience)
