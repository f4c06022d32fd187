"""What `torchrun` tells a process: which of how many ranks it is, and where they meet."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from fastrnns_rs.errors import UsageError

#: Set by torchrun alone; other starters set RANK too, and host no store.
_MARK = "TORCHELASTIC_RUN_ID"
_MOST_PORTS = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The ranks that `torchrun` started together, as one of them sees it.

    Attributes:
        rank: Which this is.
        size: How many there are.
        local_rank: Which it is among those of its machine; it chooses the CUDA device.
        node: Which machine it is on, by number.
        address: Where the store is that the ranks meet at.
        port: Its port.
        attempt: How often torchrun has started the ranks anew.
        hosted: Whether torchrun itself hosts the store; else rank 0 does.
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
        """Whether this is rank 0, which writes the run file and tells how it goes."""
        return self.rank == 0

    def meeting(self, name: str = "") -> dict[str, object]:
        """How a child of this rank finds the others, under a name that all of them give."""
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
    """The ranks that this process is one of; None if `torchrun` did not start it.

    Raises:
        UsageError: A variable is missing, or is no number that it may be.
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
        raise UsageError(f"{_MARK} is set, as by torchrun, but {name} is not", f"start with torchrun, or unset {_MARK}")
    return text


def _number(
    variables: Mapping[str, str], name: str, *, least: int = 0, most: int | None = None, default: str | None = None
) -> int:
    text = _text(variables, name, default)
    # int() takes much more than digits.
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= len(str(1 << 31)) else -1
    if number < least or (most is not None and number > most):
        raise UsageError(f"{name} is {text!r}, which torchrun never sets", f"start with torchrun, or unset {_MARK}")
    return number
