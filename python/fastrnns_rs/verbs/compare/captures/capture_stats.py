"""Normalised times of two sides: per iteration, per capture or total.

Times are whole nanoseconds that add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Literal

from fastrnns_rs.verbs.compare.captures.capture_replicates import find_replicates
from fastrnns_rs.verbs.compare.captures.capture_side import Key, Shape
from fastrnns_rs.verbs.compare.captures.rounded_shares import divide_and_round

if TYPE_CHECKING:
    from fastrnns_rs.verbs.compare.captures.capture_side import CaptureSide, Operation

Basis = Literal["total", "per_iteration", "per_capture"]
Replicate = Literal["capture"]

#: Iterations with a smaller share of the device time do not represent the capture.
_MOST_OF_IT = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalisedTimes:
    """A kernel, or a kind of copy or set, on one side.

    Attributes:
        key: Full name, and True for kernels.
        short_name: Name of the function alone.
        category: Category of the activity.
        shape: Grid and block; None if launches differ or the shape is unknown.
        count: Number of counted runs in all captures.
        total_ns: Time by the basis, in nanoseconds, rounded so that all times of a side add up.
        mean_ns: Time by the basis, in nanoseconds, not rounded.
        launches: Number of runs by the basis.
        values_ns: Time of each replicate, in nanoseconds; empty without several.
    """

    key: Key
    short_name: str
    category: str
    shape: Shape | None
    count: int
    total_ns: int
    mean_ns: float
    launches: float
    values_ns: list[float]

    @property
    def name(self) -> str:
        """Full name."""
        return self.key[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalisedSide:
    """Normalised times of one side.

    Attributes:
        operations: GPU activities.
        whole_ns: Sum of `total_ns` over all operations, in nanoseconds.
        captures: Number of captures.
        iterations: Number of iterations; None if a capture has none.
        medians: Medians of the four times of the iterations, in nanoseconds.
    """

    operations: list[NormalisedTimes]
    whole_ns: int
    captures: int
    iterations: int | None
    medians: dict[str, float]


def choose_basis(baseline: CaptureSide, candidate: CaptureSide) -> Basis:
    """Returns the basis of the times.

    The basis is the iteration, if the iterations of every capture contain most of its time. Otherwise it is the
    capture, if a side has several, or the total.
    """
    readings = [*baseline.readings, *candidate.readings]
    if all(one.iterations and one.inside_ns >= _MOST_OF_IT * one.total_ns for one in readings):
        return "per_iteration"
    return "total" if len(readings) == 2 else "per_capture"  # noqa: PLR2004  # one a side


def choose_replicate(baseline: CaptureSide, candidate: CaptureSide) -> Replicate | None:
    """Returns `capture` if both sides have several replicates; None otherwise.

    Iterations of one process are not replicates of a program.
    """
    return "capture" if all(len(find_replicates(one)) > 1 for one in (baseline, candidate)) else None


def normalise_times(side: CaptureSide, basis: Basis, replicate: Replicate | None) -> NormalisedSide:
    """Normalises the times of a side by a basis."""
    per_iteration = basis == "per_iteration"
    iterations = sum(len(one.iterations) for one in side.readings)
    by = iterations if per_iteration else len(side.readings)
    sizes = [len(one.iterations) if per_iteration else 1 for one in side.readings]
    groups = find_replicates(side) if replicate else []
    group_of = {place: number for number, group in enumerate(groups) for place in group}
    weights = [sum(sizes[place] for place in group) for group in groups]
    # By capture. Many captures may have few operations in common.
    found: dict[Key, dict[int, Operation]] = {}
    for place, reading in enumerate(side.readings):
        for key, operation in reading.operations.items():
            found.setdefault(key, {})[place] = operation
    counted = {
        key: {place: _counted(one, per_iteration=per_iteration) for place, one in every.items()}
        for key, every in found.items()
    }
    counted = {key: parts for key, parts in counted.items() if any(count for count, _ in parts.values())}
    sums = {key: sum(total for _, total in parts.values()) for key, parts in counted.items()}
    totals = divide_and_round(sums, by)
    operations = []
    for key, parts in counted.items():
        known = [*found[key].values()]
        count = sum(count for count, _ in parts.values())
        of_groups: dict[int, int] = {}
        for place, (_, total) in parts.items() if groups else ():
            of_groups[group_of[place]] = of_groups.get(group_of[place], 0) + total
        # Most captures may lack the operation: all of these share one 0.
        values = [0.0] * len(groups)
        for group, total in of_groups.items():
            values[group] = total / weights[group]
        operations.append(
            NormalisedTimes(
                key=key,
                short_name=known[0].short_name,
                category=known[0].category,
                shape=known[0].shape if all(one.shape == known[0].shape for one in known) else None,
                count=count,
                total_ns=totals[key],
                mean_ns=sums[key] / by,
                launches=count / by,
                values_ns=values,
            )
        )
    known_iterations = iterations if all(one.iterations for one in side.readings) else None
    return NormalisedSide(
        operations=operations,
        whole_ns=sum(totals.values()),
        captures=len(side.readings),
        iterations=known_iterations,
        medians=_medians([times for one in side.readings for times in one.iterations]),
    )


def _medians(iterations: list[dict[str, int]]) -> dict[str, float]:
    keys = ("host_ns", "gpu_ns", "gpu_busy_ns", "gpu_time_ns")
    return {key: float(median(times[key] for times in iterations)) for key in keys} if iterations else {}


def _counted(operation: Operation, *, per_iteration: bool) -> tuple[int, int]:
    """Returns the number and the time of the counted runs.

    If the basis is the iteration, only runs within iterations count.
    """
    if not per_iteration:
        return operation.count, operation.total_ns
    return operation.inside_count, operation.inside_ns
