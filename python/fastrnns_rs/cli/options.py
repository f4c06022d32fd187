"""Parsing of options: spellings, flags that take lists, and configured values."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from fastrnns_rs.cli import display, help_sections, renamed_options, shared
from fastrnns_rs.cli.configuration import Launch, TargetFile, check_target_files, configured
from fastrnns_rs.cli.configured_values import give_way
from fastrnns_rs.errors import FastrnnsError, UsageError

F = TypeVar("F", bound=Callable[..., Any])
#: Flag for a command that reads its flags only, and neither variables nor `pyproject.toml`.
FLAGS_ONLY = "--flags-only"
#: Keys of a context's `meta`: the page that the browser opens with its state before, and a request for the whole help.
PAGE = "fastrnns_rs.page"
_WHOLE = "fastrnns_rs.whole_help"


class Count(click.IntRange):
    """Integer of at least `min`.

    Errors name the type "integer" instead of Click's "integer range".
    """

    name = "integer"


class ListOption(click.Option):
    """Option that takes every word up to the next flag.

    The value is a tuple, which is empty for the bare flag. None means that the option is not given.
    """

    def __init__(self, declarations: Sequence[str], **settings: Any) -> None:
        super().__init__(declarations, **{**settings, "multiple": True, "callback": self._given})

    def _given(self, ctx: click.Context, _param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...] | None:
        """Returns the words of all repetitions together."""
        default = ctx.get_parameter_source(str(self.name)) is click.core.ParameterSource.DEFAULT
        return None if default else self.words(value)

    def words(self, value: tuple[str, ...]) -> tuple[str, ...]:
        """Returns the words, which commas or spaces separate."""
        return tuple(word for one in value for word in one.replace(",", " ").split())


class WordsOption(ListOption):
    """List option for words that contain commas or spaces."""

    def words(self, value: tuple[str, ...]) -> tuple[str, ...]:
        """Returns the words unchanged."""
        return value


class RunnersOption(ListOption):
    """List option whose words are names of runners."""


class OptionalValueOption(click.Option):
    """Option whose value may be omitted."""


@contextmanager
def translated(context: click.Context, words: Sequence[str], parsed: Sequence[str] = ()) -> Iterator[None]:
    """Replaces errors of the block by errors as the command line prints them.

    Args:
        context: Context of the command.
        words: Words of the command as they were typed.
        parsed: Words of the command as Click parses them.
    """
    try:
        yield
    except (click.UsageError, FastrnnsError) as error:
        from fastrnns_rs.cli.error_text import command_error

        raise command_error(error, context, words, parsed) from error


class VerbContext(click.Context):
    """Context with the words of the command as typed, for corrected commands."""

    words: Sequence[str] = ()


class Verb(click.Command):
    """Command whose defaults a `pyproject.toml` may set.

    Its flags may be spelled with underscores.
    """

    def __init__(self, name: str, **settings: Any) -> None:
        self.context_class = VerbContext
        # Words that no parameter takes are reported in `parse_args`.
        own = {"token_normalize_func": dashed, "allow_extra_args": True}
        super().__init__(name, **{**settings, "context_settings": own})
        self.params += display.options()
        self.params.append(
            click.Option(
                ["--help-all"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                help="Show every option, its old spellings and its environment variable.",
                # The help of a short command is complete.
                hidden=name not in help_sections.SECTIONS,
                callback=_show_whole_help,
            )
        )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the options by section."""
        help_sections.write(self, ctx, formatter, whole=bool(ctx.meta.get(_WHOLE)))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads the configuration, then the arguments."""
        assert isinstance(ctx, VerbContext)  # noqa: S101  # the class of this command's contexts
        ctx.words = [*args]
        if ctx.resilient_parsing:
            # The line is unfinished, and the shell completes it: an error would fill the terminal.
            return super().parse_args(ctx, args)
        parsed: list[str] = []
        with translated(ctx, ctx.words, parsed):
            if FLAGS_ONLY in args:
                ctx.auto_envvar_prefix = None
            elif not {"-h", "--help", "--help-all"}.intersection(args):
                self._silence(ctx, args)
                ctx.default_map = {**(ctx.default_map or {}), **configured(str(ctx.info_name), self.params)}
            parsed += self._joined(args)
            self._refuse_empty(ctx, parsed)
            rest = super().parse_args(ctx, [*parsed])
            if rest:
                from fastrnns_rs.cli.command_words import CommandWords

                hint = f"Run: {CommandWords(self, args).without(rest)}"
                message = f"unexpected argument: {' '.join(map(repr, rest))}"
                raise UsageError(message, hint, where=str(ctx.info_name))
        return rest

    def _silence(self, ctx: click.Context, args: list[str]) -> None:
        """Applies `--quiet` of the user before a file or an old name is warned of.

        The ranks of `bench` that do not lead are quiet too: each would repeat the lines of the first.
        """
        words = args[: args.index("--")] if "--" in args else args
        [quiet] = (one for one in self.params if one.name == "quiet")
        quiet.handle_parse_result(ctx, {"quiet": True} if "--quiet" in words else {}, [])
        if self.name == "bench":
            from fastrnns_rs.verbs.bench.torchrun import world

            ranks = world()
            if ranks is not None and not ranks.leads:
                ctx.meta[shared.QUIET] = click.core.ParameterSource.COMMANDLINE

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command."""
        assert isinstance(ctx, VerbContext)  # noqa: S101  # the class of this command's contexts
        if not ctx.params.get("internal_run"):
            # The signals of a profiled process are those of its profiler and its runners.
            shared.interrupt_on_signals()
        renamed_options.warn_of_variables(str(self.name))
        with translated(ctx, ctx.words):
            ctx.params = give_way(ctx.params)
            check_target_files(ctx)
            code = super().invoke(ctx)
            if ctx.meta.get(PAGE) is not None:
                from fastrnns_rs.cli.page_output import open_page

                open_page(*ctx.meta[PAGE])
            return code
        return None

    def _refuse_empty(self, ctx: click.Context, words: Sequence[str]) -> None:
        """Rejects empty arguments and paths: an empty path would be the current folder.

        Raises:
            UsageError: If an argument or a path is empty.
        """
        if not any(word == "" or word.endswith("=") for word in words):
            return
        given, _, _ = self.make_parser(ctx).parse_args([*words])
        for param in self.params:
            values = given.get(str(param.name))
            is_checked = isinstance(param, click.Argument) or isinstance(param.type, click.Path)
            if is_checked and (values == "" or (isinstance(values, (list, tuple)) and "" in values)):
                noun = "argument" if isinstance(param, click.Argument) else "path"
                hint = f"Run: fastrnns-rs {self.name} --help"
                raise UsageError(f"empty {noun}: ''", hint, where=str(param.name), value="")

    def _joined(self, args: list[str]) -> Iterator[str]:
        """Yields the arguments with each value joined to its flag.

        Click then need not guess whether a word is a value or a flag.
        """
        options = {dashed(name): param for param in self.params for name in param.opts}
        words, named = list(args), list[str]()
        while words:
            word = words.pop(0)
            if word == "--":
                yield word
                yield from words
                return
            flag, equals, value = dashed(word).partition("=")
            if (new := renamed_options.renamed(str(self.name), flag)) is not None:
                word = f"{new}{equals}{value}"
            option = options.get(dashed(word))
            if isinstance(option, ListOption):
                values = list(_following(words))
                self._check_swallowed(word, option, values, named, args)
                yield from (f"{word}={value}" for value in values or [""])
            elif isinstance(option, OptionalValueOption):
                value = next(iter(words), "-")
                yield word if value.startswith("-") else f"{word}={words.pop(0)}"
            elif isinstance(option, click.Option) and not option.is_flag and not option.count and words:
                yield f"{word}={words.pop(0)}"
            else:
                named += [] if word.startswith("-") else [word]
                yield word

    def _check_swallowed(
        self, flag: str, option: ListOption, values: list[str], named: list[str], args: list[str]
    ) -> None:
        """Checks that a list option did not take names of runners, or files.

        Args:
            flag: Flag of the option.
            option: The option.
            values: Words that it took.
            named: Runners or files before it.
            args: Arguments of the command.

        Raises:
            UsageError: If a word of the list is the name of a runner, or a file for an argument of the command.
        """
        if any(isinstance(param, click.Argument) and isinstance(param.type, click.Path) for param in self.params):
            files = [value for value in values if ("." in value or "/" in value) and Path(value).exists()]
            if files:
                self._refuse_swallowed("file", flag, files, named, args)
        if isinstance(option, RunnersOption) or not any(param.name == "runners" for param in self.params):
            return
        from fastrnns_rs.runners.registry import is_known

        swallowed = [value for value in values if is_known(value)]
        if swallowed:
            self._refuse_swallowed("runner", flag, swallowed, named, args)

    def _refuse_swallowed(
        self, noun: str, flag: str, swallowed: list[str], named: list[str], args: list[str]
    ) -> NoReturn:
        others = list(args)
        # In another order, baseline and candidate would be swapped.
        for name in (*named, *swallowed):
            others.remove(name)
        command = shlex.join(["fastrnns-rs", str(self.name), *named, *swallowed, *others])
        raise UsageError(f"{noun} after a list: {' '.join(swallowed)!r} ({flag})", f"Run: {command}")


def _show_whole_help(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[_WHOLE] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def several(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Returns one decorator for several options, which keeps their order in the help."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def seconds(flag: str, default: float, text: str) -> Callable[[F], F]:
    """Returns an option for a time above 0, in seconds."""
    kind = click.FloatRange(min=0, min_open=True)
    return click.option(flag, type=kind, metavar="SECONDS", default=default, show_default=True, help=text)


def count(flag: str, default: int, text: str) -> Callable[[F], F]:
    """Returns an option for an integer above 0."""
    return click.option(flag, type=Count(min=1), default=default, show_default=True, help=text)


def formats(
    verb: str, names: Sequence[str], text: str = "Output format. [default: table]", document: str = ""
) -> Callable[[F], F]:
    """Returns `--format` and its short form `--json`, with the variables of a verb.

    Args:
        verb: Name of the verb.
        names: Names of the formats.
        text: Help of `--format`.
        document: Document that `--json` writes, if the help does not name it elsewhere.
    """
    kind, variable = click.Choice(names), f"FASTRNNS_{verb.upper()}"
    short = f"Short for --format json{f': {document}' if document else ''}."
    opened = click.option(
        "--open",
        "open_page",
        cls=Launch,
        envvar=f"{variable}_OPEN",
        is_flag=True,
        help="Open the page of --format html in a browser.",
    )
    return several(
        click.option("--format", "format_name", envvar=f"{variable}_FORMAT", type=kind, help=text),
        click.option("--json", "as_json", envvar=f"{variable}_JSON", is_flag=True, help=short),
        *([opened] if "html" in names else []),
    )


def output(text: str = "Write to PATH instead of stdout.") -> Callable[[F], F]:
    """Returns `--output`, the path to write to."""
    return click.option("--output", cls=TargetFile, type=click.Path(path_type=Path), help=text)


def wide(text: str) -> Callable[[F], F]:
    """Returns `--wide`, which adds what the table leaves out."""
    return click.option("--wide", is_flag=True, help=text)


def dashed(word: str) -> str:
    """Replaces underscores by dashes in a flag; keeps its value after `=`."""
    flag, equals, value = word.partition("=")
    return flag.replace("_", "-") + equals + value


def spelled(name: str) -> tuple[str, str, str]:
    """Returns a parameter, the flag of PyTorch's fastrnns, and the kebab-case flag.

    For example `seq_length`, `--seqLength`, `--seq-length`.
    """
    first, *rest = name.split("_")
    return name, f"--{first}{''.join(word.capitalize() for word in rest)}", f"--{name.replace('_', '-')}"


def _following(words: list[str]) -> Iterator[str]:
    """Yields and removes words up to the next flag, with negative integers."""
    while words and (not words[0].startswith("-") or words[0][1:].isdecimal()):
        yield words.pop(0)
