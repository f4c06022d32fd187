"""Verdicts of a comparison, corrected for the whole table, and their exit code.

Each pair is judged alone before the correction.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, get_args

from fastrnns_rs import stats
from fastrnns_rs.counting import counted
from fastrnns_rs.documents.comparison import (
    DONE,
    INCONCLUSIVE,
    REGRESSION,
    Counts,
    Decile,
    Figures,
    Method,
    Row,
    RowBasis,
    Statistic,
    Verdict,
    is_regression,
    is_withheld,
)
from fastrnns_rs.documents.comparison_rows import CONDITIONAL, OF_SESSIONS
from fastrnns_rs.documents.soundness import TIME_END
from fastrnns_rs.documents.table_correction import counted_p_values, is_withdrawn
from fastrnns_rs.errors import UsageError, is_one_of, unknown
from fastrnns_rs.verbs.compare.replication import CONFIDENCE_LEVEL, Replication, choose_replication, compare_pair
from fastrnns_rs.verbs.compare.series_matching import Pair

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Change, MarginSource
    from fastrnns_rs.verbs.compare.session_spread import Past
    from fastrnns_rs.verbs.compare.side import Level, Series


FALSE_DISCOVERY_RATE = 0.05
METHOD, PAIRED_METHOD = "welch_log_process_medians", "paired_t_log_process_medians"
ANYTIME_METHOD = "anytime_t_log_process_medians"
STATISTICS: tuple[Statistic, ...] = get_args(Statistic)
WORDS: dict[str, Verdict] = {one: one for one in get_args(Verdict)}
#: Fields of the statistics that a row copies under the same names.
_FOUND = ("ratio", "ratio_ci_low", "ratio_ci_high", "cliffs_delta", "p_value")
#: Reason of a row whose times differ but do not vary.
NO_SPREAD = "neither side has any spread: no verdict"
_ONE_RATIO = "all pairs have the same ratio: no verdict"
_DECILES = [one / 10 for one in range(1, 10)]
#: With fewer processes on a side, the interval is wide.
FEW_PROCESSES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Rank of a row's p-value (Benjamini and Hochberg, 1995).

    Attributes:
        rank: Rank of the row; the smallest p-value has rank 1.
        of: Number of rows with a p-value.
    """

    rank: int
    of: int

    @property
    def threshold(self) -> float:
        """Largest significant p-value at this rank."""
        return FALSE_DISCOVERY_RATE * self.rank / self.of


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A row of the document and the data behind it.

    Attributes:
        pair: Compared pair.
        row: Row of the document.
        found: Statistics of this row alone; None if a side has no processes.
        step: Rank in the table; None without a p-value.
        replication: Numbers that were compared.
        mean_to_median: Change of mean / median of the processes, where it is larger than the margin; else None.
    """

    pair: Pair
    row: Row
    replication: Replication
    found: stats.SampleComparison | None
    step: Step | None
    mean_to_median: stats.SampleComparison | None = None


def decide(pairs: Sequence[Pair], margin: float, past: Past | None = None) -> list[Judged]:
    """Computes the verdict of each pair alone, then corrects for the whole table.

    Args:
        pairs: Pairs to compare.
        margin: Equivalence margin as a share: 0.01 is 1 %.
        past: Earlier sessions, which show the variance between sessions.

    Raises:
        UsageError: If the ratio of two sides is too large or too small for a number.
    """
    judged = [_judge(pair, margin, past) for pair in pairs]
    tested = [index for index, one in enumerate(judged) if one.row.p_value is not None]
    places = ranked([(judged[index].row.verdict, judged[index].row.p_value or 0.0) for index in tested])
    for index, (step, adjusted) in zip(tested, places, strict=True):
        judged[index] = _corrected(judged[index], adjusted, step, margin)
    return [replace(one, row=_mark_conditional(one)) for one in judged]


def ranked(rows: Sequence[tuple[Verdict | None, float]]) -> list[tuple[Step, float]]:
    """Returns the rank and the adjusted p-value of each row.

    Equal p-values share the last rank.

    Args:
        rows: Verdict of each row alone, and its p-value.
    """
    if not rows:
        return []
    p_values = counted_p_values(rows)
    adjusted = stats.benjamini_hochberg(p_values, rate=FALSE_DISCOVERY_RATE).adjusted
    ranks = {value: rank for rank, value in enumerate(sorted(p_values), 1)}
    return [(Step(rank=ranks[value], of=len(p_values)), one) for value, one in zip(p_values, adjusted, strict=True)]


def withdrawn(verdict: Verdict | None, adjusted: float, step: Step) -> str | None:
    """Returns the reason why the table withdraws a row's verdict; None if it stands."""
    if not is_withdrawn(verdict, adjusted, FALSE_DISCOVERY_RATE):
        return None
    return (
        f"{verdict} by itself, but not among {step.of} rows: its adjusted p-value {adjusted:.3g} is above "
        f"{FALSE_DISCOVERY_RATE:g}"
    )


def _judge(pair: Pair, margin: float, past: Past | None) -> Judged:
    try:
        replication = choose_replication(pair, past)
        found = compare_pair(pair, replication, margin)
        row = _row(pair, replication, found)
        return Judged(pair=pair, row=row, replication=replication, found=found, step=None)
    except (ValueError, ArithmeticError) as error:
        message, hint = f"cannot compare row: {pair.title!r}", "Check the times of the row in both files."
        raise UsageError(message, hint, reason=str(error)) from error


def _mark_conditional(one: Judged) -> Row:
    """Marks the verdict as conditional if sessions may differ by an unknown amount."""
    row, found = one.row, one.found
    if row.additional_processes is not None and found is not None:
        row = replace(row, required_processes=max(found.n_baseline, found.n_candidate) + row.additional_processes)
    # A pair that is inconclusive by its processes is inconclusive for these sessions as well.
    if row.basis != "two_sessions" or row.verdict in {None, "inconclusive"}:
        return row
    return replace(row, verdict=None, conditional_verdict=row.verdict)


def _row(pair: Pair, replication: Replication, found: stats.SampleComparison | None) -> Row:
    one, other = pair.baseline, pair.candidate
    judged = found is not None and found.p_value is not None
    basis, spread = replication.basis, replication.spread
    error, degrees_of_freedom = replication.session_error or (None, None)
    baseline, candidate = _figures(one, basis), _figures(other, basis)
    row = Row(
        runner=pair.name,
        group=pair.series.group,
        phase=pair.series.phase,
        problem=pair.series.problem,
        baseline=baseline,
        candidate=candidate,
        shift_ns=found.shift if found else None,
        **{name: getattr(found, name) if found else None for name in _FOUND},
        verdict=WORDS[found.verdict] if found and judged else None,
        reason=found.reason if found else _missing(pair, paired=replication.paired),
        label=_label(pair, basis),
        # More processes do not replace sessions.
        additional_processes=found.additional_processes
        if found and judged and replication.gains_from_processes
        else None,
        basis=basis,
        session_stddev=spread.stddev if spread else None,
        session_stderr=error,
        session_degrees_of_freedom=degrees_of_freedom,
        history_sessions=spread.sessions if spread else None,
        history_pooled=spread.pooled if spread else False,
        deciles=_deciles(one, other),
    )
    if found is None and one is not None and other is not None and baseline is not None and candidate is not None:
        # Without statistics, the row has a ratio but no verdict.
        ratio = candidate.estimate_ns / baseline.estimate_ns
        if not 0 < ratio < math.inf:
            raise ValueError(f"no number holds the ratio of {candidate.estimate_ns:g} and {baseline.estimate_ns:g} ns")
        first, second = replication.baseline or one.levels, replication.candidate or other.levels
        shift = stats.hodges_lehmann(first, second).shift
        return replace(row, ratio=ratio, shift_ns=shift, cliffs_delta=stats.cliffs_delta(first, second))
    return row


def _corrected(one: Judged, adjusted: float, step: Step, margin: float) -> Judged:
    row = replace(one.row, p_value_adjusted=adjusted)
    reason = withdrawn(row.verdict, adjusted, step)
    if reason is not None:
        # The number of processes is computed at the confidence that the row's rank requires.
        asked = one.replication.compared(margin, 1 - step.threshold)
        more = asked.additional_processes if one.replication.gains_from_processes else None
        if asked.p_value is None:
            # So few pairs of `ab --until decided` have no interval at this confidence, and give no estimate.
            reason += f", and {counted(asked.n_baseline, 'pair')} are too few for so many rows"
        row = replace(row, verdict="inconclusive", reason=reason, additional_processes=more)
    return replace(one, row=row, step=step)


def _figures(series: Series | None, basis: RowBasis | None) -> Figures | None:
    if series is None or not series.levels:
        return None
    values = series.levels
    # Every session has the same weight, as in the ratio, however many processes it has.
    found = stats.process_ci(series.session_levels if basis == "sessions" else values) if not series.lack else None
    # No document holds a longer time.
    ends = (found.ci_low, found.ci_high) if found and (found.ci_high or 0.0) < TIME_END else (None, None)
    return Figures(
        n_processes=len(values) if found else 0,
        n_samples=series.n_samples,
        estimate_ns=found.estimate if found else _level_of_samples(values, series.statistic),
        ci_low_ns=ends[0],
        ci_high_ns=ends[1],
        peak_memory_bytes=series.peak_memory_bytes,
        process_medians_ns=[*series.medians_ns] if found else [],
        process_levels_ns=[*series.levels] if found and series.statistic != "median" else [],
        process_sessions=series.session_numbers if found and basis == "sessions" else [],
    )


def _level_of_samples(samples: Sequence[float], statistic: Level) -> float:
    if statistic == "mean":
        return math.fsum(samples) / len(samples)
    return stats.quantiles(samples, [0.95 if statistic == "p95" else 0.5])[0]


def _deciles(one: Series | None, other: Series | None) -> list[Decile]:
    """Returns the deciles of all timed samples; empty if a side has no samples."""
    if one is None or other is None or not one.samples_ns or not other.samples_ns:
        return []
    first, second = (stats.quantiles(chain.from_iterable(side.samples_ns), _DECILES) for side in (one, other))
    return [
        Decile(level=level, baseline_ns=before, candidate_ns=after, shift_ns=after - before)
        for level, before, after in zip(_DECILES, first, second, strict=True)
    ]


def _missing(pair: Pair, *, paired: bool) -> str:
    """Returns the reason why a pair has no statistics."""
    if pair.candidate is None or pair.baseline is None:
        where = "only in the baseline" if pair.baseline else "only in the candidate"
        return "; ".join(filter(None, (where, pair.series.reason)))
    both = (("baseline", pair.baseline), ("candidate", pair.candidate))
    reasons = [
        f"{series.reason or ('only the median is known' if series.medians_ns else 'no samples')} (in the {side})"
        for side, series in both
        if not series.levels
    ]
    return "; ".join(reasons) or pair.baseline.lack or pair.candidate.lack or (_ONE_RATIO if paired else NO_SPREAD)


def _label(pair: Pair, basis: RowBasis | None) -> str | None:
    """Returns the caveat that a reader of the row needs before its numbers."""
    texts = ["forced: " + "; ".join(pair.conflicts)] if pair.conflicts else []
    texts += pair.intended
    sides = [one for one in (pair.baseline, pair.candidate) if one and one.levels and not one.lack]
    if basis == "sessions":
        texts.append(" and ".join(f"{len({*one.sessions})}" for one in sides) + f" {OF_SESSIONS}")
        return "; ".join(texts)
    if basis == "two_sessions":
        texts.append(CONDITIONAL)
    counts = [len(one.levels) for one in sides]
    if len(counts) == 2 and 3 <= min(counts) < FEW_PROCESSES:  # noqa: PLR2004  # two sides; fewer give no verdict
        texts.append(f"fewer than {FEW_PROCESSES} processes: a wide interval")
    return "; ".join(texts) or None


#: Values that `--fail-on` accepts.
CAUSES = ("regression", "inconclusive")


def check_causes(fail_on: str | Iterable[str]) -> list[str]:
    """Checks one or several values of `--fail-on`, and returns them as a list.

    Raises:
        UsageError: If a value is not in `CAUSES`.
    """
    causes = [fail_on] if isinstance(fail_on, str) or not isinstance(fail_on, Iterable) else [*fail_on]
    for one in causes:
        if not is_one_of(one, CAUSES):
            raise unknown("invalid value", one, CAUSES, where="fail_on")
    return causes


def check_statistic(statistic: str) -> None:
    """Checks the value of `--statistic`.

    Raises:
        UsageError: If the value is not in `STATISTICS`.
    """
    if not is_one_of(statistic, STATISTICS):
        raise unknown("unknown statistic", statistic, STATISTICS, where="statistic")


def exit_code(rows: Collection[Row | Change], margin: float, fail_on: Collection[str]) -> int:
    """Returns the exit code of a comparison.

    Args:
        rows: Rows that decide the exit code.
        margin: Equivalence margin as a share.
        fail_on: Causes of an exit code other than 0.
    """
    if "regression" in fail_on and any(is_regression(row, margin) for row in rows):
        return REGRESSION
    if "regression" in fail_on and any(is_withheld(row, margin) for row in rows):
        return INCONCLUSIVE
    if "inconclusive" in fail_on and {None, "inconclusive"}.intersection(row.verdict for row in rows):
        return INCONCLUSIVE
    return DONE


def count_verdicts(verdicts: Iterable[Verdict | None]) -> Counts:
    """Counts the rows of each verdict."""
    words = Counter(verdict or "none" for verdict in verdicts)
    return Counts(**{str(word): count for word, count in words.items()})


def describe_method(
    name: str, margin: float, source: MarginSource, *, forced: bool, statistic: Statistic = "median"
) -> Method:
    """Returns the description of the method for the document."""
    return Method(
        name=name,
        confidence_level=CONFIDENCE_LEVEL,
        margin=margin,
        margin_source=source,
        false_discovery_rate=FALSE_DISCOVERY_RATE,
        forced=forced,
        statistic=statistic,
    )
