"""Errors as the command line prints them, with options and corrected commands."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence

import click

from fastrnns_rs.cli.command_words import PROGRAM, CommandWords
from fastrnns_rs.cli.exit_codes import find_exit_code
from fastrnns_rs.errors import FastrnnsError, line

#: Parameters of Python functions that have another name on the command line.
_OTHER_NAMES = {
    "format": "format_name",
    "names": "runners",
    "runners": "runner",
    "axes": "axis",
    "groups": "group",
    "paths": "files",
    "path": "file",
    "pattern": "match",
    "streams": "stream",
    "processes": "process",
    "since_ns": "since",
    "until_ns": "until",
    "trace_output": "trace",
    "kind": "plot_kind",
    "row": "plot_row",
}
#: File of defaults, in the place of an error.
_FILE = "pyproject.toml"
_ARGUMENT = re.compile(r"`(\w+)(?:=([^`]*))?`")


class CommandError(Exception):
    """Error as the command line prints it.

    Args:
        line: Line after `error: `.
        hint: Line after `hint: `; empty for none.
        exit_code: Exit code of the command.
    """

    def __init__(self, line: str, hint: str, exit_code: int) -> None:
        super().__init__(line)
        self.line, self.hint, self.exit_code = line, hint, exit_code


def command_error(
    error: click.UsageError | FastrnnsError, context: click.Context, words: Sequence[str], parsed: Sequence[str]
) -> CommandError:
    """Makes the error that the command line prints.

    Args:
        error: Error of Click or of this package.
        context: Context of the command.
        words: Words of the command as they were typed.
        parsed: Words of the command as Click parses them.
    """
    if isinstance(error, click.UsageError):
        from fastrnns_rs.cli.click_errors import usage_error

        error = usage_error(error, context, parsed)
    given = CommandWords(context.command, words)
    # The command `history` has an option of its own name.
    is_command = error.where == context.command.name and error.value is None
    named = None if is_command else find_param(context.command, error.where)
    # An equal word of the command line is another value.
    elsewhere = _FILE in error.where or (named is not None and _is_unwritten(named, context))
    owner = None if elsewhere else given.owner(error.value, named)
    place = error.where
    if owner is not None and (named is not None or not place):
        place = _spelled(owner, given.position(error.value, owner))
    elif named is not None:
        place = _unwritten(named, context)
    what = error.what if error.value is not None else _with_options(error.what, context.command)
    text = line(what, place, _with_options(error.reason, context.command) if error.value is None else error.reason)
    if elsewhere and error.correction is not None:
        return CommandError(text, error.hint, find_exit_code(error))
    return CommandError(text, _hint(error, given, owner), find_exit_code(error))


def find_param(command: click.Command, where: str) -> click.Parameter | None:
    """Returns the parameter with the name of a Python argument."""
    names = (where, _OTHER_NAMES.get(where))
    return next((param for name in names for param in command.params if name and param.name == name), None)


def _spelled(param: click.Parameter, position: int) -> str:
    """Returns the name of a parameter in help texts: `--hidden-size` or `CANDIDATE`."""
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    names = re.findall(r"[A-Z]+", param.metavar or str(param.name).upper())
    return str(names[min(position, len(names) - 1)])


def _is_unwritten(param: click.Parameter, context: click.Context) -> bool:
    """Returns True if the value is from a variable or from pyproject.toml."""
    source = context.get_parameter_source(str(param.name))
    return source in {click.core.ParameterSource.ENVIRONMENT, click.core.ParameterSource.DEFAULT_MAP}


def _unwritten(param: click.Parameter, context: click.Context) -> str:
    """Returns the place of a value that the command line does not contain."""
    source = context.get_parameter_source(str(param.name))
    if source is click.core.ParameterSource.ENVIRONMENT and isinstance(param, click.Option):
        own = [param.envvar] if isinstance(param.envvar, str) else list(param.envvar or ())
        # The variable of the command comes first, as in Click.
        general = f"{context.auto_envvar_prefix}_{str(param.name).upper()}"
        return next((name for name in own if os.environ.get(name)), general)
    if source is click.core.ParameterSource.DEFAULT_MAP:
        return _FILE
    return _spelled(param, 0)


def _hint(error: FastrnnsError, given: CommandWords, owner: click.Parameter | None) -> str:
    if error.command_hint is not None:
        return error.command_hint
    if error.verb is not None:
        return f"Run: {shlex.join([PROGRAM, error.verb, str(error.value)])}"
    other = _with_options(error.other_hint, given.command)
    if error.correction is None:
        return other
    # Two equal files or runners are no correction.
    if owner is not None and given.has(error.correction, owner):
        return other or error.hint
    corrected = given.corrected(error.value, error.correction, owner)
    return error.hint if corrected is None else f"Run: {corrected}"


def _with_options(text: str, command: click.Command) -> str:
    """Replaces arguments in backquotes by options: `devices` by --devices."""
    return _ARGUMENT.sub(lambda found: _option(command, found), text)


def _option(command: click.Command, found: re.Match[str]) -> str:
    if found[1] == "tool" and found[2]:
        return f"--{found[2].strip(chr(34))}"
    param, value = find_param(command, found[1]), found[2]
    if not isinstance(param, click.Option):
        return found[0] if param is None else _spelled(param, 0)
    flag = max(param.opts, key=len)
    if value is None or value == "True":
        return flag
    if value == "False":
        return param.secondary_opts[0] if param.secondary_opts else f"--no-{flag.removeprefix('--')}"
    return f"{flag} {value.strip(chr(34))}"
