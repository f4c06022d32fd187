"""Captures of one side: device operations by name, in the whole capture and within its iterations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastrnns_rs.documents.codec import Notice

Shape = tuple[tuple[int, ...], tuple[int, ...]]
#: The name, and whether it is a kernel's: kernels may be called as kinds of copies are.
Key = tuple[str, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A kernel under its full name, or a kind of copy or set, in one capture.

    Attributes:
        short_name: The function's name alone.
        is_kernel: Whether it is no copy or set.
        category: `memory` for copies and sets.
        shape: Grid and block; None where launches differ in them, or it is not known.
        count: Runs in the whole capture.
        total_ns: Time in the whole capture.
        inside_count: Runs that were launched within an iteration.
        inside_ns: Time of these.
    """

    name: str
    short_name: str
    is_kernel: bool
    category: str
    shape: Shape | None
    count: int
    total_ns: int
    inside_count: int
    inside_ns: int

    @property
    def key(self) -> Key:
        """What tells it from others of its capture."""
        return self.name, self.is_kernel


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One capture: a file, or those of one record, which belong together.

    Attributes:
        path: As it was given.
        identities: What tells its files from others: their digests, or their places.
        iterations: The four times of each iteration, by their keys; empty where the capture has none.
        operations: By name and kind.
        environment: Devices, tool and form, as flat keys.
        devices: What the devices are called that did something.
        warnings: What its reader wants to be known.
    """

    path: str
    identities: list[str]
    iterations: list[dict[str, int]]
    operations: dict[Key, Operation]
    environment: dict[str, Any]
    devices: list[str]
    warnings: list[Notice]

    @property
    def inside_ns(self) -> int:
        """Device time of what was launched within an iteration."""
        return sum(one.inside_ns for one in self.operations.values())

    @property
    def total_ns(self) -> int:
        """Device time of everything."""
        return sum(one.total_ns for one in self.operations.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureSide:
    """The captures of one side."""

    label: str
    readings: list[Reading]
    environment: dict[str, Any]
    differing: list[str]

    @property
    def files(self) -> list[str]:
        """Where it was read from."""
        return [one.path for one in self.readings]

    @property
    def devices(self) -> list[str]:
        """What its devices are called."""
        return sorted({name for one in self.readings for name in one.devices})
