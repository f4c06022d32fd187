"""Environment variables of `torchrun`: rank, number of ranks, store address."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from fastrnns_rs.errors import UsageError

#: Only torchrun sets this variable. Other launchers set RANK too, but host no store.
_MARK = "TORCHELASTIC_RUN_ID"
_HINT = f"Start with torchrun, or unset {_MARK}."
_MOST_PORTS = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Ranks that `torchrun` started together, as seen by one rank.

    Attributes:
        rank: Index of this rank.
        size: Number of ranks.
        local_rank: Index of this rank on its machine; selects the CUDA device.
        node: Index of the machine.
        address: Host of the store through which the ranks communicate.
        port: Port of the store.
        attempt: Number of restarts by torchrun.
        hosted: True if torchrun hosts the store, False if rank 0 does.
    """

    rank: int
    size: int
    local_rank: int
    node: int
    address: str
    port: int
    attempt: int
    hosted: bool

    @property
    def leads(self) -> bool:
        """True for rank 0, which writes the run file and reports progress."""
        return self.rank == 0

    def meeting(self, name: str = "") -> dict[str, object]:
        """Returns the address and name by which a child process finds the other ranks."""
        place = f"fastrnns-rs/{self.attempt}"
        return {
            "rank": self.rank,
            "size": self.size,
            "address": self.address,
            "port": self.port,
            "hosts": self.leads and not self.hosted,
            "name": f"{place}/{name}" if name else place,
        }


def world(variables: Mapping[str, str] = os.environ) -> World | None:
    """Returns the world of this process; None if `torchrun` did not start it.

    Raises:
        UsageError: If a variable is missing or has an invalid number.
    """
    if _MARK not in variables:
        return None
    size = _number(variables, "WORLD_SIZE", least=1)
    return World(
        rank=_number(variables, "RANK", most=size - 1),
        size=size,
        local_rank=_number(variables, "LOCAL_RANK", most=size - 1),
        node=_number(variables, "GROUP_RANK", default="0"),
        address=_text(variables, "MASTER_ADDR"),
        port=_number(variables, "MASTER_PORT", least=1, most=_MOST_PORTS - 1),
        attempt=_number(variables, "TORCHELASTIC_RESTART_COUNT", default="0"),
        hosted=variables.get("TORCHELASTIC_USE_AGENT_STORE") == "True",
    )


def _text(variables: Mapping[str, str], name: str, default: str | None = None) -> str:
    text = variables.get(name) or default
    if text is None:
        raise UsageError(f"missing variable: {name}", _HINT, where=f"{_MARK} is set")
    return text


def _number(
    variables: Mapping[str, str], name: str, *, least: int = 0, most: int | None = None, default: str | None = None
) -> int:
    text = _text(variables, name, default)
    # `int()` accepts much more than digits.
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(1 << 31))):
        raise UsageError(f"invalid integer: {text!r}", _HINT, where=name)
    number = int(text)
    if number < least or (most is not None and number > most):
        allowed = f"at least {least}" if most is None else f"{least} to {most}"
        raise UsageError(f"out of range: {number}", _HINT, where=name, reason=f"the range is {allowed}")
    return number
