"""`bench --resume FILE`: the run of the file, and the options of its command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastrnns_rs.cli.shared import is_flag
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Run

#: What does not change what is run.
_FORMATS = {"format_name", "as_json", "print_json"}
_BESIDE = {"resume", "output", "sep", "sort", *_FORMATS}


def options(run: Run, given: dict[str, Any], command: click.Command) -> dict[str, Any]:
    """The options to go on with: those that are given, or where none are those of the command that began the run.

    Raises:
        UsageError: None are given, and the run was not begun by a command.
    """
    # One that is configured is where new runs go.
    output = {"output": given["output"] if is_flag("output") else Path(given["resume"])}
    if any(is_flag(name) for name in given if name not in _BESIDE):
        return {**given, **output}
    if run.command[:2] != ["fastrnns-rs", "bench"]:
        message = f"the run was begun by {' '.join(run.command)!r}, not by bench"
        raise UsageError(message, "go on with it by bench(resume=…) and its arguments")
    # With its parent, which knows of the variables.
    context = command.make_context("bench", list(run.command[2:]), parent=click.get_current_context().parent)
    before = context.params
    if any(is_flag(name) for name in _FORMATS):
        before |= {"format_name": None, "as_json": False, "print_json": None}
    return {**before, **{name: given[name] for name in _BESIDE if is_flag(name) or name == "resume"}, **output}
