"""Reading of captures into sides: GPU activities by name.

Times are kept for the whole capture and for its iterations.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastrnns_rs._core import Stop
from fastrnns_rs.documents.argument_checks import check_texts
from fastrnns_rs.documents.codec import RunWarning
from fastrnns_rs.documents.missing_file import file_not_found
from fastrnns_rs.errors import UsageError
from fastrnns_rs.problem.problem import Problem
from fastrnns_rs.verbs.compare.captures.idle_times import CaptureIdle, read_idle
from fastrnns_rs.verbs.compare.environment_keys import merged
from fastrnns_rs.verbs.report.capture_reader import file_warnings, opened
from fastrnns_rs.verbs.report.capture_summary import Summary
from fastrnns_rs.verbs.report.manifests import find_problems
from fastrnns_rs.verbs.report.real_paths import real_path

if TYPE_CHECKING:
    Path = str | os.PathLike[str] | Summary


#: Options of a problem that do not change the work. Devices are compared by their names.
_IDLE = ("seed", "device")
Shape = tuple[tuple[int, ...], tuple[int, ...]]
#: Name, and True for kernels: a kernel may have the name of a kind of copy.
Key = tuple[str, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A kernel under its full name, or a kind of copy or set, in one capture.

    Attributes:
        name: Full name.
        short_name: Name of the function alone.
        is_kernel: True for kernels, False for copies and sets.
        category: Category; `memory` for copies and sets.
        shape: Grid and block; None if launches differ or the shape is unknown.
        count: Number of runs in the whole capture.
        total_ns: Time in the whole capture, in nanoseconds.
        inside_count: Number of runs launched within an iteration.
        inside_ns: Time of the runs launched within an iteration, in nanoseconds.
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
        """Unique key within a capture."""
        return self.name, self.is_kernel


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One capture: a file, or all files of one capture manifest.

    Attributes:
        path: Path as given.
        identities: Digests, paths and times that identify its files.
        iterations: Four times of each iteration, by key; empty if the capture has no iterations.
        runners: Names of the runners of the iterations, where they are known.
        operations: GPU activities by name and kind.
        environment: Devices, tool and format, as flat keys.
        properties: Host, drivers and settings of the profiler, as far as all its files record them.
        devices: Names of the active devices.
        device_count: Number of active devices.
        processes: Processes that used them, where the files name the host.
        ranks: Ranks in a distributed job.
        world_sizes: Numbers of ranks of the job.
        busy_ns: Time with at least one activity on a device, in nanoseconds; sum over devices.
        warnings: Warnings of the reader.
        idle: Idle time by cause; None if the capture contains only totals.
        phases: Phases of the iterations, where they are known.
        problems: Problems of its manifests.
    """

    path: str
    identities: list[str]
    iterations: list[dict[str, int]]
    runners: list[str]
    operations: dict[Key, Operation]
    environment: dict[str, Any]
    properties: dict[str, list[str]]
    devices: list[str]
    device_count: int
    processes: set[str]
    ranks: tuple[int, ...]
    world_sizes: set[int]
    busy_ns: int
    warnings: list[RunWarning]
    idle: CaptureIdle | None
    phases: list[str]
    problems: list[Problem]

    @property
    def inside_ns(self) -> int:
        """Device time of activities launched within an iteration, in nanoseconds."""
        return sum(one.inside_ns for one in self.operations.values())

    @property
    def total_ns(self) -> int:
        """Device time of all activities, in nanoseconds."""
        return sum(one.total_ns for one in self.operations.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureSide:
    """Captures of one side.

    Attributes:
        label: Name of the side in output.
        readings: Captures of the side.
        environment: Merged environment of the captures.
        differing: Keys in which the environments of the captures differ.
    """

    label: str
    readings: list[Reading]
    environment: dict[str, Any]
    differing: list[str]

    @property
    def files(self) -> list[str]:
        """Paths of the captures."""
        return [one.path for one in self.readings]

    @property
    def runners(self) -> list[str]:
        """Names of the runners."""
        return sorted({name for one in self.readings for name in one.runners})

    @property
    def phases(self) -> list[str]:
        """Names of the phases."""
        return sorted({name for one in self.readings for name in one.phases})

    @property
    def problem(self) -> dict[str, set[str]]:
        """Options of the problems, each with its values; empty without a manifest."""
        found: dict[str, set[str]] = {}
        for problem in (one for reading in self.readings for one in reading.problems):
            for name, value in problem.by_name().items():
                if name not in _IDLE:
                    found.setdefault(name.replace("_", "-"), set()).add(str(value))
        return found

    @property
    def iterations(self) -> int:
        """Number of iterations of all captures."""
        return sum(len(one.iterations) for one in self.readings)

    @property
    def devices(self) -> list[str]:
        """Names of the devices."""
        return sorted({name for one in self.readings for name in one.devices})


#: Largest sum that the document can hold: 292 years.
_LONGEST_NS = 2**63 - 1


def read_captures(
    baseline: Sequence[Path],
    candidate: Sequence[Path],
    *,
    iteration_range: str | None = None,
    nsys_path: str | None = None,
) -> tuple[CaptureSide, CaptureSide]:
    """Reads the two sides, of one or several captures each.

    Args:
        baseline: Captures, capture manifests or summaries of the baseline.
        candidate: Captures, capture manifests or summaries of the candidate.
        iteration_range: Name of the ranges that mark iterations; None for the default names.
        nsys_path: Path of the nsys that exports reports; None for the newest found.

    Raises:
        FastrnnsError: If a file is not a capture.
        MissingError: If a report of nsys is given without an installed nsys.
        UsageError: If a side has no files, or the same capture twice, also within a folder.
    """
    if not baseline or not candidate:
        message = "missing files: `baseline` and `candidate` need at least 1 file each"
        raise UsageError(message, "Use 2 captures: baseline and candidate.")
    check_texts("iteration_range", iteration_range)

    def read(path: Path) -> Reading:
        paths = _paths(path) if isinstance(path, Summary) else (os.fspath(path),)
        return _read(paths, iteration_range, nsys_path)

    stop = Stop()
    with ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 1), initializer=stop.watch) as pool:
        try:
            readings = [*pool.map(read, [*baseline, *candidate])]
        except BaseException:
            # The pool waits for its threads. Some may export a report, which can take an hour.
            stop.request()
            raise
    # A property that a file does not record is not a difference.
    known = set[str].intersection(*({*one.properties} for one in readings))
    first, second = readings[: len(baseline)], readings[len(baseline) :]
    return _side(first, known), _side(second, known)


def _paths(summary: Summary) -> tuple[str, ...]:
    """Returns the files of a summary, to read them again for their launches.

    Raises:
        UsageError: If the summary is of a part of its captures, or its files are gone.
    """
    paths = summary.paths
    if summary.selected:
        message = f"summary of a part of a capture: {paths[0]!r}"
        raise UsageError(message, "Read the whole capture.", value=paths[0])
    for path in paths:
        if not os.path.exists(path):  # noqa: PTH110  # the name may be too long
            raise file_not_found(path, "Compare in the folder of the captures.")
    return paths


def _read(paths: Sequence[str], iteration_range: str | None, nsys_path: str | None) -> Reading:
    trace = opened(*paths, nsys_path=nsys_path)
    found = json.loads(trace.repeats(iteration_range=iteration_range))
    path = paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
    captures, devices = found["captures"], found["devices"]
    summary = trace.summarize(kernels_by="name").to_dict()
    repeated = [one for one in summary["warnings"] if one["code"] == "activities_repeated"]
    for one in summary["warnings"]:
        if one["code"] == "same_capture_twice":
            message, hint = f"duplicate capture: {path!r} contains the same capture twice", "Use each capture once."
            raise UsageError(message, hint, reason=one["evidence"], value=path)
    reading = Reading(
        path=path,
        identities=[one["sha256"] or str(real_path(one["path"])) for one in captures] + _times(summary),
        iterations=found["iterations"],
        runners=found["runners"],
        operations={one.key: one for one in map(_operation, found["rows"])},
        environment={
            "devices": devices or None,
            "format": _each(captures, "format"),
            "tool_version": _each(captures, "tool_version"),
            "graph_level": any(one["graph_level"] for one in captures),
        },
        properties=_properties(captures),
        devices=devices,
        device_count=found["device_count"],
        processes=set(found["processes"]),
        ranks=_ranks(captures),
        world_sizes={one["world_size"] for one in captures if one["world_size"]},
        busy_ns=sum(one["busy_ns"] for one in summary["devices"]),
        warnings=[RunWarning(**one) for one in (*file_warnings(paths, len(captures)), *found["warnings"], *repeated)],
        idle=read_idle(summary),
        phases=found["phases"],
        problems=find_problems(paths),
    )
    if reading.total_ns > _LONGEST_NS:
        reason = "the GPU times add up to more than 292 years"
        raise UsageError(f"damaged capture: {path!r}", "Capture again.", reason=reason, value=path)
    return reading


def _times(summary: dict[str, Any]) -> list[str]:
    """Returns what identifies captures in any format: the times of each device.

    Two captures never have times that are equal to the nanosecond.
    """
    keys = ("start_ns", "end_ns", "busy_ns", "kernel_count", "kernel_total_ns")
    return [" ".join(str(device[key]) for key in keys) for device in summary["devices"]]


def _ranks(captures: list[dict[str, Any]]) -> tuple[int, ...]:
    ranks = {one["rank"] for one in captures if one["rank"] is not None and (one["world_size"] or 1) > 1}
    return tuple(sorted(ranks))


def _operation(plain: dict[str, Any]) -> Operation:
    grid, block = plain.pop("grid"), plain.pop("block")
    return Operation(**plain, shape=(tuple(grid), tuple(block)) if grid and block else None)


def _each(captures: list[dict[str, Any]], key: str) -> list[str] | None:
    return sorted({one[key] for one in captures if one[key] is not None}) or None


def _properties(captures: list[dict[str, Any]]) -> dict[str, list[str]]:
    every = [one["environment"] for one in captures]
    names = [key for key in every[0] if all(one[key] is not None for one in every)]
    return {key: sorted({str(one[key]) for one in every}) for key in names}


def _side(readings: list[Reading], known: AbstractSet[str]) -> CaptureSide:
    seen: dict[str, str] = {}
    for one in readings:
        for identity in dict.fromkeys(one.identities):
            if identity in seen:
                message = f"duplicate capture: {seen[identity]!r} and {one.path!r} contain the same capture"
                raise UsageError(message, "Use each capture once.")
        seen |= dict.fromkeys(one.identities, one.path)
    environment, differing = merged(
        one.environment | {key: value for key, value in one.properties.items() if key in known} for one in readings
    )
    # Containers of one machine have a name each.
    differing = [key for key in differing if key != "host_name"]
    more = f" and {len(readings) - 1} more" if readings[1:] else ""
    label = f"{readings[0].path}{more}"
    return CaptureSide(label=label, readings=readings, environment=environment, differing=differing)
