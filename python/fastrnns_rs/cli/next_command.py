"""Next commands, which the last line of a screen names."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from fastrnns_rs.cli.command_words import CommandWords

#: Options that choose runners or the output: another command has its own.
_CHOICE = ("runners", "group", "rnns", "cnns", "variable_lstms")
_OUTPUT = ("format_name", "as_json", "output", "verbose")
_FOR_ALL = {"--quiet", "--no-progress", "--color"}


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
    return given.command_of([*names, *kept, *more])
