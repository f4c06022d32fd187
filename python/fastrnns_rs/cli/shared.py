"""What several verbs do."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

    from fastrnns_rs.results import Run


def take(given: dict[str, Any], *names: str) -> dict[str, Any]:
    """Some of the values that were given, by name."""
    return {name: given[name] for name in names}


def is_flag(name: str) -> bool:
    """Whether an option was given on the command line, rather than by a variable or a file."""
    context = click.get_current_context(silent=True)
    return context is not None and context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def format_of(given: dict[str, Any]) -> str | None:
    """The format that `--format` or its short form `--json` asks for, if any."""
    if given["format_name"] is not None and given["as_json"]:
        raise click.UsageError("--format and --json both say what to write; give one of them")
    return "json" if given["as_json"] else given["format_name"]


def deliver(text: str, output: Path | None) -> None:
    """Writes a result to a file, or to stdout as bytes: a document is UTF-8 whatever the terminal is."""
    if output is None:
        # A path may be bytes that are no UTF-8: they are shown as they are.
        click.echo(text.encode(errors="surrogateescape"), nl=False)
    else:
        from fastrnns_rs.documents import write_atomically

        write_atomically(output, text)


class Saver:
    """Writes the run file after each process. A disk that fills up during a run must not end the run.

    Args:
        path: Where the file goes; None for no file.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.failed = False

    def __call__(self, run: Run) -> None:
        """Writes the run so far, or says why that failed."""
        if self._path is None:
            return
        from fastrnns_rs.errors import UsageError

        try:
            run.save(self._path)
        except UsageError as error:
            self.failed = True
            click.echo(f"error: {error.message}\nhint: {error.hint}", err=True)
        else:
            self.failed = False


def interrupt_when_told_to_end() -> None:
    """Has a request to end be a Ctrl-C: what was measured is kept, and no process stays behind."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        # Under nohup a hang-up is to be ignored, and stays so.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
