"""What several verbs do."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType


def take(given: dict[str, Any], *names: str) -> dict[str, Any]:
    """Some of the values that were given, by name."""
    return {name: given[name] for name in names}


def is_flag(name: str) -> bool:
    """Whether an option was given on the command line, rather than by a variable or a file."""
    context = click.get_current_context(silent=True)
    return context is not None and context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def deliver(text: str, output: Path | None) -> None:
    """Writes a result to a file, or to stdout as bytes: a document is UTF-8 whatever the terminal is."""
    if output is None:
        # A path may be bytes that are no UTF-8: they are shown as they are.
        click.echo(text.encode(errors="surrogateescape"), nl=False)
    else:
        from fastrnns_rs.documents import write_atomically

        write_atomically(output, text)


def interrupt_when_told_to_end() -> None:
    """Has a request to end be a Ctrl-C: what was measured is kept, and no process stays behind."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        # Under nohup a hang-up is to be ignored, and stays so.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
