"""Options for several devices and for ranks that `torchrun` started."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fastrnns_rs.cli.shared import is_flag
from fastrnns_rs.errors import UsageError, exclusive
from fastrnns_rs.verbs.bench import torchrun

if TYPE_CHECKING:
    from fastrnns_rs.verbs.bench.rank_group import RankGroup


def resolve_devices(given: dict[str, Any]) -> dict[str, Any]:
    """Returns the options with only one of `device` and `devices`.

    A flag takes precedence over a configured value.
    """
    if given["devices"] is None:
        return given
    if is_flag("device") and is_flag("devices"):
        raise exclusive("device", "devices")
    if is_flag("device"):
        return {**given, "devices": None, "side_by_side": False}
    return {**given, "device": "auto"}


def ranks(given: dict[str, Any]) -> torchrun.World | None:
    """Returns the ranks that `torchrun` started, or None without `torchrun`.

    Raises:
        UsageError: If ranks do not support an option, or the variables of `torchrun` are invalid.
    """
    world = torchrun.world()
    if world is not None:
        if given["resume"] is not None:
            raise UsageError("--resume does not work under torchrun", "Start the run again, without --resume.")
        if given["devices"] is not None:
            hint = "Leave out --devices: torchrun --nproc-per-node starts one rank per device."
            raise UsageError("--devices does not work under torchrun", hint)
    return world


def refuse_ranks(verb: str) -> None:
    """Checks that a verb without support for ranks was not started by `torchrun`.

    The check comes first, so that not every rank does the same work.

    Raises:
        UsageError: If `torchrun` started this process.
    """
    if torchrun.world() is not None:
        raise UsageError(f"{verb} does not work under torchrun", "Use bench, or start the command without torchrun.")


@contextmanager
def open_rank_group(world: torchrun.World | None) -> Iterator[RankGroup | None]:
    """Yields the rank group, or None without ranks, and closes it at the end."""
    if world is None:
        yield None
        return
    from fastrnns_rs.verbs.bench.rank_group import RankGroup

    found = RankGroup(world)
    try:
        yield found
    finally:
        found.close()
