"""Options for verdicts and their output, shared by `compare` and `ab`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from fastrnns_rs.cli import options
from fastrnns_rs.cli.options import F, ListOption
from fastrnns_rs.errors import UsageError
from fastrnns_rs.views import formats as views

margin: Callable[[F], F] = click.option(
    "--margin",
    metavar="SHARE",
    help="Equivalence margin: 1%, 0.01, or noise-floor (measured by ab --same). [default: 1%]",
)
fail_on: Callable[[F], F] = click.option(
    "--fail-on",
    cls=ListOption,
    metavar="CAUSE...",
    help="regression: exit code 3 if a row is slower by more than the margin, 4 if only verdicts in parentheses are. "
    "inconclusive: exit code 4 if a row is inconclusive or has no verdict.",
)


statistic: Callable[[F], F] = click.option(
    "--statistic",
    type=click.Choice(["median", "mean", "p95"]),
    default="median",
    show_default=True,
    help="Statistic of each process that is judged. The mean includes rare slow iterations.",
)


def formats(verb: str) -> Callable[[F], F]:
    """Returns `--format` and its short form, with the variables of a verb."""
    return options.formats(verb, views.COMPARISON, "Output format. [default: table]")


def causes(given: dict[str, Any]) -> Sequence[str]:
    """Returns the causes that `--fail-on` names.

    Raises:
        UsageError: If `--fail-on` has no value.
    """
    if given["fail_on"] == ():
        raise UsageError("missing value: --fail-on", "Use regression, inconclusive, or regression,inconclusive.")
    return given["fail_on"] or ()
