"""Writes the page of commands and options from the command line itself. A test compares both."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fastrnns_rs.cli import _PURPOSES, root
from fastrnns_rs.cli.configuration import Guarded, Unconfigured
from fastrnns_rs.cli.help_sections import SECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "cli.md"
HEAD = """\
# Command line

`make reference` writes this page from the commands' own help. `fastrnns-rs COMMAND --help-all` prints the same text.

- `python -m fastrnns_rs` is the same command as `fastrnns-rs`.
- An option that takes a list (`NAME...`) takes every word up to the next option. Write files before such an option, or
  use the form `--fail-on=regression`. Commas also separate words. `--` ends the options.
- Every option also has a variable and a key in `pyproject.toml`, except options with the mark **C**: command line only.
  A `pyproject.toml` that other users may write does not set options with the mark **G**.
  [Configuration](configuration.md) explains both.
- Results go to stdout, and with them the warnings that a document has. Progress, other warnings and errors go to
  stderr. [Exit codes](exit-codes.md) are on their own page.
"""
_DEFAULT = re.compile(r"\s*\[default: ([^\]]*)\]")
#: Options that every command has.
_COMMON = ("quiet", "no_progress", "color")


def text() -> str:
    """Returns the text of the page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield HEAD
    yield "| purpose | commands |"
    yield "|---|---|"
    for purpose, verbs in _PURPOSES.items():
        yield f"| {purpose} | {', '.join(f'[`{verb}`](#{verb})' for verb in verbs)} |"
    context = click.Context(root, info_name="fastrnns-rs")
    yield from ("", "## Options of every command", "")
    yield from _table([param for param in _options(_command("bench", context)) if param.name in _COMMON], "bench")
    for verbs in _PURPOSES.values():
        for verb in verbs:
            yield from _section(_command(verb, context), context)


def _command(verb: str, context: click.Context) -> click.Command:
    command = root.get_command(context, verb)
    assert command is not None  # noqa: S101  # the names are those of the group
    return command


def _section(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yields the section of a command: its usage, its help, and its options by section of the help."""
    verb = str(command.name)
    own = command.context_class(command, info_name=verb, parent=context)
    yield from ("", f"## {verb}", "", "```text", " ".join(["fastrnns-rs", verb, *command.collect_usage_pieces(own)]))
    yield from ("```", "", *_paragraphs(command.help or ""))
    by_name = {str(param.name): param for param in _options(command) if param.name not in _COMMON}
    for title, names in SECTIONS.get(verb, {}).items():
        if options := [by_name.pop(name) for name in names if name in by_name]:
            yield from ("", f"**{title}**", "", *_table(options, verb))
    if by_name:
        yield from ("", "**Options**" if verb not in SECTIONS else "**More**", "", *_table(by_name.values(), verb))
    if command.epilog:
        yield from ("", *_paragraphs(command.epilog))


def _options(command: click.Command) -> list[click.Option]:
    found = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
    return [param for param in found if param.name != "help_all"]


def _paragraphs(help_text: str) -> Iterator[str]:
    """Yields the paragraphs of a help text; examples become a block of commands."""
    for number, paragraph in enumerate(re.split(r"\n\s*\n", textwrap.dedent("    " + help_text).strip())):
        if number:
            yield ""
        lines = [line.strip() for line in paragraph.replace("\b", "").strip().splitlines()]
        if lines[0] == "Examples:":
            yield from ("```sh", *lines[1:], "```")
        else:
            yield from textwrap.wrap(_escaped(" ".join(lines)), 118, break_long_words=False, break_on_hyphens=False)


def _table(options: Iterable[click.Option], verb: str) -> Iterator[str]:
    yield "| option | default | |"
    yield "|---|---|---|"
    for param in options:
        description, default = _described(param, verb)
        yield f"| {_names(param)} | {default} | {description} |"


def _names(param: click.Option) -> str:
    """Returns the current spelling of an option, and its value."""
    value = "" if param.is_flag or isinstance(param.type, click.Choice) else f" {_value(param)}"
    name = max((name for name in param.opts if name.islower()), key=len)
    others = [f"`{one}`" for one in param.secondary_opts]
    short = [f"`{one}`" for one in param.opts if not one.startswith("--")]
    return ", ".join([*short, f"`{name}{value}`", *others])


def _value(param: click.Option) -> str:
    if param.metavar:
        return param.metavar.replace("|", "\\|")
    kinds = {click.IntRange: "N", click.FloatRange: "X", click.Path: "PATH"}
    return next((word for kind, word in kinds.items() if isinstance(param.type, kind)), "TEXT")


def _described(param: click.Option, verb: str) -> tuple[str, str]:
    """Returns the description and the default of an option."""
    command = _command(verb, click.Context(root))
    shown = param.get_help_extra(command.context_class(command, info_name=verb)).get("default")
    help_text = param.help or ""
    if found := _DEFAULT.search(help_text):
        shown, help_text = found[1], _DEFAULT.sub("", help_text)
    words = [_escaped(" ".join(help_text.split()))]
    if isinstance(param.type, click.Choice):
        words.append("Values: " + ", ".join(f"`{one}`" for one in param.type.choices) + ".")
    if old := [name for name in param.opts if not name.islower()]:
        words.append(f"Old spelling: `{old[0]}`.")
    if isinstance(param, Unconfigured):
        words.append("**C**")
    elif isinstance(param, Guarded):
        words.append("**G**")
    return " ".join(words), "" if shown is None else _escaped(str(shown))


def _escaped(words: str) -> str:
    """Returns a text whose characters mean themselves in Markdown."""
    return re.sub(r"(`[^`]*`)|([|*<>\[\]])", lambda found: found[1] or "\\" + found[2], words)


if __name__ == "__main__":
    PAGE.write_text(text())
