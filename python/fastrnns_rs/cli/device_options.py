"""Where `bench` runs: on several devices, or as one of the ranks that `torchrun` started."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from fastrnns_rs.cli.shared import is_flag
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.bench import torchrun

if TYPE_CHECKING:
    from fastrnns_rs.verbs.bench.rank_group import Team


def settled(given: dict[str, Any]) -> dict[str, Any]:
    """The options with one of `device` and `devices`: what a flag gives wins over what is configured."""
    if given["devices"] is None:
        return given
    if is_flag("device") and is_flag("devices"):
        raise click.UsageError("--device and --devices both say where to run; give one of them")
    if is_flag("device"):
        return {**given, "devices": None, "side_by_side": False}
    return {**given, "device": "auto"}


def ranks(given: dict[str, Any]) -> torchrun.World | None:
    """The ranks that `torchrun` started, if it did.

    Raises:
        UsageError: An option has no meaning for them, or the variables of `torchrun` make no sense.
    """
    world = torchrun.world()
    if world is not None:
        if given["resume"] is not None:
            raise UsageError("--resume does not work under torchrun", "start the run again, without --resume")
        if given["devices"] is not None:
            hint = "leave it out; torchrun --nproc-per-node has a rank for each device"
            raise UsageError("--devices does not work under torchrun, which gives each rank a device", hint)
    return world


def refuse_ranks(verb: str) -> None:
    """Refuses a verb that has no use for ranks, before each of them does the same.

    Raises:
        UsageError: `torchrun` started this process.
    """
    if torchrun.world() is not None:
        raise UsageError(f"{verb} does not work under torchrun", "use bench, or start it without torchrun")


@contextmanager
def team(world: torchrun.World | None) -> Iterator[Team | None]:
    """The ranks as they work together; None where there are none."""
    if world is None:
        yield None
        return
    from fastrnns_rs.verbs.bench.rank_group import Team

    found = Team(world)
    try:
        yield found
    finally:
        found.close()
