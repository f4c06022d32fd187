"""Checks of a comparison of runs against the processes that it records."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from fastrnns_rs._core import benjamini_hochberg, compare_samples
from fastrnns_rs.documents.codec import has_keys_since, shown
from fastrnns_rs.documents.combined_ratio import combine_ratios
from fastrnns_rs.documents.replicates import session_levels, vary
from fastrnns_rs.documents.side_soundness import find_runner
from fastrnns_rs.documents.table_correction import counted_p_values, is_withdrawn
from fastrnns_rs.documents.tolerances import check_number
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs._core import Comparison as SampleComparison
    from fastrnns_rs.documents.comparison import Change, Comparison, Figures, Method, Row, RowBasis, StatisticChange

    #: Time of each process of both sides.
    Times = tuple[Sequence[float], Sequence[float]]

#: Numbers of this size and below, such as small p-values, have absolute rounding errors.
SMALLEST = 1e-3
#: Numbers of processes from here on may be more than are suggested.
_MOST_PROCESSES = 100_000
#: Results of a row that has the times of both sides.
_COMPARED = (
    *("ratio", "ratio_ci_low", "ratio_ci_high", "shift_ns", "cliffs_delta", "p_value", "p_value_adjusted", "label"),
    *("verdict", "conditional_verdict", "additional_processes", "required_processes", "basis", "history_sessions"),
    *("session_stddev", "session_stderr", "session_degrees_of_freedom", "median", "mean", "p95"),
)
_INTERVAL = ("ratio_ci_low", "ratio_ci_high", "p_value")


def check_verdicts(found: Comparison) -> None:
    """Rejects numbers and verdicts that are not those of the processes.

    No document records the standard error that a history gives for a statistic that is not judged.

    Raises:
        UsageError: If there is such a number or verdict; the message names its path.
    """
    for number, row in enumerate(found.rows):
        _check_row(f"rows[{number}]", row, found.method)
    # The first builds had the mean of all rows.
    if found.geometric_mean and all(row.p_value is None for row in found.rows) and has_keys_since("1.3", found):
        raise UsageError("geometric_mean has no rows")
    if any(_times(row) is not None for row in found.rows if row.p_value is not None):
        check_adjusted("rows", found.rows, found.method.false_discovery_rate)
        _check_mean(found)


def _check_row(path: str, row: Row, method: Method) -> None:
    for name, side in (("baseline", row.baseline), ("candidate", row.candidate)):
        if side is not None and side.n_samples < side.n_processes:
            counts = f"{side.n_samples}, and n_processes is {side.n_processes}"
            raise UsageError(f"{path}.{name}.n_samples is {counts}")
    if row.baseline is None or row.candidate is None:
        for key in _COMPARED:
            if getattr(row, key) is not None:
                raise UsageError(f"{path}.{key} is not null, and a side has no times")
        return
    judged, medians = _times(row), _times(row, medians=True)
    if judged is None or medians is None:
        return
    error, degrees_of_freedom = row.session_stderr, row.session_degrees_of_freedom
    known = None if error is None or degrees_of_freedom is None else (error, degrees_of_freedom)
    # Pairs that do not vary have no statistics, and the ratio of the row is that of all processes.
    is_paired_ratio = row.p_value is not None or len(judged[0]) == len(judged[1])
    names = ("ratio", "cliffs_delta", "shift") if is_paired_ratio else ("cliffs_delta", "shift")
    found = _check_numbers(path, row, row, judged, method, names, known)
    _check_word(path, row, found if row.p_value is not None else None, method)
    _check_more_processes(path, row, found, method)
    if row.median is not None:
        _check_numbers(f"{path}.median", row, row.median, medians, method, ("ratio",))


def _times(row: Row, *, medians: bool = False) -> Times | None:
    """Returns the judged statistic of each replicate, or its median; None if unknown."""
    first, second = (find_replicates(side, row.basis, medians=medians) for side in (row.baseline, row.candidate))
    return (first, second) if first and second else None


def find_replicates(side: Figures | None, basis: RowBasis | None, *, medians: bool = False) -> Sequence[float]:
    """Returns the judged statistic of each process or session of a side.

    Args:
        side: Side of a row.
        basis: Basis of the row.
        medians: True for the median in place of the judged statistic.

    Returns:
        Times in nanoseconds; empty if they, or the sessions of the processes, are unknown.
    """
    if side is None:
        return ()
    times = side.process_medians_ns if medians else side.process_levels_ns or side.process_medians_ns
    if basis != "sessions" or not times:
        return times
    return session_levels(times, side.process_sessions) if side.process_sessions else ()


def _check_numbers(
    path: str,
    row: Row,
    stored: Row | StatisticChange,
    times: Times,
    method: Method,
    names: Sequence[str],
    session_error: tuple[float, float] | None = None,
) -> SampleComparison:
    """Rejects numbers that are not those of the processes.

    Returns:
        Statistics of the processes.
    """
    paired = row.basis == "interleaved" and method.name.startswith(("paired", "anytime"))
    # Processes without a partner, where a run ended early, are the last of a side.
    count = min(map(len, times))
    pairs = (times[0][:count], times[1][:count])

    def check(times: Times, *, paired: bool) -> SampleComparison:
        found = _compare(path, times, method, session_error, paired=paired)
        expected: dict[str, float | None] = {name: getattr(found, name) for name in names}
        if row.basis != "history" or session_error is not None:
            error, _ = session_error or (0.0, 0.0)
            known = found.p_value is not None and vary(*times, paired=paired, session_error=error)
            expected |= {name: getattr(found, name) if known else None for name in _INTERVAL}
        for name, number in expected.items():
            key = "shift_ns" if name == "shift" else name
            # A difference near 0 has the rounding errors of the times.
            unit = max(times[0]) if name == "shift" else SMALLEST
            check_number(f"{path}.{key}", getattr(stored, key), number, "the processes", unit)
        return found

    try:
        return check(pairs if paired else times, paired=paired)
    except UsageError:
        # Rows of several runs of `ab` have no pairs, also beside rows that do.
        with suppress(UsageError):
            if paired:
                return check(times, paired=False)
        raise


def _compare(
    path: str, times: Times, method: Method, session_error: tuple[float, float] | None, *, paired: bool
) -> SampleComparison:
    try:
        return compare_samples(
            *times,
            margin=method.margin,
            confidence_level=method.confidence_level,
            session_error=session_error,
            paired=paired,
            anytime=paired and method.name.startswith("anytime"),
        )
    except (ValueError, ArithmeticError) as error:
        raise UsageError(f"{path} has processes that cannot be compared", reason=str(error)) from error


def _check_word(path: str, row: Row, alone: SampleComparison | None, method: Method) -> None:
    """Rejects a verdict that the processes and the whole table do not give."""
    expected = None if alone is None else alone.verdict
    if is_withdrawn(expected, row.p_value_adjusted, method.false_discovery_rate):
        expected = "inconclusive"
    conditional = row.basis == "two_sessions" and expected != "inconclusive"
    for key, word in (
        ("verdict", None if conditional else expected),
        ("conditional_verdict", expected if conditional else None),
    ):
        if getattr(row, key) != word:
            raise UsageError(f"{path}.{key} is {shown(getattr(row, key))}, and that of the processes is {shown(word)}")


def _check_more_processes(path: str, row: Row, alone: SampleComparison, method: Method) -> None:
    """Rejects numbers of processes for a verdict that are not those of the variation."""
    more, required = row.additional_processes, row.required_processes
    # Of a verdict that the table withdraws, the number is that of a higher confidence.
    is_own = not is_withdrawn(alone.verdict, row.p_value_adjusted, method.false_discovery_rate)
    expected = alone.additional_processes
    # On another machine, one more may be needed.
    if more is not None and is_own and (expected is None or abs(more - expected) > 1):
        raise UsageError(f"{path}.additional_processes is {more}, and that of the processes is {shown(expected)}")
    in_all = None if more is None else max(alone.n_baseline, alone.n_candidate) + more
    # Older documents have only the additional ones.
    if required is not None and required != in_all:
        raise UsageError(f"{path}.required_processes is {required}, and additional_processes is {shown(more)}")
    # More processes do not replace sessions. On another machine, the largest number may be too small.
    gains = row.p_value is not None and row.basis not in {"sessions", "history"}
    if more is None and is_own and gains and expected is not None and expected < _MOST_PROCESSES:
        raise UsageError(f"{path}.additional_processes is null, and that of the processes is {expected}")


def check_adjusted(name: str, table: Sequence[Row | Change], rate: float) -> None:
    """Rejects adjusted p-values that are not those of a whole table.

    Args:
        name: Key of the table in the document.
        table: Rows of the table.
        rate: False discovery rate of the verdicts.

    Raises:
        UsageError: If there is such a p-value; the message names its path.
    """
    rows = [(number, row, row.p_value) for number, row in enumerate(table) if row.p_value is not None]
    if not rows:
        return
    # Rows of captures have no conditions.
    verdicts = [row.verdict or getattr(row, "conditional_verdict", None) for _, row, _ in rows]
    values = counted_p_values((verdict, value) for verdict, (*_, value) in zip(verdicts, rows, strict=True))
    for (number, row, _), value in zip(rows, benjamini_hochberg(values, rate=rate).adjusted, strict=True):
        check_number(f"{name}[{number}].p_value_adjusted", row.p_value_adjusted, value, f"all {name}", SMALLEST)


def _check_mean(found: Comparison) -> None:
    """Rejects a geometric mean that is not that of the rows.

    This does not apply if the mean leaves out rows that conflict, as its number shows, nor to rows that differ in their
    timing mode, which the document does not record.
    """
    rows: list[tuple[Hashable, Row]] = [((find_runner(row), _find_device(row)), row) for row in found.rows]
    mean, stored = combine_ratios(rows), found.geometric_mean
    leaves_out = found.method.forced and mean is not None and (stored is None or stored.n < mean.n)
    if leaves_out or len({(key, row.phase) for key, row in rows}) < len(rows):
        return
    if mean is None or stored is None:
        if mean is not stored:
            raise UsageError("geometric_mean is null, and rows have p-values" if mean else "geometric_mean has no rows")
        return
    for name in ("ratio", "ratio_ci_low", "ratio_ci_high", "n"):
        check_number(f"geometric_mean.{name}", getattr(stored, name), getattr(mean, name), "the rows")


def _find_device(row: Row) -> str | None:
    """Returns the device of a row, with one name for each."""
    device = row.problem.device if row.problem else None
    return "cuda:0" if device == "cuda" else device
