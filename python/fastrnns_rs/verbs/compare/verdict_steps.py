"""Steps from the numbers of two sides to a verdict, in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.verbs.compare.verdicts import FALSE_DISCOVERY_RATE
from fastrnns_rs.views.figures import change_with_unit, digits_after_point
from fastrnns_rs.views.prose import wrapped
from fastrnns_rs.views.units import percent

if TYPE_CHECKING:
    from fastrnns_rs import stats
    from fastrnns_rs.verbs.compare.replication import Replication
    from fastrnns_rs.verbs.compare.session_spread import SessionSpread
    from fastrnns_rs.verbs.compare.verdicts import Step
    from fastrnns_rs.views.scale import Scale

#: With fewer processes on the smaller side, degrees of freedom are limited.
_LIMITED_BELOW = 5
_LEAST_PROCESSES = 3
#: Numbers outside of these have an exponent.
_PLAIN = (1e-7, 1e6)
_DIGITS = 3


def verdict_steps(
    found: stats.SampleComparison,
    step: Step | None,
    p_value_adjusted: float | None,
    scale: Scale,
    replication: Replication | None = None,
) -> Iterator[list[str]]:
    """Yields the lines of each step.

    Args:
        found: Statistics of the row.
        step: Rank of its p-value in the table.
        p_value_adjusted: Adjusted p-value.
        scale: Scale of the times.
        replication: Replication level, if the sides are runs.
    """
    means = (f"{mean / scale.ns:.{scale.decimals + 1}f} {scale.unit}" for mean in (found.baseline, found.candidate))
    yield [f"Geometric means: {' and '.join(means)}. Ratio {found.ratio:.4f} (above 1 is slower)."]
    if found.p_value is None:
        few = min(found.n_baseline, found.n_candidate) < _LEAST_PROCESSES
        yield [
            f"No interval: fewer than {_LEAST_PROCESSES} numbers on a side." if few else "No interval: too few pairs."
        ]
        return
    yield [*_standard_error(found, replication)]
    yield [*_intervals(found, "k" if replication is not None and replication.anytime else "t")]
    low, high = 1 / (1 + found.margin), 1 + found.margin
    inside = found.verdict == "equivalent"
    narrow, level = percent(found.equivalence_level), percent(found.confidence_level)
    answer = "yes" if inside else "no"
    margin = f"{low:.4f} to {high:.4f} (±{percent(found.margin)})"
    yield [f"Equivalent? The {narrow} interval lies inside {margin}: {answer}."]
    if inside:
        return
    apart = found.verdict in {"faster", "slower"}
    answer = f"yes, {found.verdict}" if apart else "no, inconclusive"
    yield [f"Different? The {level} interval excludes 1: {answer}."]
    if apart and step is not None and p_value_adjusted is not None:
        rows = counted(step.of, "row")
        rate = f"{percent(FALSE_DISCOVERY_RATE)}, Benjamini-Hochberg"
        answer = "yes" if p_value_adjusted <= FALSE_DISCOVERY_RATE else "no, inconclusive"
        both = f"p = {digits(found.p_value)}, adjusted p = {digits(p_value_adjusted)}"
        question = f"Still different among {rows} (false discovery rate {rate})?"
        yield [question, f"{both}, at most {FALSE_DISCOVERY_RATE:g}: {answer}."]


def numbered(steps: Iterable[list[str]], limit: int) -> Iterator[str]:
    """Yields the wrapped lines of steps with their numbers."""
    for number, (first, *others) in enumerate(steps, 1):
        yield from wrapped(f"{number}. {first}", limit)
        for line in others:
            yield from wrapped(f"   {line}", limit)


def format_change(ratio: float | None, low: float | None, high: float | None) -> str:
    """Returns `+4.2 [+3.1, +5.2] %`; empty for an unknown ratio."""
    return "" if ratio is None else change_with_unit(ratio, low, high)


def digits(value: float) -> str:
    """Formats an error or a probability with three significant digits.

    >>> digits(0.0000132390), digits(7.96886), digits(1.5e-12), digits(0.0)
    ('0.0000132', '7.97', '1.50e-12', '0')
    """
    if value == 0:
        return "0"
    if not _PLAIN[0] <= abs(value) < _PLAIN[1]:
        return f"{value:.{_DIGITS - 1}e}"
    return f"{value:.{max(digits_after_point(value, _DIGITS), 0)}f}"


def _standard_error(found: stats.SampleComparison, replication: Replication | None) -> Iterator[str]:
    error = found.log_standard_error
    known = replication.session_error if replication else None
    if replication is not None and replication.spread is not None and known is not None:
        yield from _describe_history(replication.spread, known)
        if replication.uses_session_error(found):
            return
        yield "The standard error of the processes alone is larger and is used:"
    if not error or found.degrees_of_freedom is None:
        yield "Standard error of log(ratio): 0, because the numbers of each side are equal."
        return
    if replication is not None and replication.paired:
        yield "The processes are compared in pairs, which were measured right after each other."
        pairs, degrees = counted(found.n_baseline, "pair"), digits(found.degrees_of_freedom)
        end = "." if replication.anytime else ","
        yield f"Standard error of log(ratio), from the differences of {pairs}: {digits(error)}{end}"
        if replication.anytime:
            yield "The interval holds after each pair, because verdicts decided when to stop"
            yield "(confidence sequence of Wang and Ramdas)."
            return
        yield f"with {degrees} degrees of freedom (Student)."
        return
    parts = (
        f"{digits(deviation or 0.0)}²/{count}"
        for deviation, count in (
            (found.log_stddev_baseline, found.n_baseline),
            (found.log_stddev_candidate, found.n_candidate),
        )
    )
    smaller = min(found.n_baseline, found.n_candidate)
    limited = (
        f"; at most {2 * (smaller - 1)} with fewer than {_LIMITED_BELOW} per side" if smaller < _LIMITED_BELOW else ""
    )
    yield f"Standard error of log(ratio): sqrt({' + '.join(parts)}) = {digits(error)},"
    yield f"with {digits(found.degrees_of_freedom)} degrees of freedom (Welch{limited})."


def _describe_history(spread: SessionSpread, error: tuple[float, float]) -> Iterator[str]:
    pooled = ", comparable rows included" if spread.pooled else ""
    yield f"Standard error of log(ratio), from {spread.sessions:,} sessions{pooled}: {digits(error[0])},"
    yield f"with {digits(error[1])} degrees of freedom."
    yield f"Variance of a session's mean {digits(spread.variance)}, of a process {digits(spread.process_variance)}."


def _intervals(found: stats.SampleComparison, factor: str) -> Iterator[str]:
    error = found.log_standard_error
    yield (
        f"Intervals: {found.ratio:.4f} × exp(±{factor} × {digits(error)})" if error else f"Intervals: {found.ratio:.4f}"
    )
    for level, low, high in (
        (found.confidence_level, found.ratio_ci_low, found.ratio_ci_high),
        (found.equivalence_level, found.equivalence_ci_low, found.equivalence_ci_high),
    ):
        if low is not None and high is not None:
            quantile = f"{factor} = {math.log(high / low) / 2 / error:.3f}, " if error else ""
            yield f"  {percent(level)}: {quantile}{low:.4f} to {high:.4f}"
