"""Options for the measurement effort, shared by `bench` and `ab`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from fastrnns_rs.cli.options import Count, F, several
from fastrnns_rs.problem.loop import SYNCS

if TYPE_CHECKING:
    from fastrnns_rs.verbs.bench.effort import Effort


def processes(help_text: str) -> Callable[[F], F]:
    """Returns the options for the number of processes and for their loops."""
    return several(
        click.option("--processes", type=Count(min=1), help=help_text),
        click.option("--quick", is_flag=True, help="Use small sizes and few short processes, for a first look."),
        click.option("--rigorous", is_flag=True, help="Use 20 processes, for narrower intervals."),
        click.option(
            "--warmup",
            type=Count(min=0),
            help="Warm-up iterations per process. [default: detected]",
        ),
        click.option(
            "--nloops",
            type=Count(min=1),
            help="Timed iterations per process. [default: as many as fit in its time]",
        ),
        click.option(
            "--sync",
            type=click.Choice(SYNCS),
            default="iteration",
            show_default=True,
            help="Wait for the GPU after each iteration, or after each phase.",
        ),
        click.option("--affinity", metavar="CPUS", help="CPUs that processes may use, for example 0,2-3."),
        click.option(
            "--order-seed", type=Count(min=0), help="Random seed for the order of processes. [default: a random number]"
        ),
    )


sessions: Callable[[F], F] = several(
    click.option(
        "--sessions",
        type=Count(min=1),
        default=1,
        show_default=True,
        help="Number of sessions. From three on, intervals include the variation between sessions.",
    ),
    click.option("--every", metavar="TIME", help="Interval between the starts of two sessions. [default: 10m]"),
)


def make_effort(given: dict[str, Any]) -> Effort:
    """Returns the measurement effort of the options."""
    from fastrnns_rs.verbs.bench.effort import Effort

    names = ("processes", "rigorous", "affinity", "order_seed")
    further = {name: given[name] for name in ("stop", "devices", "side_by_side", "sessions", "every") if name in given}
    return Effort(**{name: given[name] for name in names}, **further)
