"""Consistency checks of ratios and verdicts in a comparison."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from fastrnns_rs._core import process_ci
from fastrnns_rs.documents.basis_soundness import check_bases
from fastrnns_rs.documents.change_soundness import check_certainty, check_changes
from fastrnns_rs.documents.codec import has_keys_since, shown, to_plain
from fastrnns_rs.documents.exit_code_soundness import check_exit_code
from fastrnns_rs.documents.replicates import LEAST_REPEATS
from fastrnns_rs.documents.run_soundness import check_estimate
from fastrnns_rs.documents.side_soundness import check_sides
from fastrnns_rs.documents.tolerances import ROUNDING, check_inside, check_number, is_between
from fastrnns_rs.documents.verdict_soundness import check_verdicts, find_replicates
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fastrnns_rs.documents.comparison import (
        Change,
        Compared,
        Comparison,
        Figures,
        GeometricMean,
        Method,
        Row,
        StatisticChange,
    )

#: Least width of the interval that is held against the margin, as a share of the other's.
_NARROWEST = 0.48
#: The same of captures, by the number of the fewer less two: Student's t at 95 % / at 97.5 %, from two degrees of
#: freedom on, which Welch's are at least.
_NARROWEST_OF_CAPTURES = (0.678, 0.739, 0.767, 0.783, 0.794, 0.801, 0.806)
#: Confidence level of captures.
_LEVEL = 0.95
_Row = TypeVar("_Row")


def check_comparison(found: Comparison) -> None:
    """Rejects inconsistent ratios, verdicts and counts of a comparison.

    These are intervals whose ends are swapped, verdicts that contradict the intervals or the processes, and counts that
    differ from the rows.

    Raises:
        UsageError: If the comparison is inconsistent; the message names the path.
    """
    changes: list[tuple[str, Change]] = [*_placed("kernels", found.kernels), *_placed("categories", found.categories)]
    changes += [("device_time", found.device_time)] if found.device_time else []
    rows: list[tuple[str, Row | Change]] = [*_placed("rows", found.rows), *changes]
    for path, row in rows:
        _check_interval(path, row)
        _check_judged(path, row)
        _check_verdict(path, row, found.method)
        _check_conclusions(path, row, found.method, rounding_ns=len(found.kernels))
    # Older documents have no key of it.
    has_processes = has_keys_since("1.3", found)
    for path, one in _placed("rows", found.rows):
        _check_within(path, one)
        _check_estimates(path, one)
        _check_processes(path, one, has_processes=has_processes)
        _check_deciles(path, one)
        for name, change in (("median", one.median), ("mean", one.mean), ("p95", one.p95)):
            if change is not None:
                _check_interval(f"{path}.{name}", change)
                _check_within(f"{path}.{name}", change)
                _check_statistic(f"{path}.{name}", change)
                check_certainty(f"{path}.{name}", change, 1 - found.method.confidence_level)
    if found.geometric_mean is not None:
        _check_interval("geometric_mean", found.geometric_mean)
        _check_within("geometric_mean", found.geometric_mean)
        _check_mean(found.geometric_mean, found.rows)
    for path, row in rows:
        _check_delta(path, row)
    for path, side in (("baseline", found.baseline), ("candidate", found.candidate)):
        _check_idle(path, side)
        _check_captures(path, side)
    _check_heads(found)
    _check_repeated(found.rows)
    _check_counts(found)
    check_exit_code(found)
    check_bases(found)
    check_sides(found)
    check_verdicts(found)
    check_changes(found)


def _placed(name: str, rows: Iterable[_Row]) -> list[tuple[str, _Row]]:
    return [(f"{name}[{number}]", row) for number, row in enumerate(rows)]


def _check_interval(path: str, row: Row | Change | GeometricMean | StatisticChange) -> None:
    if row.ratio is not None and row.ratio <= 0:
        raise UsageError(f"{path}.ratio is {row.ratio:g}, not above 0")
    low, high = row.ratio_ci_low, row.ratio_ci_high
    if low is not None and low < 0:
        raise UsageError(f"{path}.ratio_ci_low is {low:g}, below 0")
    if low is not None and high is not None and low > high:
        raise UsageError(f"{path}.ratio_ci_low is {low:g}, above ratio_ci_high, {high:g}")


def _check_within(path: str, row: Row | GeometricMean | StatisticChange) -> None:
    """Checks that a ratio is within its interval.

    This does not apply to captures: their interval belongs to another mean than the ratio that is shown.
    """
    check_inside(f"{path}.ratio", row.ratio_ci_low, row.ratio, row.ratio_ci_high)


def _check_judged(path: str, row: Row | Change) -> None:
    """Checks that a row with a verdict has the figures that were judged."""
    word = row.verdict or getattr(row, "conditional_verdict", None)
    for name in ("baseline", "candidate", "ratio") if word is not None else ():
        found = getattr(row, name)
        # Times of captures may round to 0, which gives no ratio.
        shown = (getattr(side, "total_ns", 1) for side in (row.baseline, row.candidate))
        if found is None and (name != "ratio" or all(shown)):
            raise UsageError(f"{path} is {word}, and its {name} is null")
        for count, least in (("n_processes", 1), ("n_repeats", LEAST_REPEATS)):
            number = getattr(found, count, least)
            if number < least:
                raise UsageError(f"{path} is {word}, and {path}.{name}.{count} is {number}")


def _check_statistic(path: str, change: StatisticChange) -> None:
    _check_ratio(path, change.ratio, change.baseline_ns, change.candidate_ns, "the times")
    _check_adjusted(path, change)


def _check_adjusted(path: str, row: Row | Change | StatisticChange) -> None:
    adjusted = row.p_value_adjusted
    if adjusted is not None and row.p_value is not None and row.p_value > adjusted * (1 + ROUNDING):
        raise UsageError(f"{path}.p_value is {row.p_value:g}, above p_value_adjusted, {adjusted:g}")


def _check_verdict(path: str, row: Row | Change, method: Method) -> None:
    low, high = row.ratio_ci_low, row.ratio_ci_high
    conditional = getattr(row, "conditional_verdict", None)
    if conditional is not None and row.verdict is not None:
        raise UsageError(f"{path} has a verdict, {row.verdict}, and a conditional_verdict, {conditional}")
    key = "verdict" if conditional is None else "conditional_verdict"
    word = row.verdict or conditional
    if word is not None and None in {low, high}:
        raise UsageError(f"{path}.{key} is {word}, and the row has no interval")
    if word == "slower" and low is not None and low < 1:
        raise UsageError(f"{path}.{key} is slower, and ratio_ci_low is {low:g}, below 1")
    if word == "faster" and high is not None and high > 1:
        raise UsageError(f"{path}.{key} is faster, and ratio_ci_high is {high:g}, above 1")
    adjusted, rate = row.p_value_adjusted, method.false_discovery_rate
    if word in {"slower", "faster"} and adjusted is not None and adjusted > rate:
        raise UsageError(f"{path}.{key} is {word}, and p_value_adjusted is {adjusted:g}, above {rate:g}")
    _check_adjusted(path, row)


def _check_conclusions(path: str, row: Row | Change, method: Method, rounding_ns: int) -> None:
    """Checks that a verdict is the one that interval, margin and p-values give.

    The interval that is held against the margin is not in the document. It has the same middle, and is about half as
    wide or more: 0.4934 for Student's t with one degree of freedom, and 0.4861 for four pairs that hold at any time.
    """
    word, low, high = row.verdict or getattr(row, "conditional_verdict", None), row.ratio_ci_low, row.ratio_ci_high
    if word is None and row.p_value is not None:
        raise UsageError(f"{path} has a p_value, {row.p_value:g}, and no verdict")
    if word is None or low is None or high is None or _is_contradicted(row, method.margin, rounding_ns):
        return
    interval, most = f"its interval from {low:g} to {high:g}", 1 + method.margin
    if word == "equivalent":
        if not _may_be_equivalent(low, high, most, _find_narrowest(row, method)):
            raise UsageError(
                f"{path} is equivalent, and {interval} is too far outside of the margin, {method.margin:g}"
            )
    elif low * most > 1 + ROUNDING and high < most * (1 - ROUNDING):
        raise UsageError(f"{path} is {word}, and {interval} is inside of the margin, {method.margin:g}")
    certain, adjusted = not low <= 1 <= high, row.p_value_adjusted
    if word == "inconclusive" and certain and adjusted is not None and adjusted <= method.false_discovery_rate:
        raise UsageError(f"{path} is inconclusive, and {interval} excludes 1")


def _find_narrowest(row: Row | Change, method: Method) -> float:
    """Returns the least width of the margin's interval, as a share of the other."""
    fewer = min((getattr(side, "n_repeats", 0) for side in (row.baseline, row.candidate)), default=0)
    place = min(fewer - LEAST_REPEATS, len(_NARROWEST_OF_CAPTURES) - 1)
    return _NARROWEST_OF_CAPTURES[place] if place >= 0 and method.confidence_level == _LEVEL else _NARROWEST


def _may_be_equivalent(low: float, high: float, most: float, narrowest: float = _NARROWEST) -> bool:
    middle = math.sqrt(low) * math.sqrt(high)
    reach = (high / low) ** (narrowest / 2) if low > 0 else math.inf
    return is_between(middle / reach, 1 / most, most) and is_between(middle * reach, 1 / most, most)


def _is_contradicted(row: Row | Change, margin: float, rounding_ns: int) -> bool:
    """Returns True if mean times may contradict the interval of an open row.

    The mean times count every iteration, the interval every capture. A verdict of the interval that the ratio of the
    mean times contradicts becomes inconclusive. Shown times are rounded as often as there are kernels.
    """
    low, high = row.ratio_ci_low, row.ratio_ci_high
    before, after = (getattr(side, "total_ns", 0) for side in (row.baseline, row.candidate))
    if row.verdict != "inconclusive" or low is None or high is None or not before or not after:
        return False
    least = (after - rounding_ns) / (before + rounding_ns)
    greatest = (after + rounding_ns) / (before - rounding_ns) if before > rounding_ns else math.inf
    if (low > 1 and least <= 1) or (high < 1 and greatest >= 1):
        return True
    most = 1 + margin
    return _may_be_equivalent(low, high, most) and (least < min(low, 1 / most) or greatest > max(high, most))


def _check_mean(mean: GeometricMean, rows: Iterable[Row]) -> None:
    """Checks that a geometric mean lies among the ratios of rows."""
    ratios = [row.ratio for row in rows if row.ratio is not None]
    if not ratios or not is_between(mean.ratio, min(ratios), max(ratios)):
        raise UsageError(f"geometric_mean.ratio is {mean.ratio:g}, not among the ratios of the rows")
    if not 1 <= mean.n <= len(ratios):
        raise UsageError(f"geometric_mean.n is {mean.n}, and {len(ratios)} rows have a ratio")


def _check_estimates(path: str, row: Row) -> None:
    if row.cliffs_delta is not None and not -1 <= row.cliffs_delta <= 1:
        raise UsageError(f"{path}.cliffs_delta is {row.cliffs_delta:g}, not from -1 to 1")
    for name, side in (("baseline", row.baseline), ("candidate", row.candidate)):
        if side is not None:
            check_estimate(f"{path}.{name}", side)
    if row.baseline is None or row.candidate is None or row.ratio is None:
        return
    # Pairs of which a side failed count in the estimate alone.
    if row.basis == "interleaved" and row.baseline.n_processes != row.candidate.n_processes:
        return
    _check_ratio(path, row.ratio, row.baseline.estimate_ns, row.candidate.estimate_ns, "the estimates")


def _check_ratio(path: str, ratio: float, before: float, after: float, of: str) -> None:
    check_number(f"{path}.ratio", ratio, after / before if before > 0 else None, of)


def _check_processes(path: str, row: Row, *, has_processes: bool) -> None:
    for name, side in (("baseline", row.baseline), ("candidate", row.candidate)):
        if side is None:
            continue
        for key in ("process_medians_ns", "process_levels_ns", "process_sessions"):
            numbers = getattr(side, key)
            # Without its processes, nothing gives the numbers of a row.
            if (numbers or (has_processes and key == "process_medians_ns")) and len(numbers) != side.n_processes:
                count = f"{len(numbers)} numbers, not n_processes, {side.n_processes}"
                raise UsageError(f"{path}.{name}.{key} has {count}")
        judged = side.process_levels_ns or side.process_medians_ns
        if judged and not is_between(side.estimate_ns, min(judged), max(judged)):
            ends = f"{min(judged):.9g} to {max(judged):.9g}"
            raise UsageError(f"{path}.{name}.estimate_ns is {side.estimate_ns:.9g}, and its processes are from {ends}")
        replicates = find_replicates(side, row.basis)
        if len(replicates) > 1:
            _check_ends(f"{path}.{name}", side, replicates)


def _check_ends(path: str, side: Figures, judged: Sequence[float]) -> None:
    """Checks that an estimate and its interval are those of the replicates."""
    if min(judged) <= 0:
        return
    found = process_ci(judged)
    expected = {"estimate_ns": found.estimate, "ci_low_ns": found.ci_low, "ci_high_ns": found.ci_high}
    for key, number in expected.items():
        if getattr(side, key) is not None:
            check_number(f"{path}.{key}", getattr(side, key), number, "its processes")


def _check_deciles(path: str, row: Row) -> None:
    found = row.deciles
    if found and [round(10 * one.level, 6) for one in found] != [*range(1, 10)]:
        raise UsageError(f"{path}.deciles does not have the levels 0.1 to 0.9")
    for place, (one, other) in enumerate(pairwise(found), 1):
        if other.baseline_ns < one.baseline_ns or other.candidate_ns < one.candidate_ns:
            raise UsageError(f"{path}.deciles[{place}] is below the decile before it")
    for place, one in enumerate(found):
        expected = one.candidate_ns - one.baseline_ns
        if abs(one.shift_ns - expected) > ROUNDING * max(one.candidate_ns, one.baseline_ns):
            raise UsageError(f"{path}.deciles[{place}].shift_ns is {one.shift_ns:g}, not the difference, {expected:g}")


def _check_delta(path: str, row: Row | Change) -> None:
    low, high = (getattr(row, f"delta_ci_{end}_ns", None) for end in ("low", "high"))
    if low is not None and high is not None and low > high:
        raise UsageError(f"{path}.delta_ci_low_ns is {low:g}, above delta_ci_high_ns, {high:g}")


def _check_idle(path: str, side: Compared) -> None:
    """Checks that the causes of idle time add up, and are part of the span."""
    if side.idle_ns is None and not side.idle_times:
        return
    total = sum(one.total_ns for one in side.idle_times)
    if total != side.idle_ns:
        raise UsageError(f"{path}.idle_times add up to {total}, and idle_ns is {side.idle_ns}")
    if side.span_ns is None or side.idle_ns > side.span_ns:
        raise UsageError(f"{path}.idle_ns is {side.idle_ns}, above span_ns, {side.span_ns}")
    for place, one in enumerate(side.idle_times):
        if not 0 <= one.span_fraction <= 1:
            raise UsageError(f"{path}.idle_times[{place}].span_fraction is {one.span_fraction:g}, not a share")
        share = one.total_ns / side.span_ns if side.span_ns else 0.0
        check_number(f"{path}.idle_times[{place}].span_fraction", one.span_fraction, share, "total_ns and span_ns")


def _check_captures(path: str, side: Compared) -> None:
    """Checks numbers of captures and iterations, and medians of iterations."""
    for name in ("captures", "iterations"):
        if getattr(side, name) == 0:
            raise UsageError(f"{path}.{name} is 0, and the side has times")
    if side.captures not in {None, len(side.files)}:
        raise UsageError(f"{path}.captures is {side.captures}, and files has {len(side.files)}")
    for whole in ("gpu_median_ns", "gpu_time_median_ns"):
        busy, most = side.gpu_busy_median_ns, getattr(side, whole)
        if busy is not None and most is not None and busy > most * (1 + ROUNDING):
            raise UsageError(f"{path}.gpu_busy_median_ns is {busy:g}, above {whole}, {most:g}")


def _check_heads(found: Comparison) -> None:
    """Checks that the sides of an `ab` are not exchanged.

    A row of two runners has both names, that of the baseline first. The label of a side begins with its runner.
    """
    for path, row in _placed("rows", found.rows):
        names = row.runner.split(" / ")
        # Benchmarks of other tools may have any name.
        if row.problem is None or len(names) != 2:  # noqa: PLR2004  # two sides
            continue
        labels = (found.baseline.label, found.candidate.label)
        if _begin_with(labels, names[::-1]) and not _begin_with(labels, names):
            raise UsageError(f"{path}.runner is {shown(row.runner)}, and the baseline is {shown(labels[0])}")


def _begin_with(labels: Sequence[str], runners: Sequence[str]) -> bool:
    """Returns True if labels of sides begin with these runners."""
    return all(f"{label} ".startswith(f"{name} ") for label, name in zip(labels, runners, strict=True))


def _check_repeated(rows: Iterable[Row]) -> None:
    """Rejects equal rows.

    Rows of one runner and problem may have different timing modes, which change only their numbers.
    """
    seen: set[str] = set()
    for path, row in _placed("rows", rows):
        # Files of other tools may give two benchmarks the same name.
        if row.problem is None or row.p_value is None:
            continue
        # A problem is not hashable.
        text = repr(to_plain(row))
        if text in seen:
            raise UsageError(f"duplicate row: {path}")
        seen.add(text)


def _check_counts(found: Comparison) -> None:
    rows = found.rows if found.kind == "run" else found.kernels
    conditional = [getattr(row, "conditional_verdict", None) for row in rows]
    verdicts = [row.verdict for row in found.rows] if found.kind == "run" else [row.verdict for row in found.kernels]
    words = Counter(said or "none" for said, word in zip(verdicts, conditional, strict=True) if word is None)
    for key, counts, counted in (
        ("counts", found.counts, words),
        ("conditional_counts", found.conditional_counts, Counter(filter(None, conditional))),
    ):
        for word in ("faster", "slower", "equivalent", "inconclusive", "none"):
            recorded = getattr(counts, word)
            if recorded != counted[word]:
                raise UsageError(f"{key}.{word} is {recorded}, and {counted[word]} rows have this verdict")
