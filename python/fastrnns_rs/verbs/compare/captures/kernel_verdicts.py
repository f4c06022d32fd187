"""A verdict for each kernel, each category and everything, where something is repeated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fastrnns_rs import stats
from fastrnns_rs.documents.comparison import Verdict
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.compare.verdicts import CONFIDENCE_LEVEL, WORDS, Step, ranked, withdrawn

if TYPE_CHECKING:
    from fastrnns_rs.verbs.compare.captures.capture_stats import Replicate

#: Fewer repeats show no spread.
LEAST_REPEATS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What the repeats of two sides say.

    Attributes:
        values: What was compared: a number for each capture.
        found: What the statistics said of it alone; None where there is too little.
        step: Its place among all of its table.
        p_value_adjusted: After Benjamini and Hochberg.
        verdict: What is left when the whole table is looked at.
        reason: Why that, or why there is none.
    """

    values: tuple[list[float], list[float]]
    found: stats.Comparison | None
    step: Step | None
    p_value_adjusted: float | None
    verdict: Verdict | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What has a row: the repeats of each side, None where it is not there."""

    name: str
    baseline: list[float] | None
    candidate: list[float] | None


def judge(samples: Sequence[Sample], replicate: Replicate | None, margin: float) -> list[Finding]:
    """Judges each by itself, and then all together.

    Raises:
        UsageError: Two sides are too far apart for a number.
    """
    alone = [_alone(one, replicate, margin) for one in samples]
    p_values = [None if one.found is None else one.found.p_value for one in alone]
    places = iter(ranked([value for value in p_values if value is not None]))
    return [one if value is None else _together(one, *next(places)) for one, value in zip(alone, p_values, strict=True)]


def _alone(sample: Sample, replicate: Replicate | None, margin: float) -> Finding:
    first, second = sample.baseline, sample.candidate
    if first is None or second is None:
        return _silent(f"only in the {'candidate' if first is None else 'baseline'}")
    if replicate is None:
        return _silent("one process per side: no verdict")
    for side, values in (("baseline", first), ("candidate", second)):
        if 0 in values:
            return _silent(f"takes no time in {values.count(0)} of {len(values)} captures of the {side}: no verdict")
    if min(len(first), len(second)) < LEAST_REPEATS:
        return _silent(f"fewer than {LEAST_REPEATS} captures per side: no verdict", (first, second))
    try:
        found = stats.compare_samples(first, second, margin=margin, confidence_level=CONFIDENCE_LEVEL)
    except (ValueError, ArithmeticError) as error:
        raise UsageError(
            f"{sample.name} cannot be compared: {error}", "look at its times in the two reports"
        ) from error
    if found.verdict in {"faster", "slower"} and len({*first}) == len({*second}) == 1:
        # A coarse clock or files that were copied: without a spread nothing says how sure a difference is.
        return _silent("neither side has any spread: no verdict", (first, second))
    return Finding(
        values=(first, second),
        found=found,
        step=None,
        p_value_adjusted=None,
        verdict=WORDS[found.verdict],
        reason=found.reason,
    )


def _silent(reason: str, values: tuple[list[float], list[float]] = ([], [])) -> Finding:
    return Finding(values=values, found=None, step=None, p_value_adjusted=None, verdict=None, reason=reason)


def _together(one: Finding, step: Step, adjusted: float) -> Finding:
    """What is said alone stands if its p-value is small enough among all of the table."""
    judged = replace(one, step=step, p_value_adjusted=adjusted)
    reason = withdrawn(one.verdict, adjusted, step)
    return judged if reason is None else replace(judged, verdict="inconclusive", reason=reason)
