"""Options for sweeps and for the choice of rows: `--axis`, `--filter`, `--sort`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import click

from fastrnns_rs.cli.options import F, WordsOption, several
from fastrnns_rs.cli.shared import is_flag
from fastrnns_rs.errors import UsageError
from fastrnns_rs.problem.modes import Modes
from fastrnns_rs.problem.sweep import axes as sweeping_axes
from fastrnns_rs.problem.sweep.conditions import MEASURED, make_row, ordered, parse_conditions, sort_key
from fastrnns_rs.problem.sweep.names import flag

if TYPE_CHECKING:
    from pathlib import Path

    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.problem.sweep.axes import Axis
    from fastrnns_rs.problem.sweep.conditions import Condition

axes = click.option(
    "--axis",
    cls=WordsOption,
    metavar="NAME=VALUES...",
    help="Values of an option to measure: hidden-size=128,256, seq-length=16:64:16 (start:stop:step, stop included), "
    "hidden-size=pow2:6:10 or dtype=float32,float64. Several axes give every combination.",
)


def rows(what: str) -> Callable[[F], F]:
    """Returns the options that choose and sort rows."""
    return several(
        click.option(
            "--filter",
            cls=WordsOption,
            metavar="CONDITION...",
            help=f"{what}: 'hidden-size>=256', 'runner~jit', dtype=float32. Operators: = != < <= > >= and ~ (contains, "
            "or matches with *). Several conditions are joined by and.",
        ),
        click.option(
            "--sort",
            metavar="KEY",
            help="Column that sorts the rows: name, forward, hidden-size, …. -forward sorts the slowest first.",
        ),
    )


def split_axes(given: dict[str, Any]) -> tuple[tuple[Axis, ...], dict[str, Any]]:
    """Returns the axes, and the options without values that an axis replaces.

    Raises:
        UsageError: If an axis is invalid, or is given as a flag too.
    """
    found = sweeping_axes.parse_axes(given["axis"])
    if not is_flag("axis"):
        # A flag takes precedence over a configured axis.
        found = tuple(axis for axis in found if not is_flag(axis.name))
    defaults = {one.name: one.default for one in fields(Modes)} | {"dtype": "float32", "allow_tf32": False}
    for axis in found:
        if is_flag(axis.name):
            message = f"two values: --{flag(axis.name)} is an axis and has a value too"
            raise UsageError(message, f"Leave out the axis or --{flag(axis.name)}.")
    return found, {**given, **{axis.name: defaults.get(axis.name) for axis in found}}


def parse_filters(given: dict[str, Any]) -> tuple[Condition, ...]:
    """Returns the conditions that measured rows must match.

    Raises:
        UsageError: If a condition is invalid.
    """
    return parse_conditions(given["filter"])


def check(given: dict[str, Any]) -> None:
    """Checks `--sort` before the measurement.

    Raises:
        UsageError: If rows do not have the key.
    """
    if given["sort"] is not None:
        sort_key(given["sort"])


def sorted_by(run: Run, key: str | None) -> Run:
    """Returns the run with its results in the requested order.

    Raises:
        UsageError: If rows do not have the key.
    """
    return run if key is None else replace(run, results=ordered(run.results, key))


def chosen(run: Run, given: dict[str, Any]) -> Run:
    """Returns a run with the requested rows, in order, and the sweep of these rows.

    Raises:
        UsageError: If a condition or key is invalid, or no rows match.
    """
    conditions = parse_conditions(given["filter"], MEASURED)
    kept = [
        one
        for one in run.results
        if all(
            condition.holds(make_row(one.runner, one.group, one.problem, status=one.status, side=one.side))
            for condition in conditions
        )
    ]
    if conditions and run.results and not kept:
        shown = ", ".join(map(str, conditions))
        raise UsageError(f"no rows match the filter: {shown!r}", "Use another condition.", where="filter")
    if run.plan.axes and (conditions or run.sweep is None):
        from fastrnns_rs.documents.sweep_findings import summarize_sweep

        run = replace(run, sweep=summarize_sweep(run.plan.axes, kept))
    return sorted_by(replace(run, results=kept), given["sort"])


def refuse(given: dict[str, Any], file: Path) -> None:
    """Refuses flags for rows with a file that has no rows of a run.

    Configured values are for the runs that the command shows.

    Raises:
        UsageError: If the flag `--filter` or `--sort` is given.
    """
    for name in ("filter", "sort"):
        if given[name] is not None and is_flag(name):
            message = f"--{name} needs a run, and {str(file)!r} is not a run"
            raise UsageError(message, f"Leave out --{name}.")
