"""Captures become sides: device operations by name, in the whole capture and within its iterations."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents.codec import Notice
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.compare.environment_keys import merged
from fastrnns_rs.verbs.report.capture_reader import opened

if TYPE_CHECKING:
    Path = str | os.PathLike[str]


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


#: Sums of more have no place in the document: 292 years.
_LONGEST_NS = 2**63 - 1


def read_captures(
    baseline: Sequence[Path],
    candidate: Sequence[Path],
    *,
    iteration_range: str | None = None,
    nsys_path: str | None = None,
) -> tuple[CaptureSide, CaptureSide]:
    """The two sides, of one or several captures each.

    Args:
        baseline: Captures, or capture records.
        candidate: The same.
        iteration_range: The name of the ranges that mark iterations.
        nsys_path: The nsys that exports reports.

    Raises:
        FastrnnsError: A file is no capture.
        MissingError: A report of nsys is given and there is no nsys.
        UsageError: A side has no files, or the same one twice.
    """
    if not baseline or not candidate:
        raise UsageError("a side of the comparison has no files", "give at least one")

    def read(path: Path) -> Reading:
        return _read(os.fspath(path), iteration_range, nsys_path)

    with ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 1)) as pool:
        readings = [*pool.map(read, [*baseline, *candidate])]
    first, second = readings[: len(baseline)], readings[len(baseline) :]
    return _side(first), _side(second)


def _read(path: str, iteration_range: str | None, nsys_path: str | None) -> Reading:
    found = json.loads(opened(path, nsys_path=nsys_path).repeats(iteration_range=iteration_range))
    captures, devices = found["captures"], found["devices"]
    reading = Reading(
        path=path,
        identities=[one["sha256"] or os.path.realpath(one["path"]) for one in captures],
        iterations=found["iterations"],
        operations={one.key: one for one in map(_operation, found["rows"])},
        environment={
            "devices": devices or None,
            "format": _each(captures, "format"),
            "tool_version": _each(captures, "tool_version"),
            "graph_level": any(one["graph_level"] for one in captures),
        },
        devices=devices,
        warnings=[Notice(**one) for one in found["warnings"]],
    )
    if reading.total_ns > _LONGEST_NS:
        raise UsageError(f"the device times of {path} add up to more than 292 years", "it is damaged: capture again")
    return reading


def _operation(plain: dict[str, Any]) -> Operation:
    grid, block = plain.pop("grid"), plain.pop("block")
    return Operation(**plain, shape=(tuple(grid), tuple(block)) if grid and block else None)


def _each(captures: list[dict[str, Any]], key: str) -> list[str] | None:
    return sorted({one[key] for one in captures if one[key] is not None}) or None


def _side(readings: list[Reading]) -> CaptureSide:
    seen: dict[str, str] = {}
    for one in readings:
        for identity in dict.fromkeys(one.identities):
            if identity in seen:
                message = f"{seen[identity]} and {one.path}, of one side, hold the same capture"
                raise UsageError(message, "a capture counts once; give each once")
        seen |= dict.fromkeys(one.identities, one.path)
    environment, differing = merged(one.environment for one in readings)
    more = f" and {len(readings) - 1} more" if readings[1:] else ""
    label = f"{readings[0].path}{more}"
    return CaptureSide(label=label, readings=readings, environment=environment, differing=differing)
