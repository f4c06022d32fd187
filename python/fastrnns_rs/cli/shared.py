"""Functions shared by several verbs."""

from __future__ import annotations

import os
import signal
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from fastrnns_rs.escaping import visible_lines

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.processes.launcher import Executor

STDOUT, STDERR = 1, 2
#: Keys of a context's `meta` that `--quiet` and `--no-progress` set, to the source of their value.
QUIET, NO_PROGRESS = "fastrnns_rs.quiet", "fastrnns_rs.no_progress"


def take(given: dict[str, Any], *names: str) -> dict[str, Any]:
    """Returns the given values of some options, by name."""
    return {name: given[name] for name in names}


def is_flag(name: str) -> bool:
    """Returns True if an option was on the command line, not in a variable or a file."""
    context = click.get_current_context(silent=True)
    return context is not None and context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def path_words(_context: click.Context, _param: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the files of an argument, with `./` before a dash.

    The commands of hints name these files, and would take them for options.
    """
    return tuple(f"./{one}" if one.startswith("-") and one != "-" else one for one in names)


def run_words(name: str) -> str:
    """Returns the path or name of a run, quoted for a command.

    `--history DIR` follows a name of the history if another command would not use this history.
    """
    from fastrnns_rs.views.text import shell_word

    return shell_word(name) + (history_words() if name.startswith("@") else "")


def history_words() -> str:
    """Returns ` --history DIR` if another command would not use this history."""
    from fastrnns_rs.views.text import shell_word

    context = click.get_current_context(silent=True)
    if context is None:
        return ""
    folder, source = context.params.get("history"), context.get_parameter_source("history")
    # The variable of all commands, which comes after that of this one.
    of_all = source is ParameterSource.ENVIRONMENT and not os.environ.get(f"{context.auto_envvar_prefix}_HISTORY")
    return "" if folder is None or of_all else f" --history {shell_word(str(folder))}"


def executor() -> Executor:
    """Returns the function that runs worker processes.

    The function is the `executor` of `main`, if given.
    """
    from fastrnns_rs.processes.launcher import launch_together

    given: Executor | None = click.get_current_context().find_root().obj
    return given or launch_together


def choose_format(given: dict[str, Any]) -> str | None:
    """Returns the format that `--format` or `--json` requests, or None.

    Raises:
        UsageError: If both are given in one place.
    """
    if given["format_name"] is not None and given["as_json"]:
        from fastrnns_rs.errors import exclusive

        raise exclusive("format_name", "as_json")
    found: str | None = "json" if given["as_json"] else given["format_name"]
    if found == "html" or given.get("open_page") or given.get("plot") is not None:
        from fastrnns_rs.cli.page_output import check

        return check(given, found)
    return found


def deliver(text: str, output: Path | None) -> bool:
    """Writes a result to a file or to stdout.

    A document is UTF-8 bytes, whatever the encoding of the terminal.

    Returns:
        False if the reader of stdout or of a pipe has left before the end, or if there is no stdout.
    """
    # A path may contain bytes that are not UTF-8. Such bytes are written unchanged.
    data = text.encode(errors="surrogateescape")
    if output is None or is_stream(output):
        return deliver_pieces(lambda take: _discard(take(data)), output)
    from fastrnns_rs.documents import writing
    from fastrnns_rs.documents.writer_lock import locked

    with locked(output) as place:
        writing.write(output, [data], place)
    return True


def _discard(_result: object) -> None:
    """Ignores a result."""


def deliver_pieces(write: Callable[[Callable[[bytes], object]], None], output: Path | None) -> bool:
    """Writes a result that comes in pieces, because it may be too large for memory.

    Args:
        write: Function that passes all pieces to its argument, a function.
        output: File to write to; None for stdout.

    Returns:
        False if the reader of stdout or of a pipe has left before the end, or if there is no stdout.
    """
    is_whole = False
    if output is None or is_stdout(output):
        with unread(STDOUT):
            write(lambda piece: click.echo(piece, nl=False))
            is_whole = sys.stdout is not None
    elif is_stream(output):
        from fastrnns_rs.documents.writing import open_stream

        # The reader of a pipe may leave early, as that of stdout.
        with suppress(BrokenPipeError), open_stream(output) as stream:
            write(stream.write)
            is_whole = True
    else:
        from fastrnns_rs.documents.writer_lock import locked
        from fastrnns_rs.documents.writing import replacing

        with locked(output) as place, replacing(output, place) as file:
            write(file.write)
        is_whole = True
    return is_whole


def is_stream(output: Path) -> bool:
    """Returns True for stdout, pipes, devices and open files as `/dev/fd/3`.

    They are written straight, and are neither locked nor replaced.
    """
    from fastrnns_rs.documents.writing import open_descriptor

    try:
        mode = output.stat().st_mode
    except (OSError, ValueError):
        mode = stat.S_IFREG
    is_ordinary = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
    return not is_ordinary or is_stdout(output) or open_descriptor(output) is not None


def is_stdout(output: Path) -> bool:
    """Returns True for stdout, also by the path of its descriptor."""
    from fastrnns_rs.documents.writing import open_descriptor

    # `/dev/stdout` is stdout even if that is closed.
    return os.fspath(output) in {"-", "/dev/stdout"} or open_descriptor(output) == STDOUT


def is_quiet() -> bool:
    """Returns True with `--quiet`: stderr then has errors only."""
    context = click.get_current_context(silent=True)
    return context is not None and QUIET in context.meta


def shows_progress() -> bool:
    """Returns False with `--no-progress` or `--quiet`."""
    context = click.get_current_context(silent=True)
    return not is_quiet() and not (context is not None and NO_PROGRESS in context.meta)


def tell(lines: Iterable[str]) -> None:
    """Writes lines for a person to stderr, unless `--quiet` is given."""
    if not is_quiet():
        tell_error(lines)


def tell_of_project(lines: Iterable[str]) -> None:
    """Writes lines about a `pyproject.toml` to stderr, as `tell` does.

    `quiet` of the file does not count: the file would hide which programs it runs and which files it replaces.
    """
    context = click.get_current_context(silent=True)
    source = None if context is None else context.meta.get(QUIET)
    if source in {None, click.core.ParameterSource.DEFAULT_MAP}:
        tell_error(lines)


def tell_error(lines: Iterable[str]) -> None:
    """Writes the lines of an error to stderr, wrapped to a terminal.

    A stderr that cannot be written to, such as a file on a full disk, changes neither the result nor the exit code.
    """
    with suppress(OSError), unread(STDERR):
        for line in lines:
            # Names of files may contain control characters.
            for part in _fitted(visible_lines(line)):
                click.echo(part, err=True)


def _fitted(line: str) -> list[str]:
    """Wraps a line to the terminal; a line with a command to copy stays whole."""
    from fastrnns_rs.views.output_stream import is_terminal, terminal_width

    if not is_terminal(sys.stderr) or "fastrnns-rs " in line or "\n" in line:
        return [line]
    from fastrnns_rs.views.prose import wrapped

    return wrapped(line, terminal_width(sys.stderr))


def tell_warnings(warnings: Sequence[RunWarning], format_name: str | None = None) -> None:
    """Writes warnings to stderr, each with its evidence and its hint.

    Args:
        warnings: Warnings to write.
        format_name: Format of a comparison on stdout. Formats for people contain the warnings already. None if stdout
            has no place for warnings.
    """
    if warnings and format_name in {None, "json", "junit"}:
        from fastrnns_rs.views.output_stream import is_ascii, terminal_width
        from fastrnns_rs.views.prose import warning_lines

        limit = terminal_width(sys.stderr)
        lines = [
            line for one in warnings for line in warning_lines(one.code, one.message, one.evidence, one.hint, limit)
        ]
        tell(symbols_in_ascii(lines, limit) if is_ascii(sys.stderr) else lines)


def symbols_in_ascii(lines: Iterable[str], limit: int | None) -> list[str]:
    """Replaces symbols such as `µ` and `±` for a terminal that does not show them."""
    from fastrnns_rs.views.screen import in_ascii

    return [part for line in lines for part in in_ascii(line, limit)]


@contextmanager
def unread(descriptor: int) -> Iterator[None]:
    """Ignores that the reader of stdout or stderr has left.

    The remaining output is dropped, and the exit code stays unchanged.

    Args:
        descriptor: `STDOUT` or `STDERR`.
    """
    try:
        yield
    except BrokenPipeError:
        discard(descriptor)


def discard(descriptor: int) -> None:
    """Drops the output that is not written yet, and all further output.

    Without this, Python prints an error when it flushes at exit, and exits with 120.

    Args:
        descriptor: `STDOUT` or `STDERR`.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def interrupt_on_signals() -> None:
    """Handles a request to terminate as Ctrl-C.

    Measured results are then kept. No process, temporary file or lock is left behind, and a terminal shows its cursor.
    """
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        # Under nohup, SIGHUP stays ignored. Threads other than the main thread cannot set handlers.
        if signal.getsignal(number) is not signal.SIG_IGN:
            with suppress(ValueError):
                signal.signal(number, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
