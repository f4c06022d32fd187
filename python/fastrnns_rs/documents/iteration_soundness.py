"""Consistency checks of the iterations of a summary and their outliers."""

from __future__ import annotations

from itertools import pairwise
from math import inf
from operator import attrgetter
from statistics import quantiles
from typing import TYPE_CHECKING

from fastrnns_rs.documents.tolerances import COMPUTED
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrnns_rs.documents.summary import SummaryDocument
    from fastrnns_rs.documents.summary_ranges import IterationPart, IterationRow, IterationStatistics

#: Fewest iterations of a group with outliers, and most differences of one.
_FEWEST, _MOST_DIFFERENCES = 10, 5
#: Times below this have fences without rounding errors.
_EXACT = 2**49


def check_iterations(found: SummaryDocument, work_ns: float) -> None:
    """Rejects iterations that contradict the devices, and wrong outliers.

    Args:
        found: Summary.
        work_ns: Time of all kernels and copies of its devices; infinite if unknown.

    Raises:
        UsageError: If there is such an iteration; the message names its path.
    """
    starts, ends = [one.start_ns for one in found.devices], [one.end_ns for one in found.devices]
    used_ns = max(ends, default=0) - min(starts, default=0)
    groups: dict[tuple[str | None, str | None], dict[str, IterationRow]] = {}
    for place, row in enumerate(found.iterations):
        path = f"iterations[{place}]"
        groups.setdefault((row.runner, row.phase), {})[path] = row
        _check_activities(path, row, used_ns, work_ns)
        # A phase may end after its iteration, and have more activities.
        for number, part in enumerate(row.parts):
            _check_activities(f"{path}.parts[{number}]", part, used_ns, work_ns)
        if row.differences and not row.outlier:
            raise UsageError(f"{path} has differences, and is no outlier")
    known = {(one.runner, one.phase) for one in found.iteration_statistics}
    if len(known) < len(found.iteration_statistics):
        raise UsageError("iteration_statistics has a runner and a phase twice")
    for place, (one, other) in enumerate(pairwise(found.iterations), 1):
        if other.start_ns < one.start_ns:
            path = f"iterations[{place}].start_ns"
            raise UsageError(f"{path} is {other.start_ns}, before that of the iteration before it, {one.start_ns}")
    for of, rows in groups.items():
        if of not in known:
            raise UsageError(f"{next(iter(rows))} has a runner and a phase that iteration_statistics do not have")
    for group in found.iteration_statistics:
        _check_outliers(group, groups.get((group.runner, group.phase), {}))


def _check_activities(path: str, row: IterationRow | IterationPart, used_ns: int, work_ns: float) -> None:
    for key, most, of in (
        ("gpu_ns", used_ns, "devices were used for"),
        ("gpu_time_ns", work_ns, "kernels and copies of devices take"),
    ):
        value = getattr(row, key)
        # Version 1.1 has the busy time only.
        if value is None:
            continue
        if row.gpu_busy_ns > value:
            raise UsageError(f"{path}.gpu_busy_ns is {row.gpu_busy_ns}, above {key}, {value}")
        if value > most:
            raise UsageError(f"{path}.{key} is {value}, and {of} {most} ns")


def _check_outliers(group: IterationStatistics, rows: dict[str, IterationRow]) -> None:
    """Checks outliers, and their differences from the median iteration.

    Args:
        group: Statistics of the iterations.
        rows: Iterations by path, in their order.
    """
    # Version 1.1 found outliers by another rule. It has no GPU spans.
    if not rows or any(row.gpu_ns is None or row.gpu_time_ns is None for row in rows.values()):
        return
    time = attrgetter("duration_ns" if group.measure == "host_ns" else "gpu_ns")
    low, high, slack = _find_fences([time(row) for row in rows.values()])
    # The lower median, and the first of equal times.
    usual = sorted(rows.values(), key=time)[(len(rows) - 1) // 2]
    for path, row in rows.items():
        # An iteration on a fence may be an outlier or not, where quartiles are rounded.
        inside = slack if row.outlier else -slack
        if row.outlier is (low + inside <= time(row) <= high - inside):
            kind = f"{'an' if row.outlier else 'no'} outlier of {len(rows)} iterations"
            why = (
                f"their fences are {low:.9g} and {high:.9g} ns" if len(rows) >= _FEWEST else f"outliers need {_FEWEST}"
            )
            raise UsageError(f"{path} is {kind}, and {why}")
        delta = sum(each.delta_ns for each in row.differences)
        expected = (row.gpu_time_ns or 0) - (usual.gpu_time_ns or 0)
        # With the most differences there may be others.
        if row.outlier and len(row.differences) < _MOST_DIFFERENCES and delta != expected:
            of = "gpu_time_ns differs from that of the median iteration"
            raise UsageError(f"{path}.differences add up to {delta} ns, and its {of} by {expected} ns")


def _find_fences(times: Sequence[int]) -> tuple[float, float, float]:
    """Returns Tukey's far fences, and their rounding error; few have none."""
    if len(times) < _FEWEST:
        return -inf, inf, 0.0
    below, _, above = quantiles(times, n=4, method="inclusive")
    # Quartiles of integers are quarters, which floats of this size have exactly.
    slack = 0.0 if max(times) < _EXACT else COMPUTED * above
    return below - 3 * (above - below), above + 3 * (above - below), slack
