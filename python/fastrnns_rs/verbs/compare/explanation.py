"""Derivation of one verdict, with every number needed to check it by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.documents.comparison import names_of
from fastrnns_rs.documents.row_names import places_of
from fastrnns_rs.errors import unknown
from fastrnns_rs.escaping import visible
from fastrnns_rs.verbs.compare.verdicts import FALSE_DISCOVERY_RATE

if TYPE_CHECKING:
    from fastrnns_rs import stats
    from fastrnns_rs.verbs.compare.replication import Replication
    from fastrnns_rs.verbs.compare.session_spread import SessionSpread
    from fastrnns_rs.verbs.compare.side import Series
    from fastrnns_rs.verbs.compare.verdicts import Judged, Step

#: With fewer processes on the smaller side, degrees of freedom are limited.
_LIMITED_BELOW = 5
_LEAST_PROCESSES = 3


def explain(judged: Sequence[Judged], name: str) -> str:
    """Returns the derivation of a row, or of all rows of a runner.

    Args:
        judged: All rows of the comparison.
        name: Name of the row, or `runner`, or `runner/phase` if several problems are compared.

    Raises:
        UsageError: If no row has the name; the hint has the nearest match.
    """
    known = names_of([one.row for one in judged])
    found = [judged[place] for place in places_of(name, known)]
    if not found:
        every = dict.fromkeys(one for called in known for one in called)
        raise unknown("unknown row", name, every, where="explain")
    return "\n\n".join("\n".join(visible(line) for line in _lines(one)) for one in found) + "\n"


def _lines(one: Judged) -> Iterator[str]:
    said: str = one.row.verdict or "no verdict"
    if one.row.conditional_verdict is not None:
        said = f"{one.row.conditional_verdict}, for these two sessions only"
    yield f"{one.pair.title}: {said}"
    if one.row.label:
        yield f"Note: {one.row.label}."
    yield from _times(one)
    found, conclusion = one.found, f"So: {said}. {sentence(one.row.reason)}"
    if found is None:
        if one.row.ratio is not None:
            yield f"Ratio of the medians, candidate / baseline: {one.row.ratio:.9g}"
        yield conclusion
        return
    of = "sessions" if one.row.basis == "sessions" else "processes"
    yield from derivation(found, one.step, one.row.p_value_adjusted, of, one.replication)
    yield conclusion
    if one.row.required_processes is not None:
        yield f"A new comparison of {one.row.required_processes} processes a side would settle a difference and a"
        yield "spread like these, with a probability of 90 %. Measure anew: adding processes until there is a verdict"
        yield "gives false alarms."


def derivation(
    found: stats.Comparison,
    step: Step | None,
    p_value_adjusted: float | None,
    of: str = "processes",
    replication: Replication | None = None,
) -> Iterator[str]:
    """Yields the steps from the numbers of two sides to a verdict.

    Args:
        found: Statistics of the row.
        step: Rank of its p-value in the table.
        p_value_adjusted: Adjusted p-value.
        of: Plural noun for the numbers of a side.
        replication: Replication level, if the sides are runs.
    """
    yield from _ratio(found)
    if found.p_value is None:
        yield f"No spread can be told from fewer than {_LEAST_PROCESSES} {of} a side, so that this is all."
        return
    yield from _spread(found, of, replication)
    yield from _intervals(found)
    yield from _question(found)
    yield from _table(found, step, p_value_adjusted)


def _times(one: Judged) -> Iterator[str]:
    sides = (("baseline ", one.pair.baseline), ("candidate", one.pair.candidate))
    with_processes = not any(side.lack for _, side in sides if side)
    yield "1. One number a process: the median of its timed samples, in ns" if with_processes else "1. Samples, in ns"
    for name, side in sides:
        yield f"   {name}  {_numbers(side) if side else 'not there'}"
    if one.row.basis == "sessions":
        yield "   One number a session: the geometric mean of its processes, in ns"
        for name, values in (
            ("baseline ", one.replication.baseline),
            ("candidate", one.replication.candidate),
        ):
            yield f"   {name}  n = {len(values)}: " + " ".join(f"{value:.15g}" for value in values)


def _numbers(side: Series) -> str:
    most = 100  # a thousand samples of a process that lacks its like are no derivation
    values = side.medians_ns
    if not values:
        return side.reason or "no samples"
    more = f" … and {len(values) - most} more" if len(values) > most else ""
    return f"n = {len(values)}: " + " ".join(f"{value:.15g}" for value in values[:most]) + more


def _ratio(found: stats.Comparison) -> Iterator[str]:
    yield "2. Their natural logarithms: mean m and standard deviation s (with n - 1)"
    for name, estimate, deviation in (
        ("baseline ", found.baseline, found.log_stddev_baseline),
        ("candidate", found.candidate, found.log_stddev_candidate),
    ):
        spread = "" if deviation is None else f", s = {deviation:.9g}"
        yield f"   {name}  m = {math.log(estimate):.12g}{spread}, and exp(m) = {estimate:.9g} ns"
    difference = math.log(found.ratio)
    yield f"3. Difference of the means d = {difference:.9g}: ratio candidate / baseline exp(d) = {found.ratio:.9g}"


def _spread(found: stats.Comparison, of: str, replication: Replication | None) -> Iterator[str]:
    error = replication.session_error if replication else None
    if replication is not None and replication.spread is not None and error is not None:
        yield from _of_history(found, replication.spread, error)
        if error[0] == found.log_standard_error:
            return
    yield f"4. Standard error of d: sqrt(s²/n + s²/n) = {found.log_standard_error:.9g}"
    if found.degrees_of_freedom is None:
        yield "   No side has any spread, so that the ratio is known exactly."
        return
    smaller = min(found.n_baseline, found.n_candidate)
    limit = f", with fewer than {_LIMITED_BELOW} {of} on a side at most {2 * (smaller - 1)}"
    limited = limit if smaller < _LIMITED_BELOW else ""
    yield f"   Degrees of freedom (Welch and Satterthwaite{limited}): {found.degrees_of_freedom:.9g}"


def _of_history(found: stats.Comparison, spread: SessionSpread, error: tuple[float, float]) -> Iterator[str]:
    pooled = ", comparable rows among them" if spread.pooled else ""
    yield f"4. Earlier sessions, {spread.sessions}{pooled}: variance of a session's mean {spread.variance:.9g}, of a"
    yield f"   process within its session {spread.process_variance:.9g}"
    yield f"   Standard error of d with these: {error[0]:.9g}, with {error[1]:.9g} degrees of freedom"
    if error[0] != found.log_standard_error:
        yield "   That of the processes alone is larger, and counts:"


def _intervals(found: stats.Comparison) -> Iterator[str]:
    yield "5. Intervals of the ratio: exp(d - t·error) to exp(d + t·error), with Student's t"
    for level, low, high in (
        (found.confidence_level, found.ratio_ci_low, found.ratio_ci_high),
        (found.equivalence_level, found.equivalence_ci_low, found.equivalence_ci_high),
    ):
        if low is not None and high is not None:
            yield f"   {level:.0%}: {_quantile(found, low, high)}{low:.9g} to {high:.9g}"


def _quantile(found: stats.Comparison, low: float, high: float) -> str:
    """Returns the t-quantile of an interval, as text."""
    if not found.log_standard_error or found.degrees_of_freedom is None:
        return ""
    return f"t = {math.log(high / low) / 2 / found.log_standard_error:.7g}, "


def _question(found: stats.Comparison) -> Iterator[str]:
    low, high = 1 / (1 + found.margin), 1 + found.margin
    level, narrow = f"{found.confidence_level:.0%}", f"{found.equivalence_level:.0%}"
    yield f"6. Differences within the margin of {found.margin:.4g} do not matter: ratios from {low:.9g} to {high:.9g}"
    inside = found.verdict == "equivalent"
    yield f"   Is the {narrow} interval inside the margin? {'Yes: equivalent' if inside else 'No'}"
    if not inside:
        apart = found.verdict in {"faster", "slower"}
        yield f"   Does the {level} interval leave out 1? {f'Yes: {found.verdict}' if apart else 'No: inconclusive'}"


def _table(found: stats.Comparison, step: Step | None, adjusted: float | None) -> Iterator[str]:
    if step is None or adjusted is None or found.p_value is None:
        return
    p_value, rate = found.p_value, f"{FALSE_DISCOVERY_RATE:g}"
    if found.verdict == "equivalent":
        yield f"7. p-value of no difference: {p_value:.9g}; in the table, an equivalent row counts with p = 1"
        return
    place = f"{step.rank} of {step.of} in the order of p-values" if step.of > 1 else "the only one"
    yield f"7. p-value of no difference: {p_value:.9g}, {place} (Benjamini and Hochberg)"
    yield f"   p·{step.of}/{step.rank} = {p_value * step.of / step.rank:.9g}"
    yield f"   adjusted, the least of this and those of later places: {adjusted:.9g}"
    yield f"   The limit of p at its place: {rate}·{step.rank}/{step.of} = {step.threshold:.9g}"
    if found.verdict in {"faster", "slower"}:
        kept = adjusted <= FALSE_DISCOVERY_RATE
        answer = f"Yes: {found.verdict} stands" if kept else f"No: {found.verdict} does not stand"
        yield f"   Is the adjusted p-value at most {rate}? {answer}"


def sentence(text: str) -> str:
    """Returns a reason as a sentence."""
    return text[:1].upper() + text[1:] + "."
