"""Results of the check: an item is one thing that was tried, a section all items of a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from gpu_check.session import Session

OK: Literal["ok"] = "ok"
FAILED: Literal["failed"] = "failed"
NOT_RUN: Literal["not run"] = "not run"
Status: TypeAlias = Literal["ok", "failed", "not run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing that was tried.

    Attributes:
        name: Name of a test file, a runner, a profiler or a model.
        status: Result.
        reason: Reason of a failure, or why it was not run; None for a success.
        seconds: Wall time; None where it was not measured by itself.
        figures: Numbers, by their name with unit.
        log: Last lines of the output, of a failure.
    """

    name: str
    status: Status
    reason: str | None = None
    seconds: float | None = None
    figures: Mapping[str, Any] = field(default_factory=dict)
    log: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The items of a step, and how long all of them took."""

    title: str
    seconds: float
    items: list[Item]

    @property
    def status(self) -> Status:
        """Failed if one item failed, ok if one succeeded, else not run."""
        found = {one.status for one in self.items}
        return FAILED if FAILED in found else OK if OK in found else NOT_RUN


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One part of the check.

    Attributes:
        name: Word by which the command line chooses it.
        title: Heading of its section.
        needs_device: True if it is not run without a CUDA device.
        run: Yields its items.
    """

    name: str
    title: str
    needs_device: bool = True
    run: Callable[[Session], Iterator[Item]]


class NotRunError(Exception):
    """Something cannot be run here; the message is the reason."""
