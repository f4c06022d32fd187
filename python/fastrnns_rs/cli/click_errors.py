"""Click's errors in the words of this package."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from fastrnns_rs.errors import UsageError, closest, unknown


def usage_error(error: click.UsageError, context: click.Context | None, given: Sequence[str]) -> UsageError:
    """Makes the error that replaces an error of Click.

    Args:
        error: Error of Click.
        context: Context of the command that failed.
        given: Words of the command, as Click parses them.
    """
    context = error.ctx or context
    name = "fastrnns-rs" if context is None else str(context.info_name)
    if isinstance(error, click.NoSuchOption):
        return _unknown_option(error.option_name, name, context)
    if isinstance(error, click.MissingParameter):
        shown = "argument" if error.param is None else error.param.make_metavar(error.ctx or click.Context(_NOTHING))
        return UsageError(f"missing argument: {shown.strip('[].')}", f"Run: fastrnns-rs {name} --help", where=name)
    if isinstance(error, click.BadParameter) and error.param is not None and context is not None:
        return _bad_value(error, error.param, context, given)
    if isinstance(error, click.BadOptionUsage):
        return _bad_option(error.option_name, name, context, given)
    return UsageError(error.format_message().rstrip("."), _help(name, context))


_NOTHING = click.Command("nothing")
#: Least similarity of an option to the option that was meant.
_NEAR_OPTION = 0.65


def _help(name: str, context: click.Context | None) -> str:
    path = "fastrnns-rs" if name == "fastrnns-rs" else f"fastrnns-rs {name}"
    whole = context is not None and any(
        isinstance(one, click.Option) and one.name == "help_all" and not one.hidden for one in context.command.params
    )
    return f"Run: {path} {'--help-all' if whole else '--help'}"


def _unknown_option(option: str, name: str, context: click.Context | None) -> UsageError:
    params = [] if context is None else context.command.get_params(context)
    word = option.lstrip("-")
    argument = next((one for one in params if isinstance(one, click.Argument)), None)
    if argument is not None and str(argument.name) in {word, f"{word}s"}:
        hint = f"Leave out {option}: {argument.name} need no option."
        return UsageError(f"unknown option: {option}", hint, where=name, value=option)
    known = [
        spelling.lstrip("-")
        for param in params
        if isinstance(param, click.Option) and not param.hidden
        for spellings in (param.opts, param.secondary_opts)
        for spelling in sorted(spellings, key=len)[-1:]
        if spelling.startswith("--")
    ]
    # Short names of unlike options are near each other: --resume and --same.
    meant = closest(word, known, cutoff=_NEAR_OPTION)
    return UsageError(
        f"unknown option: {option}",
        _help(name, context),
        where=name,
        value=option,
        correction=None if meant is None else f"--{meant}",
    )


def _bad_option(flag: str, name: str, context: click.Context | None, given: Sequence[str]) -> UsageError:
    joined = next((word for word in given if word.startswith(f"{flag}=")), None)
    if joined is None:
        return UsageError(f"missing value: {flag}", _help(name, context), where=name)
    return UsageError(f"unexpected value: {joined.partition('=')[2]!r}", where=flag, value=joined, correction=flag)


def _bad_value(
    error: click.BadParameter, param: click.Parameter, context: click.Context, given: Sequence[str]
) -> UsageError:
    """Makes the error for a value that the type of a parameter does not accept."""
    where = str(param.name)
    for value in _values(param, context, given):
        try:
            param.type(value, param, context)
        except click.BadParameter as again:
            return make_type_error(param.type, value, again.message, where)
    return UsageError(f"invalid value: {error.message}", where=where)


def _values(param: click.Parameter, context: click.Context, given: Sequence[str]) -> Sequence[Any]:
    opts, _, _ = context.command.make_parser(context).parse_args(args=[*given])
    value, _ = param.consume_value(context, opts)
    if isinstance(value, (tuple, list)):
        return value
    if param.nargs != 1 or param.multiple:
        return param.type.split_envvar_value(str(value))
    return [value]


def make_type_error(kind: click.ParamType[Any], value: object, message: str, where: str) -> UsageError:
    """Makes the error for a value that a type does not accept.

    Args:
        kind: Type of Click.
        value: Value.
        message: Message of Click, for types without a message of this package.
        where: Parameter or place of the value.
    """
    if isinstance(kind, click.Choice):
        return unknown("invalid value", value, map(str, kind.choices), where=where)
    if isinstance(kind, (type(click.INT), type(click.FLOAT))):
        return _make_number_error(kind, value, where)
    if isinstance(kind, type(click.BOOL)):
        return UsageError(f"invalid value: {value!r}", "Use true or false.", where=where, value=value)
    if isinstance(kind, click.Path):
        noun = "file" if kind.file_okay else "folder"
        hint = f"Use the path of a {noun}."
        return UsageError(f"invalid path: {value!r}", hint, where=where, reason=_path_reason(str(value)), value=value)
    return UsageError(f"invalid value: {value!r}", where=where, reason=message, value=value)


def _path_reason(path: str) -> str:
    """Returns the reason why Click does not accept a path, which need not exist."""
    try:
        is_folder = stat.S_ISDIR(Path(path).stat().st_mode)
    except (OSError, ValueError) as error:
        # A ValueError: the path has a zero byte.
        return getattr(error, "strerror", None) or str(error)
    if not os.access(path, os.R_OK):
        return os.strerror(errno.EACCES)
    return f"the path is a {'folder' if is_folder else 'file'}"


def _make_number_error(kind: click.ParamType[Any], value: object, where: str) -> UsageError:
    whole = isinstance(kind, type(click.INT))
    bounds = _bounds(kind) if isinstance(kind, (click.IntRange, click.FloatRange)) else ""
    hint = f"Use {'an integer' if whole else 'a number'}{bounds}."
    try:
        number = int(str(value)) if whole else float(str(value))
    except ValueError:
        message = f"invalid {'integer' if whole else 'number'}: {value!r}"
    else:
        message = f"out of range: {number}"
    return UsageError(message, hint, where=where, value=value)


def _bounds(kind: click.IntRange | click.FloatRange) -> str:
    low = None if kind.min is None else f"{'above' if kind.min_open else 'of at least'} {_shown(kind.min)}"
    high = None if kind.max is None else f"{'below' if kind.max_open else 'of at most'} {_shown(kind.max)}"
    return "".join(f" {bound}" for bound in (low, *(["and"] if low and high else []), high) if bound)


def _shown(bound: float) -> str:
    return f"{bound:,}" if isinstance(bound, int) else f"{bound:g}"
