"""Values of options from the `pyproject.toml` of a project."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import click

from fastrnns_rs.errors import UsageError, nearest
from fastrnns_rs.escaping import visible

_TABLE = "tool.fastrnns-rs"
#: Options of several verbs that may stand in the table itself, for all of them.
_SHARED = ("history",)
#: Files of whole companies have some hundred kilobytes. That of another user may take seconds to read from here on.
_MOST_BYTES = 1 << 24
_MOST_FOREIGN_BYTES = 1 << 15


class Unconfigured(click.Option):
    """An option of the command line alone: neither a variable nor a `pyproject.toml` sets it."""

    def __init__(self, declarations: Sequence[str], **settings: Any) -> None:
        super().__init__(declarations, **{**settings, "allow_from_autoenv": False})


class Guarded(click.Option):
    """An option with power over the user's machine. A `pyproject.toml` that other users may write does not set it."""

    #: Kind of things that it names.
    names: ClassVar[str]


class Target(Guarded):
    """An option whose value is a file or folder that will be written to."""

    names = "files to write"


class Code(Guarded):
    """An option whose value names code that will be executed."""

    names = "code"


class Program(Code):
    """An option whose value is a program: a path, or a name that is looked up on `PATH`."""

    names = "programs"


def configured(verb: str, params: Sequence[click.Parameter]) -> dict[str, Any]:
    """Reads the values that the project's `pyproject.toml` sets.

    Args:
        verb: Name of the command.
        params: Its parameters.

    Returns:
        Values by parameter. Relative paths begin at the folder of the file.

    Raises:
        UsageError: The file is not TOML, or sets what no option takes.
    """
    path = configuration_file()
    if path is None:
        return {}
    from fastrnns_rs.cli import VERBS

    # Asked before it is read: where no other user may write, nothing changes in between.
    why = _why_foreign(path)
    tables = _tables(path, _MOST_BYTES if why is None else _MOST_FOREIGN_BYTES)
    shared = {name: tables.pop(name) for name in _SHARED if isinstance(tables.get(name), str)}
    known = {param.name for param in params}
    if found := {name: one for name, one in shared.items() if name in known}:
        tables[verb] = {**found, **tables.get(verb, {})}
    for name in tables:
        if name not in VERBS:
            raise UsageError(f"[{_TABLE}] in {path} has no use for {name!r}", nearest(name, VERBS))
    found = {param.name: (param, key, value) for param, key, value in _settings(verb, params, tables, path)}
    guarded = {key: param.names for param, key, _ in found.values() if isinstance(param, Guarded)}
    if guarded and why is not None:
        _warn(path, verb, guarded, why)
        found = {name: one for name, one in found.items() if one[1] not in guarded}
    return {str(name): _located(param, value, path.parent) for name, (param, _, value) in found.items()}


def configuration_file() -> Path | None:
    """Finds the `pyproject.toml` of the project that the working directory is in.

    The project's root is the nearest folder with a `pyproject.toml` or a `.git`; what lies above it is another's.
    """
    try:
        start = Path.cwd()
    except FileNotFoundError:
        # The folder that one stands in was deleted.
        return None
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        if file.is_file():
            return file
        if os.path.lexists(folder / ".git"):
            return None
    return None


def note_programs(ctx: click.Context, *names: str) -> None:
    """Says on stderr which programs the project's `pyproject.toml` names, for commands that merely look at files.

    Args:
        ctx: A command's context.
        names: Parameters that may name a program.
    """
    from fastrnns_rs.cli.shared import tell

    source = click.core.ParameterSource.DEFAULT_MAP
    for name in names:
        if ctx.get_parameter_source(name) is source:
            value = f"{name.replace('_', '-')} = {ctx.params[name]}"
            tell([visible(f"note: {value} comes from {configuration_file()}")])


def _settings(
    verb: str, params: Sequence[click.Parameter], tables: dict[str, dict[str, Any]], path: Path
) -> Iterator[tuple[click.Option, str, Any]]:
    """Yields the options that a file sets, the keys as they stand there, and the checked values."""
    from fastrnns_rs.cli.options import dashed

    names = {
        dashed(name).lstrip("-"): param for param in params for name in param.opts if isinstance(param, click.Option)
    }
    free = {name: param for name, param in names.items() if not isinstance(param, Unconfigured)}
    seen = set()
    for key, value in tables.get(verb, {}).items():
        param = names.get(dashed(key))
        if isinstance(param, Unconfigured):
            place = f"{key} in [{_TABLE}.{verb}] of {path}"
            raise UsageError(f"{place} is for the command line alone", "leave it out")
        if param is None or param.name is None or key == "help":
            raise UsageError(f"[{_TABLE}.{verb}] in {path} has an unknown key {key!r}", nearest(dashed(key), free))
        if param.name in seen:
            raise UsageError(f"[{_TABLE}.{verb}] in {path} sets {dashed(key)} twice", "keep one spelling")
        seen.add(param.name)
        checked = _checked(param, value, f"{key} in [{_TABLE}.{verb}] of {path}")
        yield param, key, [checked] if param.multiple and not isinstance(checked, list) else checked


def _why_foreign(path: Path) -> str | None:
    """Returns why a file may not be this user's alone; None where it is.

    A file in a folder such as `/tmp` is not: relative paths in it would begin among the files of others.
    """
    from fastrnns_rs.machine.ownership import others_may_add, others_may_write

    try:
        return others_may_write(path) or others_may_add(path.parent)
    except OSError as error:
        return f"its owner is not known: {error.strerror}"


def _warn(path: Path, verb: str, guarded: dict[str, str], why: str) -> None:
    from fastrnns_rs.cli.shared import tell

    kinds = " and ".join(dict.fromkeys(guarded.values()))
    message = f"warning: [{_TABLE}.{verb}] of {path} sets {kinds}, and {why}: ignored: {', '.join(guarded)}"
    tell([visible(message), "hint: give them as flags or variables, or make the file and its folders your own"])


def _located(param: click.Option, value: Any, folder: Path) -> Any:
    """Returns a value in which relative paths begin at a folder; a program without a slash is looked up on `PATH`."""
    if isinstance(value, list):
        return [_located(param, one, folder) for one in value]
    is_path = "/" in str(value) if isinstance(param, Program) else isinstance(param.type, click.Path)
    return str(folder / value) if is_path else value


def _checked(param: click.Parameter, value: Any, place: str) -> Any:
    """Returns a configured value that the option takes.

    Raises:
        UsageError: It does not; the message names where it stands.
    """
    listed = value if isinstance(value, list) else [value]
    if isinstance(value, list) and not param.multiple:
        raise UsageError(f"{place} is a list", "give one value")
    for one in listed:
        is_flag = isinstance(param, click.Option) and param.is_flag
        number = isinstance(param.type, click.IntRange | click.FloatRange)
        kinds: tuple[type, ...] = (bool,) if is_flag else (int, float) if number else (str,)
        if not isinstance(one, kinds) or (number and isinstance(one, bool)):
            raise UsageError(f"{place} is {one!r}", f"give {' or '.join(kind.__name__ for kind in kinds)}")
        try:
            param.type.convert(one if is_flag else str(one), param, None)
        except (click.BadParameter, ValueError) as error:
            # Click looks whether a path is there, and no path has a zero byte.
            why = error.message if isinstance(error, click.BadParameter) else error
            raise UsageError(f"{place} is {value!r}: {why}", "give a value that the flag takes") from error
    return value


def _tables(path: Path, most: int) -> dict[str, Any]:
    """Returns the table of each verb.

    Raises:
        UsageError: The file is not TOML, or our part of it is no table of tables.
    """
    import tomllib  # most folders have no such file

    from fastrnns_rs.documents import reading

    try:
        document = tomllib.loads(reading.text(path, most))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read: {error}", "mend the file") from error
    tool = document.get("tool", {})
    tables = tool.get("fastrnns-rs", {}) if isinstance(tool, dict) else {}
    if not isinstance(tables, dict):
        raise UsageError(f"[{_TABLE}] in {path} is not a table", f"write options under [{_TABLE}.bench]")
    for verb, options in tables.items():
        if not isinstance(options, dict) and not (verb in _SHARED and isinstance(options, str)):
            raise UsageError(f"{verb} in [{_TABLE}] of {path} is not a table", f"write it under [{_TABLE}.bench]")
    return tables
