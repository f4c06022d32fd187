"""Options for the history."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastrnns_rs.cli.configuration import Target
from fastrnns_rs.cli.options import F, several
from fastrnns_rs.cli.shared import is_flag
from fastrnns_rs.documents.user_folder import expand_home
from fastrnns_rs.errors import exclusive

if TYPE_CHECKING:
    from fastrnns_rs.verbs.history.run_history import RunHistory


def folder(verb: str) -> Callable[[F], F]:
    """Returns `--history`, with the variable of a verb and the variable of all verbs."""
    return click.option(
        "--history",
        cls=Target,
        type=click.Path(file_okay=False, path_type=Path),
        callback=_expand,
        envvar=[f"FASTRNNS_{verb.upper()}_HISTORY", "FASTRNNS_HISTORY"],
        metavar="DIR",
        help="History folder. [default: in the user's data folder]",
    )


def _expand(_context: click.Context, _param: click.Parameter, value: Path | None) -> Path | None:
    return None if value is None else Path(expand_home(value))


def options(verb: str) -> Callable[[F], F]:
    """Returns `--history` and `--no-history`."""
    variables = [f"FASTRNNS_{verb.upper()}_NO_HISTORY", "FASTRNNS_NO_HISTORY"]
    none = click.option("--no-history", is_flag=True, envvar=variables, help="Do not use the history.")
    return several(folder(verb), none)


def find_history(given: dict[str, Any]) -> RunHistory | None:
    """Returns the history that the options request; None with `--no-history`.

    Raises:
        click.UsageError: If the command line has both flags.
    """
    from fastrnns_rs.verbs.history.run_history import RunHistory, default_folder

    if given.get("no_history"):
        if is_flag("history") and is_flag("no_history"):
            raise exclusive("history", "no_history")
        # A flag takes precedence over a configured value.
        if not is_flag("history"):
            return None
    return RunHistory(given["history"] or default_folder())
