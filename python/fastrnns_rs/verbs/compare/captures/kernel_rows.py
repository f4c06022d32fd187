"""Rows of a comparison of captures: kernels, categories and device time."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fastrnns_rs import stats
from fastrnns_rs.documents.comparison import Change, Kernel, KernelFigures, Verdict
from fastrnns_rs.documents.replicates import LEAST_REPEATS, vary
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.compare.captures.kernel_matching import KernelPair, match
from fastrnns_rs.verbs.compare.replication import CONFIDENCE_LEVEL
from fastrnns_rs.verbs.compare.verdicts import NO_SPREAD, WORDS, Step, ranked, withdrawn

if TYPE_CHECKING:
    from fastrnns_rs.verbs.compare.captures.capture_stats import NormalisedSide, NormalisedTimes

#: Rounding errors of computed ratios.
_COMPUTED = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Statistical result of the repeats of two sides.

    Attributes:
        values: Compared numbers of each side, one for each capture.
        ratio: Ratio of the mean times; None if a side has none.
        found: Statistics of the row alone; None if there are too few numbers.
        step: Rank in the table; None without a p-value.
        p_value_adjusted: p-value after the Benjamini-Hochberg correction; None without a p-value.
        verdict: Verdict after the correction; None without a verdict.
        reason: Reason for the verdict, or for its absence.
    """

    values: tuple[list[float], list[float]]
    ratio: float | None = None
    found: stats.SampleComparison | None = None
    step: Step | None = None
    p_value_adjusted: float | None = None
    verdict: Verdict | None = None
    reason: str

    @property
    def is_outside(self) -> bool:
        """True if the ratio of the mean times is outside the interval of the captures."""
        found, ratio = self.found, self.ratio
        if not found or not ratio or found.ratio_ci_low is None or found.ratio_ci_high is None:
            return False
        return not found.ratio_ci_low * (1 - _COMPUTED) <= ratio <= found.ratio_ci_high * (1 + _COMPUTED)

    @property
    def is_contradicted(self) -> bool:
        """True if the ratio of the mean times contradicts the verdict of the captures."""
        found, ratio = self.found, self.ratio
        if not self.is_outside or not found or not ratio:
            return False
        if found.verdict == "equivalent":
            return not 1 / (1 + found.margin) <= ratio <= 1 + found.margin
        return (found.verdict == "slower" and ratio < 1) or (found.verdict == "faster" and ratio > 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Repeats of a row on each side, and its mean times.

    They are None if a side does not have the row.
    """

    name: str
    baseline: list[float] | None
    candidate: list[float] | None
    means: tuple[float, float] | None


def judge(samples: Sequence[Sample], margin: float) -> list[Finding]:
    """Computes the verdict of each sample alone, then corrects for the whole table.

    Raises:
        UsageError: If the ratio of two sides is too large or too small for a number.
    """
    alone = [_alone(one, margin) for one in samples]
    p_values = [None if one.found is None else one.found.p_value for one in alone]
    places = iter(
        ranked([(one.verdict, value) for one, value in zip(alone, p_values, strict=True) if value is not None])
    )
    return [one if value is None else _together(one, *next(places)) for one, value in zip(alone, p_values, strict=True)]


def _alone(sample: Sample, margin: float) -> Finding:
    first, second = sample.baseline, sample.candidate
    if first is None or second is None:
        return _silent(f"only in the {'candidate' if first is None else 'baseline'}")
    for side, values in (("baseline", first), ("candidate", second)):
        if 0 in values:
            return _silent(f"takes no time in {values.count(0)} of {len(values)} captures of the {side}: no verdict")
    if min(len(first), len(second)) < LEAST_REPEATS:
        return _silent(f"fewer than {LEAST_REPEATS} independent captures per side: no verdict", (first, second))
    try:
        found = stats.compare_samples(first, second, margin=margin, confidence_level=CONFIDENCE_LEVEL)
    except (ValueError, ArithmeticError) as error:
        message, hint = f"cannot compare row: {sample.name!r}", "Check the times of the row in both reports."
        raise UsageError(message, hint, reason=str(error)) from error
    if not vary(first, second):
        return _silent(NO_SPREAD, (first, second))
    ratio = sample.means[1] / sample.means[0] if sample.means and sample.means[0] else None
    verdict, reason = WORDS[found.verdict], found.reason
    one = Finding(values=(first, second), ratio=ratio, found=found, verdict=verdict, reason=reason)
    if one.is_contradicted:
        reason = f"{verdict} by the geometric means of the captures, but the mean time changed × {ratio:.3g}"
        one = replace(one, verdict="inconclusive", reason=reason)
    return one


def _silent(reason: str, values: tuple[list[float], list[float]] = ([], [])) -> Finding:
    return Finding(values=values, reason=reason)


def _together(one: Finding, step: Step, adjusted: float) -> Finding:
    """Applies the correction for the whole table to a verdict."""
    judged = replace(one, step=step, p_value_adjusted=adjusted)
    reason = withdrawn(one.verdict, adjusted, step)
    return judged if reason is None else replace(judged, verdict="inconclusive", reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedKernel:
    """A kernel row of the document, and the data behind it."""

    pair: KernelPair
    row: Kernel
    finding: Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedChange:
    """A row for a category or the device time, and the data behind it."""

    row: Change
    finding: Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """All rows; kernels are sorted by their change, the largest first."""

    kernels: list[JudgedKernel]
    categories: list[JudgedChange]
    device_time: JudgedChange


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sum:
    """Sum of several GPU activities of one side."""

    figures: KernelFigures
    mean_ns: float
    values: list[float]


#: Name of a row, and the sum of its activities on each side; None if a side has none.
_Sides = tuple[str, _Sum | None, _Sum | None]


def judge_rows(baseline: NormalisedSide, candidate: NormalisedSide, margin: float) -> Judged:
    """Pairs the activities of two sides and computes their verdicts.

    Raises:
        UsageError: If the ratio of two times is too large or too small for a number.
    """
    difference = candidate.whole_ns - baseline.whole_ns

    def judged(sums: Sequence[_Sides]) -> list[tuple[Finding, dict[str, Any]]]:
        """Returns the finding of each row, and its columns except the names."""
        samples = [
            Sample(
                name=name,
                baseline=one.values if one else None,
                candidate=other.values if other else None,
                means=(one.mean_ns, other.mean_ns) if one and other else None,
            )
            for name, one, other in sums
        ]
        found = zip(judge(samples, margin), sums, strict=True)
        return [(finding, _columns(one, other, finding, difference)) for finding, (_, one, other) in found]

    def changes(sums: Sequence[_Sides]) -> list[JudgedChange]:
        return [
            JudgedChange(row=Change(name=name, **columns), finding=finding)
            for (name, _, _), (finding, columns) in zip(sums, judged(sums), strict=True)
        ]

    pairs = match(baseline.operations, candidate.operations)
    findings = judged([(one.either.name, _sum([one.baseline]), _sum([one.candidate])) for one in pairs])
    kernels = [
        JudgedKernel(pair=pair, row=_kernel(pair, columns), finding=finding)
        for pair, (finding, columns) in zip(pairs, findings, strict=True)
    ]
    kernels.sort(key=lambda one: (-abs(one.row.delta_ns), one.row.name))
    categories = changes(_categories(baseline, candidate))
    categories.sort(key=lambda one: (-abs(one.row.delta_ns), one.row.name))
    (device_time,) = changes([("device time", _sum(baseline.operations), _sum(candidate.operations))])
    return Judged(kernels=kernels, categories=categories, device_time=device_time)


def _categories(baseline: NormalisedSide, candidate: NormalisedSide) -> list[_Sides]:
    found: dict[str, tuple[list[NormalisedTimes], list[NormalisedTimes]]] = {}
    for place, side in enumerate((baseline, candidate)):
        for one in side.operations:
            found.setdefault(one.category, ([], []))[place].append(one)
    return [(name, _sum(first), _sum(second)) for name, (first, second) in found.items()]


def _sum(given: Iterable[NormalisedTimes | None]) -> _Sum | None:
    operations = [one for one in given if one is not None]
    if not operations:
        return None
    values = operations[0].values_ns
    for one in operations[1:]:
        values = [*map(operator.add, values, one.values_ns)]
    figures = KernelFigures(
        count=sum(one.count for one in operations),
        total_ns=sum(one.total_ns for one in operations),
        launches=math.fsum(one.launches for one in operations),
        n_repeats=0,
    )
    return _Sum(figures=figures, mean_ns=math.fsum(one.mean_ns for one in operations), values=values)


def _kernel(pair: KernelPair, columns: dict[str, Any]) -> Kernel:
    first, second = pair.baseline, pair.candidate
    return Kernel(
        name=pair.either.name,
        short_name=pair.either.short_name,
        category=pair.either.category,
        matched_by=pair.matched_by,
        baseline_name=first.name if first else None,
        candidate_name=second.name if second else None,
        **columns,
    )


def _columns(first: _Sum | None, second: _Sum | None, finding: Finding, difference: int) -> dict[str, Any]:
    """Returns the columns of a row, except its names."""
    before, after = (0 if one is None else one.figures.total_ns for one in (first, second))
    found = finding.found
    difference_of_means = stats.welch(*finding.values, confidence_level=CONFIDENCE_LEVEL) if found else None
    sides = [one and replace(one.figures, n_repeats=len(one.values) if found else 0) for one in (first, second)]
    return {
        "presence": "appeared" if first is None else "vanished" if second is None else "both",
        "baseline": sides[0],
        "candidate": sides[1],
        "delta_ns": after - before,
        "contribution": (after - before) / difference if difference else None,
        # This ratio is of the displayed times; the interval is that of the ratio of geometric means (`is_outside`).
        "ratio": after / before if before and after else None,
        "ratio_ci_low": found and found.ratio_ci_low,
        "ratio_ci_high": found and found.ratio_ci_high,
        "p_value": found and found.p_value,
        "p_value_adjusted": finding.p_value_adjusted,
        "verdict": finding.verdict,
        "reason": finding.reason,
        "delta_ci_low_ns": difference_of_means and difference_of_means.ci_low,
        "delta_ci_high_ns": difference_of_means and difference_of_means.ci_high,
    }
