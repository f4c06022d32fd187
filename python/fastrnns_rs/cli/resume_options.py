"""Options of a resumed run: those of its command, except code and folders."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from fastrnns_rs.cli.configuration import Code
from fastrnns_rs.cli.error_text import CommandError, command_error, find_param
from fastrnns_rs.cli.history_options import find_history
from fastrnns_rs.cli.next_command import option_words
from fastrnns_rs.cli.shared import is_flag
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Run

#: Options that do not change the measurement.
_FORMATS = {"format_name", "as_json", "print_json"}
_UNRESTRICTED = {"resume", "output", "run_file", "sep", "sort", "wide", "history", "no_history", *_FORMATS}


def resumed(command: click.Command, run: Run, given: dict[str, Any]) -> dict[str, Any]:
    """Returns the options of a resumed run.

    The options are those of the command that began the run, and those of this command line before them. Of a run that
    `bench` did not begin, they are those of this command line.

    Raises:
        UsageError: If `bench` did not begin the run and this command line has no option that changes the measurement,
            or if the command of the run has an option that this version does not have, or names code or a history
            folder that this command line does not repeat.
    """
    code = {str(param.name): param for param in command.params if isinstance(param, Code)}
    if run.command[:2] != ["fastrnns-rs", "bench"]:
        if any(is_flag(name) for name in given if name not in {*_UNRESTRICTED, *code}):
            return given
        message = f"not a run of the command bench: {given['resume']!r}"
        reason = f"the run was started by {' '.join(run.command)!r}"
        hint = "Resume the run in Python: fastrnns_rs.bench(resume=…)"
        raise UsageError(message, hint, where="resume", reason=reason, value=given["resume"])
    meta = click.get_current_context().meta
    shown = dict(meta)
    try:
        # Its command may be `--help`, if another user has written it: nothing of that is printed.
        with redirect_stdout(StringIO()):
            # The parent context provides the prefix of environment variables.
            context = command.make_context("bench", list(run.command[2:]), parent=click.get_current_context().parent)
    except click.exceptions.Exit:
        message, reason = f"not a run of the command bench: {given['resume']!r}", "its command measures nothing"
        hint = "Start the run again."
        raise UsageError(message, hint, where="resume", reason=reason, value=given["resume"]) from None
    except CommandError as error:
        raise _make_unrepeatable(given["resume"], error.line) from error
    finally:
        # The contexts share it, and `--quiet` of that command belongs to its output.
        meta.clear()
        meta.update(shown)
    before = context.params
    # Other users may have written the run file, which is data. Code that its command names is executed, and a folder
    # written to, only if this command line names it too.
    guarded = dict(code) if is_flag("no_history") else {**code, "history": _param(command, "history")}
    missing = [
        option_words(param, before[name])
        for name, param in guarded.items()
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE and not is_flag(name)
    ]
    if missing:
        typed = [option_words(param, given[name]) for name, param in guarded.items() if is_flag(name)]
        history = find_history(given)
        # A name such as `@last` needs its history.
        is_named = history is not None and Path(given["resume"]).parent == history.runs_folder
        raise UsageError(*_unrepeated(missing[0], [given["resume"], *chain(*typed, *missing)], is_named=is_named))
    if any(is_flag(name) for name in _FORMATS):
        before |= {"format_name": None, "as_json": False, "print_json": None}
    found = {**before, **{name: value for name, value in given.items() if is_flag(name)}}
    # Flags of the run's command have priority over configured options that contradict them, as when the run began.
    for name in before.keys() - _UNRESTRICTED:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            click.get_current_context().set_parameter_source(name, ParameterSource.COMMANDLINE)
    return found


@contextmanager
def naming_run(file: str | None, run: Run | None, typed: Collection[str]) -> Iterator[None]:
    """Names the run in an error of a value that only its command has.

    Args:
        file: Path of the run.
        run: Run that is resumed; None for a new run.
        typed: Options of this command line.

    Raises:
        UsageError: If there is such an error.
    """
    try:
        yield
    except UsageError as error:
        context = click.get_current_context()
        param = find_param(context.command, error.where)
        name = "" if param is None else str(param.name)
        # `resumed` has marked the options of the run's command too.
        if run is None or name in typed or not is_flag(name):
            raise
        named = command_error(error, context, run.command[2:], ())
        raise _make_unrepeatable(file, named.line) from error


def _make_unrepeatable(file: str | None, reason: str) -> UsageError:
    # Other options would be another plan, which is refused too.
    hint = "Resume the run on its machine with the version that began it, or start it again."
    return UsageError(
        f"cannot repeat the command of the run: {file!r}", hint, where="resume", reason=reason, value=file
    )


def _param(command: click.Command, name: str) -> click.Parameter:
    return next(one for one in command.params if one.name == name)


def _unrepeated(words: list[str], again: list[str], *, is_named: bool) -> tuple[str, str]:
    """Returns message and hint for a value that must be named again.

    Args:
        words: Option and value.
        again: Run, and all options to repeat.
        is_named: True if the run is in the history of this command line.
    """
    command = f"fastrnns-rs bench --resume {shlex.join(again)}"
    what, hint = "code", f"If you trust the code, run: {command}"
    if words[0] == "--history":
        what, hint = "a history folder", f"Run: {command}" if is_named else f"Add --no-history, or run: {command}"
    return f"run with {what}: {' '.join(words)!r} (--resume)", hint
