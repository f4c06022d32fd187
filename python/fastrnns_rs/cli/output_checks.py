"""Checks of the files that a command writes, before there is anything to lose."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from fastrnns_rs.cli.shared import is_stdout, is_stream
from fastrnns_rs.errors import UsageError


def check_output(output: Path | None, inputs: Iterable[str | os.PathLike[str]] = (), flag: str = "--output") -> None:
    """Checks an output file before there is anything to lose.

    Args:
        output: Path of the file; None if there is no file.
        inputs: Files that the command reads.
        flag: Option that names the file, for the message.

    Raises:
        UsageError: If the file cannot be written to, or is an input or the project's `pyproject.toml`.
    """
    if output is None:
        return
    from fastrnns_rs.documents.writing import check_open_file, check_writable

    if is_stream(output):
        check_open_file(output)
        if not is_stdout(output) and output.is_file():
            check_not_read(output, inputs, flag)
    else:
        from fastrnns_rs.cli.configuration import configuration_file

        check_writable(output)
        check_not_read(output, inputs, flag)
        _check_not_kept(output, flag)
        configuration = configuration_file()
        check_not_read(output, [] if configuration is None else [configuration], flag)
        check_not_read(output, _programs(), flag)


def _check_not_kept(output: Path, flag: str) -> None:
    """Checks that an output file is not a run or a tag of a history.

    A run that is resumed replaces its own file.

    Raises:
        UsageError: If it is.
    """
    place, context = Path(os.path.realpath(output)), click.get_current_context(silent=True)
    resumed = context.params.get("resume") if context else None
    # Most outputs are new, or in other folders: nothing is loaded for them.
    if not {"runs", "tags"}.intersection(place.parts) or (resumed and os.path.realpath(resumed) == str(place)):
        return
    from fastrnns_rs.verbs.history.kept_files import find_kept

    kind = find_kept(place)
    if kind is not None:
        reason = f"the file is a {kind} of a history"
        raise UsageError(f"cannot write file: {str(output)!r}", "Use another path.", where=flag, reason=reason)


def _programs() -> Iterator[str | os.PathLike[str]]:
    """Yields the programs that the options of the command name."""
    context = click.get_current_context(silent=True)
    for name, value in (context.params if context else {}).items():
        if name.endswith(("_python", "_path")) and isinstance(value, (str, os.PathLike)):
            yield value


def check_not_read(output: Path | None, inputs: Iterable[str | os.PathLike[str]], flag: str = "--output") -> None:
    """Checks that an output file is not one of the inputs, under any name.

    Raises:
        UsageError: If the output is one of the inputs.
    """
    for one in inputs:
        if output is not None and _are_one(output, one):
            reason, hint = "the command reads this file", "Use the path of another file."
            raise UsageError(f"cannot overwrite input: {str(output)!r}", hint, where=flag, reason=reason)


def check_not_code(given: Mapping[str, Any]) -> None:
    """Checks that no output is a file of a runner's code.

    Args:
        given: Options of a command, whose files of runners are loaded.

    Raises:
        UsageError: If an output is such a file, under any name.
    """
    found = {f"--{name.replace('_', '-')}": given.get(name) for name in ("output", "run_file")}
    # Plug-ins may be slow to load: only a file that may be a module is looked up.
    outputs = {flag: path for flag, path in found.items() if path is not None and _may_be_module(path)}
    if not outputs:
        return
    from fastrnns_rs.runners.imported_files import find_root, list_imported
    from fastrnns_rs.runners.registry import all_runners

    for source in {one.source for one in all_runners().values() if not one.source.is_built_in}:
        # A run of code that cannot be read has no hash.
        with suppress(OSError):
            files = [one.file for one in list_imported(source, find_root(source))]
            for flag, path in outputs.items():
                check_not_read(path, files, flag)


def _may_be_module(path: Path) -> bool:
    # Unlike `Path.is_file`, this is False for an impossible name.
    return os.path.isfile(path) and os.path.realpath(path).endswith(".py") and not is_stdout(path)  # noqa: PTH113


def check_distinct(given: Mapping[str, Any], *names: str) -> None:
    """Checks that no two options name one file to write.

    Args:
        given: Options of a command.
        names: Those that name outputs; the command need not have them. Pipes and devices take any number.

    Raises:
        UsageError: If two are the same file, under any name.
    """
    found: set[str] = set()
    for name in names:
        path = given.get(name)
        if path is None:
            continue
        on_stdout = is_stdout(path)
        if is_stream(path) and not on_stdout:
            continue
        place = "-" if on_stdout else os.path.realpath(path)
        if place in found:
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(f"two outputs for one file: {str(path)!r}", f"Use another file for {flag}.", where=flag)
        found.add(place)


def _are_one(first: Path, second: str | os.PathLike[str]) -> bool:
    try:
        # Some network file systems change the inode number of a file.
        return first.samefile(second) or os.path.realpath(first) == os.path.realpath(second)
    except (OSError, ValueError):
        # A file that does not exist, or has an impossible name, is not overwritten.
        return False
