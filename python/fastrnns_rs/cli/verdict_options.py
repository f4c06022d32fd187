"""Options that say how two sides are judged and shown, which `compare` and `ab` share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from fastrnns_rs.cli import options
from fastrnns_rs.cli.options import F, ListOption
from fastrnns_rs.views import formats as views

margin: Callable[[F], F] = click.option(
    "--margin",
    metavar="SHARE",
    help="How small a difference does not matter: 1%, 0.01, or noise-floor for what ab --same found. [default: 1%]",
)
fail_on: Callable[[F], F] = click.option(
    "--fail-on",
    cls=ListOption,
    metavar="CAUSE...",
    help="regression: exit code 3 when a row is slower by more than the margin, or 4 when it would be if sessions did "
    "not differ. inconclusive: 4 when a row is, or has no verdict.",
)


def formats(verb: str) -> Callable[[F], F]:
    """`--format` and its short form, with the variables of a verb."""
    return options.formats(verb, views.COMPARISON, "How to write the comparison. [default: table]")


def causes(given: dict[str, Any]) -> Sequence[str]:
    """What `--fail-on` names.

    Raises:
        click.UsageError: It names nothing.
    """
    if given["fail_on"] == ():
        raise click.UsageError("--fail-on needs regression, inconclusive or both")
    return given["fail_on"] or ()
