"""Options that say how much is measured, which `bench` and `ab` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from fastrnns_rs.cli.options import Count, F, several
from fastrnns_rs.cli.shared import is_flag
from fastrnns_rs.problem.loop import SYNCS

if TYPE_CHECKING:
    from fastrnns_rs.verbs.bench.effort import Effort


def processes(help_text: str) -> Callable[[F], F]:
    """The options of numbers of processes and of their loops."""
    return several(
        click.option("--processes", type=Count(min=1), help=help_text),
        click.option("--quick", is_flag=True, help="Small sizes, and few short processes, on any device."),
        click.option("--rigorous", is_flag=True, help="20 processes."),
        click.option(
            "--warmup",
            type=Count(min=0),
            help="Iterations of a process before the timed ones. [default: detected]",
        ),
        click.option(
            "--nloops",
            type=Count(min=1),
            help="Timed iterations of a process. [default: as many as its time holds]",
        ),
        click.option(
            "--sync",
            type=click.Choice(SYNCS),
            default="iteration",
            show_default=True,
            help="When to wait for the GPU: after each phase, as PyTorch's fastrnns does, or after both.",
        ),
        click.option("--affinity", metavar="CPUS", help="The CPUs that processes may use, as 0,2-3."),
        click.option("--order-seed", type=Count(min=0), help="Seed of the order of processes. [default: a random one]"),
    )


sessions: Callable[[F], F] = several(
    click.option(
        "--sessions",
        type=Count(min=1),
        default=1,
        show_default=True,
        help="Measure in several sessions, each with --processes. Three of each side are compared as sessions.",
    ),
    click.option("--every", metavar="TIME", help="From the start of one session to that of the next. [default: 10m]"),
)


#: Of each pair the one that a flag gives wins over the other, where that is configured.
_RIVALS = (("nloops", "stop"), ("stop", "nloops"), ("quick", "rigorous"), ("rigorous", "quick"))


def settled(given: dict[str, Any]) -> dict[str, Any]:
    """The options without those that are configured and contradict a flag."""
    idle = {rival for name, rival in _RIVALS if is_flag(name) and not is_flag(rival)}
    return {name: (False if value is True else None) if name in idle else value for name, value in given.items()}


def effort_of(given: dict[str, Any]) -> Effort:
    """How much is measured."""
    from fastrnns_rs.verbs.bench.effort import Effort

    names = ("processes", "rigorous", "affinity", "order_seed")
    further = {name: given[name] for name in ("stop", "devices", "side_by_side", "sessions", "every") if name in given}
    return Effort(**{name: given[name] for name in names}, **further)
