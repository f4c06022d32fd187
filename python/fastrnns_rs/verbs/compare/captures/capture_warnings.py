"""Warnings of a comparison of captures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.verbs.compare.captures.capture_replicates import find_replicates
from fastrnns_rs.verbs.compare.captures.kernel_rows import LEAST_REPEATS

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.verbs.compare.captures.capture_side import CaptureSide
    from fastrnns_rs.verbs.compare.captures.capture_stats import Basis, Replicate
    from fastrnns_rs.verbs.compare.captures.kernel_rows import Judged

#: A smaller share of time outside iterations gives no warning.
_LEAST_SHARE = 0.01
_SHOWN = 4


def find_warnings(
    sides: Sequence[CaptureSide],
    judged: Judged,
    *,
    basis: Basis,
    replicate: Replicate | None,
    conflicts: Sequence[str],
) -> list[RunWarning]:
    """Returns the warnings of a comparison, including the warnings of its captures."""
    return [
        *_check_captures(sides),
        *_check_work(*sides),
        *_check_iterations(sides, basis),
        *([make_warning("forced", message="; ".join(conflicts), hint=None)] if conflicts else []),
        *_check_repeats(sides, replicate),
        *_check_sameness(sides, judged),
        *_check_names(judged),
    ]


def _check_captures(sides: Sequence[CaptureSide]) -> Iterator[RunWarning]:
    for name, side in zip(("baseline", "candidate"), sides, strict=True):
        found = [warning for one in side.readings for warning in one.warnings]
        yield from (warning for index, warning in enumerate(found) if warning not in found[:index])
        differing = [*side.differing, *(key for key, values in side.problem.items() if len(values) > 1)]
        if differing:
            evidence = f"{' '.join(side.files)}: {', '.join(differing)}"
            yield make_warning("pooled_files_differ", message=f"the {name} mixes different captures", evidence=evidence)
    levels = [{one.environment["graph_level"] for one in side.readings} for side in sides]
    if levels[0] != levels[1]:
        evidence = f"graph_level: {_join_levels(levels[0])} and {_join_levels(levels[1])}"
        yield make_warning("graph_levels_differ", evidence=evidence)


def _join_levels(levels: set[bool]) -> str:
    return _join(str(one).lower() for one in sorted(levels))


def _join(values: Iterable[str]) -> str:
    return " | ".join(values)


def _check_repeats(sides: Sequence[CaptureSide], replicate: Replicate | None) -> Iterator[RunWarning]:
    found = [len(find_replicates(side)) for side in sides]
    joined = [
        f"{len(side.readings)} captures of the {name} count as {count}"
        for name, side, count in zip(("baseline", "candidate"), sides, found, strict=True)
        if count < len(side.readings)
    ]
    if joined:
        yield make_warning("dependent_captures", evidence="; ".join(joined))
    if replicate and found[0] != found[1] and min(found) >= LEAST_REPEATS:
        yield make_warning("unequal_captures", evidence=f"{found[0]} and {found[1]} captures")


def _check_work(baseline: CaptureSide, candidate: CaptureSide) -> Iterator[RunWarning]:
    """Yields warnings for different work, and for empty iterations."""
    found = []
    if baseline.phases and candidate.phases and baseline.phases != candidate.phases:
        found.append(f"phases {_join(baseline.phases)} and {_join(candidate.phases)}")
    counts = [{one.device_count for one in side.readings} for side in (baseline, candidate)]
    if counts[0] != counts[1]:
        found.append(f"GPUs: {' and '.join(_join(map(str, sorted(one))) for one in counts)}")
    known = [bool(one.iterations) for side in (baseline, candidate) for one in side.readings]
    if any(known) and not all(known):
        found.append(f"iterations in {sum(known)} of {len(known)} captures")
    if found:
        yield make_warning("different_work", evidence="; ".join(found))
    for name, side in (("baseline", baseline), ("candidate", candidate)):
        empty = sum(not one["gpu_time_ns"] for reading in side.readings for one in reading.iterations)
        if 0 < empty < side.iterations:
            evidence = f"{empty:,} of {side.iterations:,} iterations of the {name}"
            yield make_warning("empty_iterations", evidence=evidence)


def _check_iterations(sides: Sequence[CaptureSide], basis: Basis) -> Iterator[RunWarning]:
    for name, side in zip(("baseline", "candidate"), sides, strict=True):
        whole = sum(one.total_ns for one in side.readings)
        outside = whole - sum(one.inside_ns for one in side.readings)
        if basis == "per_iteration" and outside > _LEAST_SHARE * whole:
            share = f"{100 * outside / whole:.1f} % of the {name}'s GPU time"
            message = f"{share} was launched outside iterations and is not counted"
            yield make_warning("outside_iterations", message=message, hint=None)


def _check_sameness(sides: Sequence[CaptureSide], judged: Judged) -> Iterator[RunWarning]:
    first, second = ({identity for one in side.readings for identity in one.identities} for side in sides)
    if first & second:
        yield make_warning("same_capture", evidence=" and ".join(side.label for side in sides))
    elif judged.kernels and all(one.row.delta_ns == 0 and one.pair.matched_by for one in judged.kernels):
        yield make_warning("same_times", evidence=f"{len(judged.kernels):,} equal kernels")


def _check_names(judged: Judged) -> Iterator[RunWarning]:
    renamed = [one.row for one in judged.kernels if one.pair.matched_by == "shape"]
    if renamed:
        named = "; ".join(f"{one.baseline_name} → {one.candidate_name}" for one in renamed[:_SHOWN])
        more = f"; and {len(renamed) - _SHOWN} more" if len(renamed) > _SHOWN else ""
        yield make_warning("matched_by_shape", evidence=f"{named}{more}")
