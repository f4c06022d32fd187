"""Output of screens: width, colours, symbols, streams, and their options."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

import click

from fastrnns_rs.cli import shared
from fastrnns_rs.counting import counted
from fastrnns_rs.escaping import visible
from fastrnns_rs.views import screen
from fastrnns_rs.views.output_stream import is_ascii, is_terminal, terminal_width
from fastrnns_rs.views.prose import warning_lines
from fastrnns_rs.views.screen import Line
from fastrnns_rs.views.text import width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.views.step_progress import StepProgress

__all__ = [
    "has_symbols",
    "is_ascii",
    "is_terminal",
    "next_lines",
    "options",
    "show_lines",
    "step_progress",
    "tell_lines",
    "tell_next",
    "terminal_width",
    "uses_colour",
    "warnings_as_lines",
    "with_run_named",
]

#: More warnings would hide the table above them.
_MOST_WARNINGS = 3
#: Name of the run in the hints of its warnings.
_SHOW = re.compile(r"show (?:FILE|@last)\b")


def options() -> list[click.Option]:
    """Returns `--quiet`, `--no-progress` and `--color`, which every command has."""
    return [
        _option("--quiet", shared.QUIET, "Print results and errors only."),
        _option("--no-progress", shared.NO_PROGRESS, "Show no progress."),
        click.Option(
            ["--color"],
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            expose_value=False,
            is_eager=True,
            callback=_set_colour,
            help="Colours: auto (on a terminal), always or never.",
        ),
    ]


def _option(flag: str, key: str, text: str) -> click.Option:
    def store(context: click.Context, option: click.Parameter, value: bool) -> None:
        if value:
            # What silences the command before its options are read has priority over the file of the project.
            context.meta.setdefault(key, context.get_parameter_source(str(option.name)))

    return click.Option([flag], is_flag=True, expose_value=False, is_eager=True, callback=store, help=text)


def _set_colour(context: click.Context, _option: click.Parameter, value: str) -> None:
    if value != "auto":
        context.color = value == "always"


def uses_colour(stream: TextIO | None) -> bool:
    """Returns True if text for a stream has colours.

    `--color` decides. Without it, `NO_COLOR`, `FORCE_COLOR` and `TERM=dumb` are respected.
    """
    context = click.get_current_context(silent=True)
    if context is not None and context.color is not None:
        return context.color
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return is_terminal(stream) and os.environ.get("TERM") != "dumb"


def show_lines(lines: Sequence[Line], output: Path | None = None) -> None:
    """Writes a result to a file, or to stdout in its encoding and with colours.

    A file is UTF-8 without colours.
    """
    if output is not None:
        shared.deliver(screen.plain(lines), output)
        return
    with shared.unread(shared.STDOUT):
        click.echo(_drawn(lines, sys.stdout), nl=False, color=uses_colour(sys.stdout))


def has_symbols(output: Path | None) -> bool:
    """Returns True if a result may have bars: files are UTF-8, and stdout may be."""
    return output is not None or not is_ascii(sys.stdout)


def tell_lines(lines: Sequence[Line]) -> None:
    """Writes lines for a person to stderr, as `tell` does."""
    if shared.is_quiet():
        return
    with suppress(OSError), shared.unread(shared.STDERR):
        click.echo(_drawn(lines, sys.stderr), err=True, nl=False, color=uses_colour(sys.stderr))


def tell_next(text: str, command: str | None) -> None:
    """Writes the next command to stderr, as the last line of a screen.

    Args:
        text: Purpose of the command.
        command: Command to copy, which is never wrapped; None for no command.
    """
    if command is not None:
        shared.tell(one.text for one in next_lines(text, command, terminal_width(sys.stderr)))


def next_lines(text: str, command: str, limit: int) -> list[Line]:
    """Returns the line `text: command`, or two lines if it is too wide.

    A command to copy is never wrapped. It may name files and runners of others.
    """
    command = visible(command)
    line = f"{text}: {command}"
    return [Line(line)] if width(line) <= limit else [Line(f"{text}:"), Line(f"  {command}")]


def step_progress(verb: str, intent: str, noun: str) -> StepProgress:
    """Returns the progress of a command on stderr.

    Args:
        verb: Name of the command.
        intent: Amount of work for the first line, as `3 runners`.
        noun: Plural noun of the steps.
    """
    from fastrnns_rs.views.step_progress import StepProgress

    return StepProgress(
        verb,
        intent,
        noun=noun,
        shown=shared.shows_progress(),
        ascii_only=is_ascii(sys.stderr),
        notes=not shared.is_quiet(),
    )


def with_run_named(warnings: Sequence[RunWarning], name: str | None) -> list[RunWarning]:
    """Returns the warnings of a run with its name in their hints.

    The name replaces FILE, and `@last` of older builds. Without a name, hints that show the run are left out.

    Args:
        warnings: Warnings of the run.
        name: Path or name of the run; None if no command can name it.
    """
    from dataclasses import replace

    shown = "" if name is None else f"show {shared.run_words(name)}"
    return [
        replace(one, hint=_SHOW.sub(lambda _: shown, one.hint) if shown else None)
        if one.hint is not None and _SHOW.search(one.hint)
        else one
        for one in warnings
    ]


def _drawn(lines: Iterable[Line], stream: TextIO | None) -> str:
    return screen.drawn(lines, colour=uses_colour(stream), ascii_only=is_ascii(stream), limit=terminal_width(stream))


def warnings_as_lines(warnings: Sequence[RunWarning], limit: int, more: str | None = None) -> list[Line]:
    """Returns the lines of warnings, at most 3 in full.

    Args:
        warnings: Warnings.
        limit: Width of the terminal.
        more: Command that shows all warnings; None prints all of them.
    """
    shown = warnings if more is None or len(warnings) <= _MOST_WARNINGS else warnings[:_MOST_WARNINGS]
    lines = [
        Line(text) for one in shown for text in warning_lines(one.code, one.message, one.evidence, one.hint, limit)
    ]
    left = len(warnings) - len(shown)
    if left:
        lines.append(Line(f"{counted(left, 'more warning')}: {visible(more or '')}"))
    return lines
