"""Checks of changes of statistics, kernels, categories and device time."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from fastrnns_rs.documents.codec import shown
from fastrnns_rs.documents.tolerances import COMPUTED, ROUNDING, check_number
from fastrnns_rs.documents.verdict_soundness import SMALLEST, check_adjusted
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrnns_rs.documents.comparison import Change, Comparison, Kernel, StatisticChange


def check_changes(found: Comparison) -> None:
    """Rejects changes of other times, and p-values of other intervals.

    Raises:
        UsageError: If there is such a change; the message names its path.
    """
    _check_complete(found)
    device_time = [found.device_time] if found.device_time else []
    tables: list[tuple[str, Sequence[Change]]] = [("kernels", found.kernels), ("categories", found.categories)]
    changes = [(f"{name}[{number}]", row) for name, rows in tables for number, row in enumerate(rows)]
    for path, row in [*changes, *(("device_time", row) for row in device_time)]:
        _check_change(path, row)
        _check_launches(path, row, found)
        _check_shown(path, row, rounding_ns=len(found.kernels))
        _check_difference(path, row, rounding_ns=len(found.kernels))
        check_certainty(path, row, 1 - found.method.confidence_level)
    for number, kernel in enumerate(found.kernels):
        _check_names(f"kernels[{number}]", kernel)
    for name, rows in tables:
        if sum(row.p_value is not None for row in rows) > 1:
            check_adjusted(name, rows, found.method.false_discovery_rate)
        else:
            _check_alone([(path, row) for path, row in changes if path.startswith(name)])
        for whole in device_time:
            _check_sums(name, rows, whole)
    _check_alone([("device_time", whole) for whole in device_time])
    if found.categories:
        _check_categories(found)
    for whole in device_time:
        for path, row in [*changes, ("device_time", whole)]:
            share = row.delta_ns / whole.delta_ns if whole.delta_ns else None
            check_number(f"{path}.contribution", row.contribution, share, "delta_ns")


def _check_complete(found: Comparison) -> None:
    """Rejects captures without some of the keys that one version added together."""
    captures = {f"{name}.captures": getattr(found, name).captures for name in ("baseline", "candidate")}
    known = {"basis": found.basis, "device_time": found.device_time, **captures}
    # Captures whose activities take no time may have no kernels.
    known |= {"categories": found.categories or None} if found.kernels else {}
    missing = [key for key, value in known.items() if value is None]
    if 0 < len(missing) < len(known):
        raise UsageError(f"{missing[0]} is missing, and {min(known.keys() - missing)} is not")
    if found.basis == "per_iteration" and None in {found.baseline.iterations, found.candidate.iterations}:
        raise UsageError("basis is per_iteration, and a side has no iterations")
    counts = [found.baseline.captures, found.candidate.captures]
    if found.basis in {"total", "per_capture"} and (found.basis == "total") != (counts == [1, 1]):
        raise UsageError(f"basis is {found.basis}, and the captures of the sides are {counts[0]} and {counts[1]}")


def check_certainty(path: str, row: Change | StatisticChange, error: float) -> None:
    """Rejects a p-value that does not agree with its interval.

    The p-value of a ratio of 1 is below the error of an interval that excludes 1, and only there.
    """
    p_value, low, high = row.p_value, row.ratio_ci_low, row.ratio_ci_high
    if p_value is None or low is None or high is None:
        return
    excludes, contains = low > 1 + ROUNDING or high < 1 - ROUNDING, low < 1 - ROUNDING and high > 1 + ROUNDING
    if (excludes and p_value > error * (1 + COMPUTED)) or (contains and p_value < error * (1 - COMPUTED)):
        how = "excludes" if excludes else "contains"
        raise UsageError(f"{path}.p_value is {p_value:g}, and its interval from {low:g} to {high:g} {how} 1")


def _check_alone(rows: Sequence[tuple[str, Change]]) -> None:
    """Checks that a p-value is adjusted for no others, if a table has no others.

    That of an equivalent row is 1; older builds did not adjust it.
    """
    for path, row in rows:
        if row.p_value is not None and row.verdict != "equivalent":
            check_number(f"{path}.p_value_adjusted", row.p_value_adjusted, row.p_value, "p_value", SMALLEST)


def _check_sums(name: str, rows: Sequence[Change], whole: Change) -> None:
    """Checks that the times and counts of rows add up to those of the device time."""
    for side in ("baseline", "candidate") if rows else ():
        known = [one for row in rows if (one := getattr(row, side)) is not None]
        for key in ("total_ns", "count"):
            total, expected = sum(getattr(one, key) for one in known), getattr(getattr(whole, side), key, 0)
            if total != expected:
                raise UsageError(f"{side}.{key} of {name} adds up to {total}, and that of device_time is {expected}")


def _check_categories(found: Comparison) -> None:
    """Checks that the kernels of a category add up to it.

    A kernel has the category of its candidate, so that the baseline may have other times.
    """
    for key in ("total_ns", "count"):
        totals: Counter[str] = Counter()
        for kernel in found.kernels:
            totals[kernel.category] += getattr(kernel.candidate, key, 0)
        for number, row in enumerate(found.categories):
            total = getattr(row.candidate, key, 0)
            if total != totals[row.name]:
                known = f"{total}, and its kernels add up to {totals[row.name]}"
                raise UsageError(f"categories[{number}].candidate.{key} is {known}")


def _check_change(path: str, row: Change) -> None:
    """Checks that a change of captures is that of the times beside it."""
    before, after = _times(row)
    if row.delta_ns != after - before:
        raise UsageError(f"{path}.delta_ns is {row.delta_ns}, not the difference, {after - before}")
    if row.ratio is not None:
        check_number(f"{path}.ratio", row.ratio, after / before if before else None, "the times")
    interval = (row.ratio_ci_low, row.ratio_ci_high, row.delta_ci_low_ns, row.delta_ci_high_ns)
    if row.p_value is None and any(one is not None for one in interval):
        raise UsageError(f"{path} has an interval and no p_value")
    for name, side in (("baseline", row.baseline), ("candidate", row.candidate)):
        if row.p_value is None and side is not None and side.n_repeats:
            raise UsageError(f"{path} has no p_value, and {name}.n_repeats is {side.n_repeats}")
    presence = "appeared" if row.baseline is None else "vanished" if row.candidate is None else "both"
    if row.presence != presence:
        raise UsageError(f"{path}.presence is {row.presence}, not {presence}")


def _check_names(path: str, row: Kernel) -> None:
    """Checks that a kernel has a name on its sides, and is shown by one of them."""
    names = {"baseline": row.baseline_name, "candidate": row.candidate_name}
    for side, name in names.items():
        if (name is None) != (getattr(row, side) is None):
            raise UsageError(f"{path}.{side}_name is {shown(name)}, and presence is {row.presence}")
    if row.name not in names.values():
        known = " and ".join(shown(name) for name in names.values() if name is not None)
        raise UsageError(f"{path}.name is {shown(row.name)}, and on the sides it is {known}")
    matched_by = "name" if row.baseline_name == row.candidate_name else "shape" if None not in names.values() else None
    if row.matched_by != matched_by:
        raise UsageError(f"{path}.matched_by is {shown(row.matched_by)}, and the names of the sides give {matched_by}")


def _check_launches(path: str, row: Change, found: Comparison) -> None:
    """Checks that the launches of a side are its count by the basis.

    Its repeats are captures.
    """
    for name, side, whole in (
        ("baseline", row.baseline, found.baseline),
        ("candidate", row.candidate, found.candidate),
    ):
        by = whole.iterations if found.basis == "per_iteration" else whole.captures
        # The first documents have neither a basis nor these numbers.
        if side is not None and by and found.basis is not None:
            check_number(f"{path}.{name}.launches", side.launches, side.count / by, "count")
        # With fewer captures there is no verdict.
        if side is not None and whole.captures is not None and side.n_repeats > whole.captures:
            count = f"{side.n_repeats}, and the side has captures {whole.captures}"
            raise UsageError(f"{path}.{name}.n_repeats is {count}")


def _times(row: Change) -> tuple[int, int]:
    before, after = (0 if side is None else side.total_ns for side in (row.baseline, row.candidate))
    return before, after


def _check_shown(path: str, row: Change, rounding_ns: int) -> None:
    """Checks that captures with the ratio that is shown can have this interval.

    The ratio is that of arithmetic means of the captures, the interval that of geometric means. Both kinds lie among
    the captures. Of n numbers with the standard error e, none is farther than (n - 1) e from their mean, and the
    interval is wider than e.
    """
    low, ratio, high, (before, after) = row.ratio_ci_low, row.ratio, row.ratio_ci_high, _times(row)
    if not low or not high or not ratio or row.baseline is None or row.candidate is None:
        return
    logarithms = math.log(low), math.log(high)
    reach = math.hypot(row.baseline.n_repeats - 1, row.candidate.n_repeats - 1) * (logarithms[1] - logarithms[0]) / 2
    reach += COMPUTED
    # Times are rounded to nanoseconds, and sums of them as often as there are kernels.
    for side in (before, after):
        reach += math.log(side / (side - rounding_ns)) if side > rounding_ns else math.inf
    if abs(math.log(ratio) - sum(logarithms) / 2) > reach:
        raise UsageError(f"{path}.ratio is {ratio:g}, and its interval from {low:g} to {high:g} is that of other times")


def _check_difference(path: str, row: Change, rounding_ns: int) -> None:
    """Checks that captures with the difference that is shown can have its interval.

    The reasons are those of `_check_shown`; the interval is that of arithmetic means.
    """
    low, high, (before, after) = row.delta_ci_low_ns, row.delta_ci_high_ns, _times(row)
    if low is None or high is None or row.baseline is None or row.candidate is None:
        return
    reach = math.hypot(row.baseline.n_repeats - 1, row.candidate.n_repeats - 1) * (high - low) / 2
    reach += 2 * rounding_ns + COMPUTED * (before + after)
    if abs(row.delta_ns - (low + high) / 2) > reach:
        interval = f"its interval from {low:g} to {high:g}"
        raise UsageError(f"{path}.delta_ns is {row.delta_ns}, and {interval} is that of other times")
