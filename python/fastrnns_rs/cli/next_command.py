"""Next commands, which the last line of a screen names."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

from fastrnns_rs.cli.command_words import CommandWords
from fastrnns_rs.cli.configuration import Code
from fastrnns_rs.cli.shared import is_flag
from fastrnns_rs.views.text import shell_word

#: Options that choose runners or the output: another command has its own.
_CHOICE = ("runners", "group", "rnns", "cnns", "variable_lstms")
_OUTPUT = ("format_name", "as_json", "output", "verbose")
_FOR_ALL = {"--quiet", "--no-progress", "--color"}


def resuming(name: str) -> str:
    """Returns the command that resumes a run of the current command.

    A run file is data, so the command repeats code and the history folder that the current command line names.

    Args:
        name: Words that name the run. A name such as `@last` has its history folder with it.
    """
    context = click.get_current_context(silent=True)
    words = ["fastrnns-rs bench --resume", name]
    again = () if name.startswith("@") else ("history",)
    for param in [] if context is None else context.command.params:
        if context is not None and (isinstance(param, Code) or param.name in again) and is_flag(str(param.name)):
            words += map(shell_word, option_words(param, context.params[str(param.name)]))
    return " ".join(words)


def option_words(param: click.Parameter, value: Any) -> list[str]:
    """Returns the words of an option with its value, or of each of several values."""
    flag = max(param.opts, key=len)
    return [word for one in (value if param.multiple else [value]) for word in (flag, str(one))]


def with_runners(names: Sequence[str], *more: str) -> str:
    """Returns the current command for other runners, with its other options.

    Args:
        names: Runners.
        more: Options to add.
    """
    command = click.get_current_context().command
    typed = sys.argv[2:] if sys.argv[1:2] == [command.name] else []
    given = CommandWords(command, typed)
    kept = [
        word
        for word, owner in zip(given.words, given.owners, strict=True)
        if owner is not None and owner.name not in (*_CHOICE, *_OUTPUT) and not _FOR_ALL & {*owner.opts}
    ]
    return given.make_command([*names, *kept, *more])
