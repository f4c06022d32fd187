"""Option values from the `pyproject.toml` of a project."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import click

from fastrnns_rs.documents.user_folder import expand_home
from fastrnns_rs.errors import UsageError, unknown
from fastrnns_rs.escaping import visible

_TABLE = "tool.fastrnns-rs"
_FILE = "pyproject.toml"
#: Types of values in hints.
_NOUNS = {bool: "true or false", int: "an integer", float: "a number", str: "a string"}
#: Options that `[tool.fastrnns-rs]` itself may set, for all verbs that have them.
_SHARED = ("history",)
#: Maximum sizes in bytes. Even the files of large companies have only some hundred kilobytes. A larger file of another
#: user may take seconds to read.
_MOST_BYTES = 1 << 20
_MOST_FOREIGN_BYTES = 1 << 15
#: A key of many parts, as `a.b.c`. The parser's time and memory are quadratic in their number.
_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_DEEP_KEY = re.compile(rf"(?<![\w\\-])(?:{_PART}[ \t]*+\.[ \t]*+){{32}}")


class Unconfigured(click.Option):
    """Option of the command line only.

    Neither a variable nor a `pyproject.toml` sets the option.
    """

    def __init__(self, declarations: Sequence[str], **settings: Any) -> None:
        super().__init__(declarations, **{**settings, "allow_from_autoenv": False})


class Guarded(click.Option):
    """Option that can affect the user's machine.

    A `pyproject.toml` that other users may write does not set the option.
    """

    #: Kind of things that the option names.
    names: ClassVar[str]


class Target(Guarded):
    """Option whose value is a file or folder to write to."""

    names = "files to write"


class TargetFile(Target):
    """Option whose value is a file that the command replaces."""

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Converts the value, whose slash at the end a path would lose."""
        if isinstance(value, str) and value.endswith("/"):
            hint, reason = "Use the path of a file.", "the path is a folder"
            raise UsageError(f"cannot write file: {value!r}", hint, where=str(self.name), reason=reason, value=value)
        return super().type_cast_value(ctx, value)


class Input(Guarded):
    """Option whose value is a file to read, which may be a pipe without a writer."""

    names = "files to read"


class Launch(Guarded):
    """Flag that starts another program."""

    names = "programs"


class Code(Guarded):
    """Option whose value names code to execute."""

    names = "code"


class Program(Code):
    """Option whose value is a program: a path, or a name that is looked up on `PATH`."""

    names = "programs"


class Handler(Code):
    """Option whose value is a trace handler: `KIND:DIR`, or code."""


def configured(verb: str, params: Sequence[click.Parameter]) -> dict[str, Any]:
    """Reads the values that the project's `pyproject.toml` sets.

    Args:
        verb: Name of the command.
        params: Parameters of the command.

    Returns:
        Values by parameter name. Relative paths start at the folder of the file.

    Raises:
        UsageError: If the file is not TOML, or sets a key or value that no option supports.
    """
    path = configuration_file()
    if path is None:
        return {}
    from fastrnns_rs.cli import VERBS

    # Ownership is checked before the file is read: if no other user may write, nothing changes in between.
    why = _why_foreign(path)
    tables = _tables(path, _MOST_BYTES if why is None else _MOST_FOREIGN_BYTES)
    shared = {name: tables.pop(name) for name in _SHARED if isinstance(tables.get(name), str)}
    known = {param.name for param in params}
    if found := {name: one for name, one in shared.items() if name in known}:
        tables[verb] = {**found, **tables.get(verb, {})}
    for name in tables:
        if name not in VERBS:
            raise unknown("unknown table", name, VERBS, where=_FILE)
    found = {param.name: (param, key, value) for param, key, value in _settings(verb, params, tables)}
    guarded = {key: param.names for param, key, _ in found.values() if isinstance(param, Guarded)}
    if guarded and why is not None:
        _warn(path, verb, guarded, why)
        found = {name: one for name, one in found.items() if one[1] not in guarded}
    return {str(name): _located(param, value, path.parent) for name, (param, _, value) in found.items()}


def configuration_file() -> Path | None:
    """Finds the `pyproject.toml` of the project that contains the working directory.

    The project's root is the nearest folder with a `pyproject.toml` or a `.git`. Folders above the root belong to other
    projects. Returns None if the project has no such file.
    """
    try:
        start = Path.cwd()
    except FileNotFoundError:
        # The working directory was deleted.
        return None
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        # False too in a folder that this user may not search.
        if os.path.isfile(file):  # noqa: PTH113  # the method of `Path` raises there
            return file
        if os.path.lexists(folder / ".git"):
            return None
    return None


def note_sources(ctx: click.Context, *names: str) -> None:
    """Prints to stderr which of some options the project's `pyproject.toml` sets.

    Args:
        ctx: Context of a command.
        names: Parameters: programs, in commands that only read files, and files to replace.
    """
    from fastrnns_rs.cli.shared import tell_of_project

    source = click.core.ParameterSource.DEFAULT_MAP
    for name in names:
        if ctx.get_parameter_source(name) is source and ctx.params[name] is not None:
            value = f"{name.replace('_', '-')} = {ctx.params[name]}"
            tell_of_project([visible(f"note: {value} comes from {configuration_file()}")])


def check_target_files(ctx: click.Context) -> None:
    """Checks the files to replace that the project's `pyproject.toml` names.

    They are printed to stderr.

    Args:
        ctx: Context of a command.

    Raises:
        UsageError: If such a file is outside the project, or in its `.git`.
    """
    source = click.core.ParameterSource.DEFAULT_MAP
    named = [str(one.name) for one in ctx.command.params if isinstance(one, TargetFile)]
    for name in named:
        file = configuration_file() if ctx.get_parameter_source(name) is source else None
        # A value that gave way to the command line replaces no file.
        if file is None or ctx.params[name] is None:
            continue
        place, project = Path(os.path.realpath(ctx.params[name])), Path(os.path.realpath(file.parent))
        if not place.is_relative_to(project) or ".git" in place.relative_to(project).parts:
            reason, hint = "a pyproject.toml names only files in its folder", f"Use --{name.replace('_', '-')} PATH."
            raise UsageError(f"cannot write file: {str(ctx.params[name])!r}", hint, where=name, reason=reason)
    note_sources(ctx, *named)


def _settings(
    verb: str, params: Sequence[click.Parameter], tables: dict[str, dict[str, Any]]
) -> Iterator[tuple[click.Option, str, Any]]:
    """Yields each option that a file sets, with its key and its checked value."""
    from fastrnns_rs.cli.options import dashed
    from fastrnns_rs.cli.renamed_options import new_key

    names = {
        dashed(name).lstrip("-"): param for param in params for name in param.opts if isinstance(param, click.Option)
    }
    free = {name: param for name, param in names.items() if not isinstance(param, Unconfigured)}
    seen = set()
    for key, value in tables.get(verb, {}).items():
        param = names.get(new_key(verb, dashed(key)))
        if isinstance(param, Unconfigured):
            message = f"option of the command line only: {key!r}"
            raise UsageError(message, "Leave out the key.", where=f"{_FILE}, {_TABLE}.{verb}")
        if param is None or param.name is None or key == "help":
            raise unknown("unknown key", key, free, where=f"{_FILE}, {_TABLE}.{verb}", hint=_make_help_hint(verb))
        if param.name in seen:
            message = f"duplicate key: {dashed(key)!r}"
            raise UsageError(message, "Use one spelling.", where=f"{_FILE}, {_TABLE}.{verb}")
        seen.add(param.name)
        checked = _checked(param, value, f"{_FILE}, {_TABLE}.{verb}.{key}")
        yield param, key, [checked] if param.multiple and not isinstance(checked, list) else checked


def _make_help_hint(verb: str) -> str:
    return f"Run: fastrnns-rs {verb} --help-all"


def _why_foreign(path: Path) -> str | None:
    """Returns the reason why other users may change a file; None if they cannot.

    A file in a folder such as `/tmp` has a reason too: its relative paths would lead to files of other users.
    """
    from fastrnns_rs.processes.ownership import others_may_add, others_may_write

    try:
        return others_may_write(path) or others_may_add(path.parent)
    except OSError as error:
        return f"its owner is not known: {error.strerror}"


def _warn(path: Path, verb: str, guarded: dict[str, str], why: str) -> None:
    from fastrnns_rs.cli.shared import tell_of_project

    kinds = " and ".join(dict.fromkeys(guarded.values()))
    message = f"warning: [{_TABLE}.{verb}] of {path} sets {kinds}, but {why}: ignored: {', '.join(guarded)}"
    tell_of_project(
        [
            visible(message),
            "  hint: Give these options as flags, or let only yourself write to the file and its folders.",
        ]
    )


def _located(param: click.Option, value: Any, folder: Path) -> Any:
    """Returns a value whose relative paths start at a folder.

    A program without a slash stays unchanged: it is looked up on `PATH`. The name of a run, such as `@last`, does too.
    """
    if isinstance(value, list):
        return [_located(param, one, folder) for one in value]
    if isinstance(param, Handler):
        from fastrnns_rs.problem.torch_profiler import HANDLERS

        kind, _, target = value.partition(":")
        # A tilde is a home folder here, and an empty folder is an error.
        is_relative = kind in HANDLERS and target[:1] not in {"", "~"}
        return f"{kind}:{folder / target}" if is_relative else value
    is_path = "/" in str(value) if isinstance(param, Program) else isinstance(param.type, click.Path)
    if getattr(param, "names_runs", False):
        from fastrnns_rs.verbs.history.run_names import is_name

        is_path = not is_name(value)
    return str(folder / expand_home(value)) if is_path else value


def _checked(param: click.Parameter, value: Any, place: str) -> Any:
    """Returns a configured value, after a check that the option supports the value.

    Raises:
        UsageError: If the option does not support the value; the message names its place in the file.
    """
    listed = value if isinstance(value, list) else [value]
    if isinstance(value, list) and not param.multiple:
        raise UsageError(f"invalid value: {value!r}", "Use one value, not a list.", where=place)
    for one in listed:
        kinds = _kinds(param)
        # In Python, True is an integer too.
        if not isinstance(one, kinds) or (isinstance(one, bool) and bool not in kinds):
            wanted = " or ".join(_NOUNS[kind] for kind in kinds)
            raise UsageError(f"invalid value: {one!r}", f"Use {wanted}.", where=place)
        if one == "" and isinstance(param.type, click.Path):
            # It would be the folder of the file.
            raise UsageError("empty path: ''", "Leave out the key.", where=place)
        try:
            param.type.convert(str(one), param, None)
            if isinstance(one, int):
                # As Click converts it again: one of 400 digits is no number for it.
                float(one)
        except (click.BadParameter, ValueError, OverflowError) as error:
            # Click checks that a path exists, and raises a ValueError for a path with a zero byte.
            from fastrnns_rs.cli.click_errors import make_type_error

            why = error.message if isinstance(error, click.BadParameter) else str(error)
            found = error if isinstance(error, UsageError) else make_type_error(param.type, one, why, place)
            raise UsageError(found.what, found.hint, where=place, reason=found.reason) from error
    return value


def _kinds(param: click.Parameter) -> tuple[type, ...]:
    """Returns the types of values that an option supports in the file."""
    if isinstance(param, click.Option) and param.is_flag:
        return (bool,)
    if isinstance(param.type, click.types.BoolParamType):
        return (bool, str)
    if isinstance(param.type, click.IntRange | click.FloatRange):
        return (int, float)
    is_place = isinstance(param, Handler) or getattr(param, "names_runs", False)
    # The text of another option may be a number, such as that of `workers` and `affinity`.
    return (str,) if is_place or isinstance(param.type, click.Path | click.Choice) else (str, int, float)


def _shallow(text: str) -> str:
    """Returns a text of TOML without keys that the parser would take minutes for.

    Raises:
        ValueError: If there is such a key.
    """
    if _DEEP_KEY.search(text):
        raise ValueError("a key has more than 32 parts")
    return text


def _tables(path: Path, most: int) -> dict[str, Any]:
    """Returns the table of each verb.

    Raises:
        UsageError: If the file is not TOML, or `[tool.fastrnns-rs]` is not a table of tables.
    """
    import tomllib  # imported here, because most folders have no such file

    from fastrnns_rs.documents import reading

    try:
        document = tomllib.loads(_shallow(reading.text(path, most)))
        # Messages name values, and Python prints no integer of more than 4,300 digits: here it says so.
        repr(document)
    except (OSError, ValueError, RecursionError) as error:
        message, hint = f"cannot read file: {str(path)!r}", "Fix the file."
        raise UsageError(message, hint, reason=str(error)) from error
    tool = document.get("tool", {})
    tables = tool.get("fastrnns-rs", {}) if isinstance(tool, dict) else {}
    if not isinstance(tables, dict):
        message = f"not a table: {_TABLE!r}"
        raise UsageError(message, f"Write options under [{_TABLE}.bench].", where=_FILE)
    for verb, options in tables.items():
        if not isinstance(options, dict) and not (verb in _SHARED and isinstance(options, str)):
            message = f"not a table: {verb!r}"
            raise UsageError(message, f"Write the option under [{_TABLE}.bench].", where=_FILE)
    return tables
