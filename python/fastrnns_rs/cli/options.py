"""How options are read: several spellings, flags that take lists, and values from the configuration file."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from fastrnns_rs.cli import help_sections
from fastrnns_rs.cli.configuration import Target, configured

F = TypeVar("F", bound=Callable[..., Any])
#: Given to a command that is told everything by its flags, and so has no use for variables and `pyproject.toml`.
FLAGS_ONLY = "--flags-only"
#: Key of a context's `meta`: the whole help is shown.
_WHOLE = "fastrnns_rs.whole_help"


class Count(click.IntRange):
    """A whole number from `min` on; called an integer, not an "integer range", when it is none."""

    name = "integer"


class ListOption(click.Option):
    """An option that takes every following word; its value is a tuple, empty for the bare flag, None when not given."""

    def __init__(self, declarations: Sequence[str], **settings: Any) -> None:
        super().__init__(declarations, **{**settings, "multiple": True, "callback": self._given})

    def _given(self, ctx: click.Context, _param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...] | None:
        """The words of all its repetitions together."""
        default = ctx.get_parameter_source(str(self.name)) is click.core.ParameterSource.DEFAULT
        return None if default else self.words(value)

    def words(self, value: tuple[str, ...]) -> tuple[str, ...]:
        """The words, which commas and blanks part."""
        return tuple(word for one in value for word in one.replace(",", " ").split())


class WordsOption(ListOption):
    """The same for words that have commas or blanks in them."""

    def words(self, value: tuple[str, ...]) -> tuple[str, ...]:
        """The words as they are."""
        return value


class RunnersOption(ListOption):
    """A list option whose words are names of runners."""


class OptionalValueOption(click.Option):
    """An option whose value may be left out."""


class Verb(click.Command):
    """A command whose flags may be spelled with underscores, and whose defaults a `pyproject.toml` may set."""

    def __init__(self, name: str, **settings: Any) -> None:
        super().__init__(name, **{**settings, "context_settings": {"token_normalize_func": dashed}})
        if name in help_sections.SECTIONS:
            text = "Show every option, its old spellings and its environment variable."
            callback = _show_whole_help
            self.params.append(
                click.Option(
                    ["--help-all"], is_flag=True, is_eager=True, expose_value=False, help=text, callback=callback
                )
            )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the options by section."""
        help_sections.write(self, ctx, formatter, whole=bool(ctx.meta.get(_WHOLE)))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads the configuration, then the arguments."""
        if FLAGS_ONLY in args:
            ctx.auto_envvar_prefix = None
        elif not {"-h", "--help", "--help-all"}.intersection(args):
            ctx.default_map = {**(ctx.default_map or {}), **configured(str(ctx.info_name), self.params)}
        return super().parse_args(ctx, list(self._joined(args)))

    def _joined(self, args: list[str]) -> Iterator[str]:
        """Ties each value to its flag, so that Click need not guess whether a word is a value or a flag."""
        options = {dashed(name): param for param in self.params for name in param.opts}
        words = list(args)
        while words:
            word = words.pop(0)
            if word == "--":
                yield word
                yield from words
                return
            option = options.get(dashed(word))
            if isinstance(option, ListOption):
                values = list(_following(words))
                self._check_swallowed(word, option, values, args)
                yield from (f"{word}={value}" for value in values or [""])
            elif isinstance(option, OptionalValueOption):
                value = next(iter(words), "-")
                yield word if value.startswith("-") else f"{word}={words.pop(0)}"
            elif isinstance(option, click.Option) and not option.is_flag and not option.count and words:
                yield f"{word}={words.pop(0)}"
            else:
                yield word

    def _check_swallowed(self, flag: str, option: ListOption, values: list[str], args: list[str]) -> None:
        """Checks that an option that takes a list has not taken the names of runners that follow it.

        Raises:
            UsageError: If it has.
        """
        if isinstance(option, RunnersOption) or not any(param.name == "runners" for param in self.params):
            return
        from fastrnns_rs.errors import UsageError
        from fastrnns_rs.runners.registry import is_known

        swallowed = [value for value in values if is_known(value)]
        if swallowed:
            others = list(args)
            for name in swallowed:
                others.remove(name)
            command = shlex.join(["fastrnns-rs", str(self.name), *swallowed, *others])
            raise UsageError(f"runner after a list: {' '.join(swallowed)!r} ({flag})", f"Run: {command}")


def _show_whole_help(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[_WHOLE] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def several(*options: Callable[[F], F]) -> Callable[[F], F]:
    """One decorator for several, which keeps their order in the help."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def seconds(flag: str, default: float, text: str) -> Callable[[F], F]:
    """An option that takes a time above 0, in seconds."""
    kind = click.FloatRange(min=0, min_open=True)
    return click.option(flag, type=kind, metavar="SECONDS", default=default, show_default=True, help=text)


def count(flag: str, default: int, text: str) -> Callable[[F], F]:
    """An option that takes a whole number above 0."""
    return click.option(flag, type=Count(min=1), default=default, show_default=True, help=text)


def formats(
    verb: str, names: Sequence[str], text: str = "Output format. [default: table]", document: str = ""
) -> Callable[[F], F]:
    """`--format` and its short form `--json`, with the variables of a verb.

    Args:
        verb: The verb.
        names: The formats.
        text: The help of `--format`.
        document: What `--json` writes, where that is not said yet.
    """
    kind, variable = click.Choice(names), f"FASTRNNS_{verb.upper()}"
    short = f"Short for --format json{f': {document}' if document else ''}."
    return several(
        click.option("--format", "format_name", envvar=f"{variable}_FORMAT", type=kind, help=text),
        click.option("--json", "as_json", envvar=f"{variable}_JSON", is_flag=True, help=short),
    )


def output(text: str = "Write to PATH instead of stdout.") -> Callable[[F], F]:
    """`--output`: where what is written goes."""
    return click.option("--output", cls=Target, type=click.Path(path_type=Path), help=text)


def dashed(word: str) -> str:
    """A flag with dashes for underscores; its value, after `=`, stays as it is."""
    flag, equals, value = word.partition("=")
    return flag.replace("_", "-") + equals + value


def spelled(name: str) -> tuple[str, str, str]:
    """A parameter, fastrnns' spelling of its flag and ours: `seq_length`, `--seqLength`, `--seq-length`."""
    first, *rest = name.split("_")
    return name, f"--{first}{''.join(word.capitalize() for word in rest)}", f"--{name.replace('_', '-')}"


def _following(words: list[str]) -> Iterator[str]:
    """Takes words up to the next flag."""
    while words and not words[0].startswith("-"):
        yield words.pop(0)
