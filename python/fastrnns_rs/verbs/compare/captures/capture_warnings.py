"""Warnings of a comparison of captures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.documents.codec import Notice
from fastrnns_rs.verbs.compare.captures.kernel_rows import LEAST_REPEATS

if TYPE_CHECKING:
    from fastrnns_rs.verbs.compare.captures.capture_side import CaptureSide
    from fastrnns_rs.verbs.compare.captures.capture_stats import Basis, Replicate
    from fastrnns_rs.verbs.compare.captures.kernel_rows import Judged

#: A smaller share of time outside iterations gives no warning.
_TELLING = 0.01
_SHOWN = 4


def of(
    sides: Sequence[CaptureSide],
    judged: Judged,
    *,
    basis: Basis,
    replicate: Replicate | None,
    conflicts: Sequence[str],
) -> list[Notice]:
    """Returns the warnings of a comparison, including the warnings of its captures."""
    return [
        *_of_captures(sides),
        *_of_iterations(sides, basis),
        *([Notice(code="forced", message="; ".join(conflicts), evidence="", hint="")] if conflicts else []),
        *_of_repeats(sides, replicate),
        *_of_sameness(sides, judged),
        *_of_names(judged),
    ]


def _of_captures(sides: Sequence[CaptureSide]) -> Iterator[Notice]:
    for name, side in zip(("baseline", "candidate"), sides, strict=True):
        yield from dict.fromkeys(notice for one in side.readings for notice in one.warnings)
        if side.differing:
            yield Notice(
                code="pooled_files_differ",
                message=f"captures of the {name} were not made alike",
                evidence=f"{' '.join(side.files)}: {', '.join(side.differing)}",
                hint="environment_differences has all values of each",
            )
    levels = [{one.environment["graph_level"] for one in side.readings} for side in sides]
    if levels[0] != levels[1]:
        yield Notice(
            code="graph_levels_differ",
            message="one side has graphs as a whole, the other their kernels: rows do not compare",
            evidence=f"graph_level: {_told(levels[0])} and {_told(levels[1])}",
            hint="capture both with --cuda-graph-trace=node",
        )


def _told(levels: set[bool]) -> str:
    return " | ".join(str(one).lower() for one in sorted(levels))


def _of_repeats(sides: Sequence[CaptureSide], replicate: Replicate | None) -> Iterator[Notice]:
    captures = [len(side.readings) for side in sides]
    if replicate and captures[0] != captures[1] and min(captures) >= LEAST_REPEATS:
        yield Notice(
            code="unequal_captures",
            message="the sides have unequal numbers of captures: where times are skewed, "
            "false alarms are more than 5 %",
            evidence=f"{captures[0]} and {captures[1]} captures",
            hint="capture both sides equally often",
        )


def _of_iterations(sides: Sequence[CaptureSide], basis: Basis) -> Iterator[Notice]:
    for name, side in zip(("baseline", "candidate"), sides, strict=True):
        whole = sum(one.total_ns for one in side.readings)
        outside = whole - sum(one.inside_ns for one in side.readings)
        if basis == "per_iteration" and outside > _TELLING * whole:
            yield Notice(
                code="outside_iterations",
                message=f"{100 * outside / whole:.1f} % of the {name}'s GPU time was launched outside iterations "
                "and is not counted",
                evidence="",
                hint="",
            )


def _of_sameness(sides: Sequence[CaptureSide], judged: Judged) -> Iterator[Notice]:
    first, second = ({identity for one in side.readings for identity in one.identities} for side in sides)
    if first & second:
        yield Notice(
            code="same_capture",
            message="a capture is on both sides",
            evidence=" and ".join(side.label for side in sides),
            hint="give each capture to one side",
        )
    elif judged.kernels and all(one.row.delta_ns == 0 and one.pair.matched_by for one in judged.kernels):
        message = "both sides have the same times to the nanosecond"
        yield Notice(code="same_times", message=message, evidence="every kernel", hint="give the captures of two runs")


def _of_names(judged: Judged) -> Iterator[Notice]:
    renamed = [one.row for one in judged.kernels if one.pair.matched_by == "shape"]
    if renamed:
        named = "; ".join(f"{one.baseline_name} → {one.candidate_name}" for one in renamed[:_SHOWN])
        more = f"; and {len(renamed) - _SHOWN} more" if len(renamed) > _SHOWN else ""
        yield Notice(
            code="matched_by_shape",
            message="kernels that have another name are taken for the same: their category, launch shape and number of "
            "launches agree, and their names are alike",
            evidence=f"{named}{more}",
            hint="matched_by says which",
        )
