"""Figures that only `compare --wide` shows, such as ratios and means."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fastrnns_rs.escaping import visible
from fastrnns_rs.views import figures
from fastrnns_rs.views.comparison import conclusions, sides, words
from fastrnns_rs.views.comparison.packed_table import packed
from fastrnns_rs.views.comparison.words import UNKNOWN
from fastrnns_rs.views.screen import Line, joined, wrapped_lines
from fastrnns_rs.views.table import Column
from fastrnns_rs.views.units import percent, ratio

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fastrnns_rs.documents.comparison import Comparison, Figures, Row

_FOUR_DECIMALS = (0.01, 100.0)
#: Smaller probabilities have an exponent.
_LEAST_PROBABILITY = 1e-4


def lines(comparison: Comparison, limit: int) -> list[Line]:
    """Returns a second table of all rows, then the method and remarks.

    Args:
        comparison: Comparison of runs with at least one row.
        limit: Width of the terminal.
    """
    named = words.named_rows(comparison)
    columns, others = _columns(comparison), _statistics(comparison)
    parts = [_table([*columns, *others], named, limit)]
    if any(not line.text for line in parts[0]):
        # Where not all columns fit, the other statistics are next to each other.
        parts = [_table(columns, named, limit), _table(others, named, limit)]
    return [*joined(parts), Line(""), *wrapped_lines(_remarks(comparison, named), limit)]


def _table(columns: Sequence[Column], named: Sequence[words.NamedRow], limit: int) -> list[Line]:
    names = [(one.name, one.name) for one in named]
    return packed("runner/phase", names, columns, [one.row for one in named], limit)


def _columns(comparison: Comparison) -> list[Column]:
    level = percent(comparison.method.confidence_level)
    return [
        Column("ratio", lambda row: _ratio(row.ratio), right=True),
        Column(f"{level} CI", lambda row: _interval(row.ratio_ci_low, row.ratio_ci_high), right=True),
        Column("Cliff's, delta", lambda row: _delta(row.cliffs_delta), right=True),
        Column("p", lambda row: _probability(row.p_value), right=True),
        Column("adjusted, p", lambda row: _probability(row.p_value_adjusted), right=True),
        Column("procs", words.processes, right=True),
        Column("peak MiB, baseline", lambda row: _peak(row.baseline), right=True),
        Column("peak MiB, candidate", lambda row: _peak(row.candidate), right=True),
    ]


def _statistics(comparison: Comparison) -> list[Column]:
    """Returns the columns of the statistics that are not judged."""
    level = percent(comparison.method.confidence_level)
    names = [name for name in words.STATISTICS if name != comparison.method.statistic]
    return [Column(f"{name}, % [{level} CI]", partial(_change, name), right=True) for name in names]


def _change(statistic: str, row: Row) -> str:
    """Formats the change of a statistic that is not judged."""
    found = dict(words.other_statistics(row)).get(statistic)
    return UNKNOWN if found is None else figures.change(found.ratio, found.ratio_ci_low, found.ratio_ci_high)


def _delta(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:+.2f}"


def _ratio(value: float | None) -> str:
    """Formats a ratio with four decimals.

    A very small or large ratio, and a ratio near 1, have the digits that other formats show.
    """
    if value is None:
        return UNKNOWN
    text = f"{value:.4f}"
    is_one = float(text) == 1 and float(ratio(value)) != 1
    return text if _FOUR_DECIMALS[0] <= value < _FOUR_DECIMALS[1] and not is_one else ratio(value)


def _interval(low: float | None, high: float | None) -> str:
    return UNKNOWN if low is None or high is None else f"[{_ratio(low)}, {_ratio(high)}]"


def _probability(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:.1e}" if 0 < value < _LEAST_PROBABILITY else f"{value:.4f}"


def _peak(side: Figures | None) -> str:
    if side is None or side.peak_memory_bytes is None:
        return UNKNOWN
    return figures.mebibytes(side.peak_memory_bytes)


def _remarks(comparison: Comparison, named: Sequence[words.NamedRow]) -> Iterator[str]:
    method = comparison.method
    yield f"method: {visible(method.name)}, {words.method(method)}"
    if comparison.geometric_mean is not None:
        yield f"geometric mean: of {words.describe_mean(comparison)}, both phases of each together"
    for label, names in conclusions.by_text((one.row.label, one.name) for one in named if one.row.label).items():
        yield f"{conclusions.listed(names)}: {visible(label)}"
    yield from (f"differs: {one}" for one in sides.all_differences(comparison))
