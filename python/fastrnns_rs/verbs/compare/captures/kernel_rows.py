"""The rows of a comparison of captures: kernels, their categories, and everything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents.comparison import Change, Kernel, KernelFigures
from fastrnns_rs.verbs.compare.captures.kernel_matching import KernelPair, match
from fastrnns_rs.verbs.compare.captures.kernel_verdicts import Finding, Sample, judge

if TYPE_CHECKING:
    from fastrnns_rs.verbs.compare.captures.capture_stats import Replicate, Weighed, WeighedSide


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedKernel:
    """A row of the document and what is behind it."""

    pair: KernelPair
    row: Kernel
    finding: Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedChange:
    """A category, or everything."""

    row: Change
    finding: Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """All rows: kernels by how much they changed, the most first."""

    kernels: list[JudgedKernel]
    categories: list[JudgedChange]
    device_time: JudgedChange


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sum:
    """What operations of one side come to."""

    figures: KernelFigures
    values: list[float]


def judge_rows(baseline: WeighedSide, candidate: WeighedSide, replicate: Replicate | None, margin: float) -> Judged:
    """Pairs the operations of two sides and judges them.

    Raises:
        UsageError: Two times are too far apart for a number.
    """
    pairs = match(baseline.operations, candidate.operations)
    whole = _sum(baseline.operations), _sum(candidate.operations)
    difference = candidate.whole_ns - baseline.whole_ns
    samples = [
        Sample(name=one.either.name, baseline=_values(one.baseline), candidate=_values(one.candidate)) for one in pairs
    ]
    kernels = [
        JudgedKernel(pair=pair, row=_kernel(pair, finding, difference), finding=finding)
        for pair, finding in zip(pairs, judge(samples, replicate, margin), strict=True)
    ]
    kernels.sort(key=lambda one: (-abs(one.row.delta_ns), one.row.name))
    categories = _changes(_categories(baseline, candidate), replicate, margin, difference)
    categories.sort(key=lambda one: (-abs(one.row.delta_ns), one.row.name))
    (device_time,) = _changes([("device time", *whole)], replicate, margin, difference)
    return Judged(kernels=kernels, categories=categories, device_time=device_time)


def _values(one: Weighed | None) -> list[float] | None:
    return None if one is None else one.values_ns


def _categories(baseline: WeighedSide, candidate: WeighedSide) -> list[tuple[str, _Sum | None, _Sum | None]]:
    found: dict[str, tuple[list[Weighed], list[Weighed]]] = {}
    for place, side in enumerate((baseline, candidate)):
        for one in side.operations:
            found.setdefault(one.category, ([], []))[place].append(one)
    return [(name, _sum(first), _sum(second)) for name, (first, second) in found.items()]


def _sum(operations: Sequence[Weighed]) -> _Sum | None:
    if not operations:
        return None
    values = [0.0] * len(operations[0].values_ns)
    for one in operations:
        values = [math.fsum(pair) for pair in zip(values, one.values_ns, strict=True)]
    figures = KernelFigures(
        count=sum(one.count for one in operations),
        total_ns=sum(one.total_ns for one in operations),
        launches=math.fsum(one.launches for one in operations),
        n_repeats=0,
    )
    return _Sum(figures=figures, values=values)


def _changes(
    sums: Sequence[tuple[str, _Sum | None, _Sum | None]], replicate: Replicate | None, margin: float, difference: int
) -> list[JudgedChange]:
    samples = [
        Sample(name=name, baseline=one.values if one else None, candidate=other.values if other else None)
        for name, one, other in sums
    ]
    return [
        JudgedChange(
            row=Change(
                name=name,
                **_columns(one.figures if one else None, other.figures if other else None, finding, difference),
            ),
            finding=finding,
        )
        for (name, one, other), finding in zip(sums, judge(samples, replicate, margin), strict=True)
    ]


def _kernel(pair: KernelPair, finding: Finding, difference: int) -> Kernel:
    first, second = pair.baseline, pair.candidate
    return Kernel(
        name=pair.either.name,
        short_name=pair.either.short_name,
        category=pair.either.category,
        matched_by=pair.matched_by,
        baseline_name=None if first is None else first.name,
        candidate_name=None if second is None else second.name,
        **_columns(_figures(first), _figures(second), finding, difference),
    )


def _figures(one: Weighed | None) -> KernelFigures | None:
    if one is None:
        return None
    return KernelFigures(count=one.count, total_ns=one.total_ns, launches=one.launches, n_repeats=0)


def _columns(
    first: KernelFigures | None, second: KernelFigures | None, finding: Finding, difference: int
) -> dict[str, Any]:
    """What a row has besides its names."""
    before, after = (0 if one is None else one.total_ns for one in (first, second))
    found = finding.found
    ratio = after / before if before and after and first is not None and second is not None else None
    return {
        "presence": "appeared" if first is None else "vanished" if second is None else "both",
        "baseline": _repeated(first, finding.values[0], finding),
        "candidate": _repeated(second, finding.values[1], finding),
        "delta_ns": after - before,
        "contribution": (after - before) / difference if difference else None,
        # Of the times that are shown; the interval is that of the ratio of geometric means.
        "ratio": ratio,
        "ratio_ci_low": found and found.ratio_ci_low,
        "ratio_ci_high": found and found.ratio_ci_high,
        "p_value": found and found.p_value,
        "p_value_adjusted": finding.p_value_adjusted,
        "verdict": finding.verdict,
        "reason": finding.reason,
    }


def _repeated(figures: KernelFigures | None, values: list[float], finding: Finding) -> KernelFigures | None:
    if figures is None or finding.found is None:
        return figures
    return KernelFigures(
        count=figures.count, total_ns=figures.total_ns, launches=figures.launches, n_repeats=len(values)
    )
