"""Jobs of a worker: one file each, which imports torch."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastrnns_rs.worker.channel import Channel, Progress

#: Kinds of jobs. Each is a module of this folder with a function `answer`.
KINDS = ("bench", "compile", "inductor", "probe", "verify")


def find(kind: str) -> Callable[[dict[str, Any], Channel, Progress], dict[str, Any]]:
    """Returns the function that does a job of a kind and returns its result."""
    if kind not in KINDS:
        raise ValueError(f"unknown job: {kind!r}")
    found: Callable[[dict[str, Any], Channel, Progress], dict[str, Any]] = import_module(f"{__name__}.{kind}").answer
    return found
