"""What several verbs do."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from fastrnns_rs.escaping import visible

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

    from fastrnns_rs.documents.codec import Notice
    from fastrnns_rs.processes.launcher import Executor

STDOUT, STDERR = 1, 2


def take(given: dict[str, Any], *names: str) -> dict[str, Any]:
    """Some of the values that were given, by name."""
    return {name: given[name] for name in names}


def is_flag(name: str) -> bool:
    """Whether an option was given on the command line, rather than by a variable or a file."""
    context = click.get_current_context(silent=True)
    return context is not None and context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def executor() -> Executor:
    """Runs the worker processes of this command: the caller's own where `main` was given one."""
    from fastrnns_rs.processes.launcher import launch_together

    given: Executor | None = click.get_current_context().find_root().obj
    return given or launch_together


def format_of(given: dict[str, Any]) -> str | None:
    """The format that `--format` or its short form `--json` asks for, if any."""
    if given["format_name"] is not None and given["as_json"]:
        raise click.UsageError("--format and --json both say what to write; give one of them")
    return "json" if given["as_json"] else given["format_name"]


def deliver(text: str, output: Path | None) -> None:
    """Writes a result to a file, or to stdout as bytes: a document is UTF-8 whatever the terminal is."""
    if output is None:
        with unread(STDOUT):
            # A path may be bytes that are no UTF-8: they are shown as they are.
            click.echo(text.encode(errors="surrogateescape"), nl=False)
    else:
        from fastrnns_rs.documents import writing
        from fastrnns_rs.documents.writer_lock import locked

        with locked(output) as place:
            writing.write(output, [text.encode(errors="surrogateescape")], place)


def deliver_pieces(write: Callable[[Callable[[bytes], object]], None], output: Path | None) -> None:
    """Writes a result that comes in pieces, as one that is too large for memory does.

    Args:
        write: Function that hands all pieces to another one.
        output: File to write to. None is stdout.
    """
    if output is None:
        with unread(STDOUT):
            write(lambda piece: click.echo(piece, nl=False))
    else:
        from fastrnns_rs.documents.writer_lock import locked
        from fastrnns_rs.documents.writing import replacing

        with locked(output) as place, replacing(output, place) as file:
            write(file.write)


def tell(lines: Iterable[str]) -> None:
    """Writes lines for a person to stderr."""
    with unread(STDERR):
        for line in lines:
            click.echo(line, err=True)


def tell_warnings(notices: Sequence[Notice], format_name: str | None = None) -> None:
    """Writes warnings to stderr: each with its evidence, and what to do below it.

    Args:
        notices: The warnings.
        format_name: The format of a comparison that is written to stdout; those that a person reads have the warnings
            in them. None where what is written has no place for any.
    """
    if format_name in {None, "json", "junit"}:
        from fastrnns_rs.views.bench_text import warnings

        tell(warnings(notices))


def check_output(output: Path | None, inputs: Iterable[str | os.PathLike[str]] = ()) -> None:
    """Refuses a file to write to, before there is anything to lose.

    Raises:
        UsageError: It cannot be written to, or is one of the inputs or the project's `pyproject.toml`.
    """
    if output is not None:
        from fastrnns_rs.cli.configuration import configuration_file
        from fastrnns_rs.documents.writing import check_writable

        check_writable(output)
        check_not_read(output, inputs)
        configuration = configuration_file()
        check_not_read(output, [] if configuration is None else [configuration])


def check_not_read(output: Path | None, inputs: Iterable[str | os.PathLike[str]], flag: str = "--output") -> None:
    """Refuses to write over what is about to be read, whatever it is called.

    Raises:
        UsageError: The output is one of the inputs.
    """
    from fastrnns_rs.errors import UsageError

    for one in inputs:
        if output is not None and _are_one(output, one):
            message = f"{flag} {output} would overwrite {os.fspath(one)}, which is to be read"
            raise UsageError(message, "give the path of another file")


def _are_one(first: Path, second: str | os.PathLike[str]) -> bool:
    try:
        return first.samefile(second)
    except (OSError, ValueError):
        # What is not there is not overwritten, nor is what no file can be called.
        return False


@contextmanager
def unread(descriptor: int) -> Iterator[None]:
    """Lets whoever reads stdout or stderr leave: what is left is dropped, and the exit code stays what it is.

    Args:
        descriptor: `STDOUT` or `STDERR`.
    """
    try:
        yield
    except BrokenPipeError:
        # Python would complain when it flushes at exit, and end with another code.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


def interrupt_when_told_to_end() -> None:
    """Has a request to end be a Ctrl-C: what was measured is kept, and no process stays behind."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        # Under nohup a hang-up is to be ignored, and stays so.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


class ProgressLine:
    """A line on stderr, where that is a terminal, which each thing that is shown replaces."""

    def __init__(self) -> None:
        self._shown = sys.stderr is not None and sys.stderr.isatty()

    def shows(self, what: str, done: int, of: int) -> None:
        """Shows what begins, with how many are done and how many there are."""
        if self._shown:
            click.echo(f"\r\x1b[K[{done + 1}/{of}] {visible(what)}", err=True, nl=False)

    def close(self) -> None:
        """Takes the line away."""
        if self._shown:
            click.echo("\r\x1b[K", err=True, nl=False)
