"""Times of two sides made comparable: by iteration, by capture or as they are, in whole nanoseconds that add up."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Literal

from fastrnns_rs.verbs.compare.captures.capture_side import Key, Shape

if TYPE_CHECKING:
    from fastrnns_rs.verbs.compare.captures.capture_side import CaptureSide, Operation

Basis = Literal["total", "per_iteration", "per_capture"]
Replicate = Literal["capture"]

#: Iterations that hold a smaller share of the device time say little of the capture.
_MOST_OF_IT = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """A kernel, or a kind of copy or set, on one side.

    Attributes:
        count: How often it ran in what counts of all captures.
        total_ns: By the basis, rounded so that all of a side add up to its whole.
        launches: How often it ran, by the basis.
        values_ns: One number for each capture; empty without several.
    """

    key: Key
    short_name: str
    category: str
    shape: Shape | None
    count: int
    total_ns: int
    launches: float
    values_ns: list[float]

    @property
    def name(self) -> str:
        """The whole of it."""
        return self.key[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class WeighedSide:
    """All of one side.

    `whole_ns` is what the `total_ns` of its operations add up to; `medians` are of the four times of its iterations.
    """

    operations: list[Weighed]
    whole_ns: int
    captures: int
    iterations: int | None
    medians: dict[str, float]


def basis_of(baseline: CaptureSide, candidate: CaptureSide) -> Basis:
    """By iteration where those of every capture hold most of its time; else by capture, if a side has several."""
    readings = [*baseline.readings, *candidate.readings]
    if all(one.iterations and one.inside_ns >= _MOST_OF_IT * one.total_ns for one in readings):
        return "per_iteration"
    return "total" if len(readings) == 2 else "per_capture"  # noqa: PLR2004  # one a side


def replicate_of(baseline: CaptureSide, candidate: CaptureSide) -> Replicate | None:
    """Captures where both sides have several; iterations of one process are no replicates of a program."""
    return "capture" if all(len(one.readings) > 1 for one in (baseline, candidate)) else None


def weigh(side: CaptureSide, basis: Basis, replicate: Replicate | None) -> WeighedSide:
    """Brings the times of a side to a basis."""
    per_iteration = basis == "per_iteration"
    iterations = sum(len(one.iterations) for one in side.readings)
    by = iterations if per_iteration else len(side.readings)
    sizes = [len(one.iterations) if per_iteration else 1 for one in side.readings]
    found: dict[Key, list[Operation | None]] = {}
    for place, reading in enumerate(side.readings):
        for key, operation in reading.operations.items():
            found.setdefault(key, [None] * len(side.readings))[place] = operation
    counted = {key: [_counted(one, per_iteration=per_iteration) for one in every] for key, every in found.items()}
    counted = {key: parts for key, parts in counted.items() if any(count for count, _ in parts)}
    totals = _rounded({key: sum(total for _, total in parts) for key, parts in counted.items()}, by)
    operations = []
    for key, parts in counted.items():
        known = [one for one in found[key] if one is not None]
        count = sum(count for count, _ in parts)
        operations.append(
            Weighed(
                key=key,
                short_name=known[0].short_name,
                category=known[0].category,
                shape=known[0].shape if all(one.shape == known[0].shape for one in known) else None,
                count=count,
                total_ns=totals[key],
                launches=count / by,
                values_ns=[total / size for (_, total), size in zip(parts, sizes, strict=True)] if replicate else [],
            )
        )
    known_iterations = iterations if all(one.iterations for one in side.readings) else None
    return WeighedSide(
        operations=operations,
        whole_ns=sum(totals.values()),
        captures=len(side.readings),
        iterations=known_iterations,
        medians=_medians([times for one in side.readings for times in one.iterations]),
    )


def _medians(iterations: list[dict[str, int]]) -> dict[str, float]:
    keys = ("host_ns", "gpu_ns", "gpu_busy_ns", "gpu_time_ns")
    return {key: float(median(times[key] for times in iterations)) for key in keys} if iterations else {}


def _counted(operation: Operation | None, *, per_iteration: bool) -> tuple[int, int]:
    """How often and how long it ran, by iteration only within iterations."""
    if operation is None:
        return 0, 0
    if not per_iteration:
        return operation.count, operation.total_ns
    return operation.inside_count, operation.inside_ns


def _rounded(totals: dict[Key, int], by: int) -> dict[Key, int]:
    """Each divided by `by`, in whole numbers that add up to the whole so divided: largest remainders are rounded up."""
    if by == 1:
        return totals
    shares = {key: divmod(total, by) for key, total in totals.items()}
    # Half a nanosecond of the whole is rounded up.
    whole = (2 * sum(totals.values()) + by) // (2 * by)
    left = whole - sum(quotient for quotient, _ in shares.values())
    order = sorted(shares, key=lambda key: (-shares[key][1], key))
    return {
        **{key: quotient for key, (quotient, _) in shares.items()},
        **{key: shares[key][0] + 1 for key in order[:left]},
    }
