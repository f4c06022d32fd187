"""Figures that only `compare --wide` shows: ratios, p-values and memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.escaping import visible
from fastrnns_rs.views import figures, kernel_names
from fastrnns_rs.views.comparison import conclusions, sides, words
from fastrnns_rs.views.comparison.words import UNKNOWN
from fastrnns_rs.views.prose import wrapped
from fastrnns_rs.views.screen import Line
from fastrnns_rs.views.text import pad, width
from fastrnns_rs.views.units import percent, ratio

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fastrnns_rs.documents.comparison import Comparison, Figures

    #: Two headings and the cells.
    Column = list[str]

_GAP = 2
_LEAST_NAME, _NAME = 8, 20
_FOUR_DECIMALS = (0.01, 100.0)
#: Smaller probabilities have an exponent.
_LEAST_PROBABILITY = 1e-4


def lines(comparison: Comparison, limit: int) -> list[Line]:
    """Returns a second table of all rows, then the method and remarks.

    The table has as many parts as the width of the terminal needs.

    Args:
        comparison: Comparison of runs with at least one row.
        limit: Width of the terminal.
    """
    named = words.named_rows(comparison)
    names = [visible(one.name) or '""' for one in named]
    left = [column for column in _columns(comparison, named) if any(cell != UNKNOWN for cell in column[2:])]
    widest = max(max(map(width, column)) + _GAP for column in left)
    # Names leave room for two columns.
    room = min(max(*map(width, names), _NAME), max(limit - 2 * widest, _NAME))
    room = max(min(room, limit - widest), _LEAST_NAME)
    labels = ["", "runner/phase", *kernel_names.shortened([(one, one) for one in names], room)]
    found: list[Line] = []
    while left:
        part: list[Column] = []
        free = limit - room
        while left and (not part or max(map(width, left[0])) + _GAP <= free):
            part.append(left.pop(0))
            free -= max(map(width, part[-1])) + _GAP
        found += [Line("")] if found else []
        found += _table(labels, part, room)
    return [*found, Line(""), *(Line(part) for text in _remarks(comparison, named) for part in wrapped(text, limit))]


def _table(labels: Sequence[str], columns: Sequence[Column], room: int) -> Iterator[Line]:
    widths = [max(map(width, column)) + _GAP for column in columns]
    for place, label in enumerate(labels):
        cells = [pad(column[place], to, right=True) for column, to in zip(columns, widths, strict=True)]
        # The first two lines are headings.
        yield Line((pad(label, room) + "".join(cells)).rstrip(), "bold" if place < 2 else "")  # noqa: PLR2004


def _columns(comparison: Comparison, named: Sequence[words.NamedRow]) -> list[Column]:
    rows = [one.row for one in named]
    level = percent(comparison.method.confidence_level)
    return [
        ["", "ratio", *(_ratio(row.ratio) for row in rows)],
        ["", f"{level} CI", *(_interval(row.ratio_ci_low, row.ratio_ci_high) for row in rows)],
        [
            "Cliff's",
            "delta",
            *(UNKNOWN if row.cliffs_delta is None else f"{row.cliffs_delta:+.2f}" for row in rows),
        ],
        ["", "p", *(_probability(row.p_value) for row in rows)],
        ["adjusted", "p", *(_probability(row.p_value_adjusted) for row in rows)],
        ["", "procs", *(words.processes(row) for row in rows)],
        ["peak MiB", "baseline", *(_peak(row.baseline) for row in rows)],
        ["peak MiB", "candidate", *(_peak(row.candidate) for row in rows)],
    ]


def _ratio(value: float | None) -> str:
    """Formats a ratio with four decimals, and a very small or large one with fewer."""
    if value is None:
        return UNKNOWN
    return f"{value:.4f}" if _FOUR_DECIMALS[0] <= value < _FOUR_DECIMALS[1] else ratio(value)


def _interval(low: float | None, high: float | None) -> str:
    return UNKNOWN if low is None or high is None else f"[{_ratio(low)}, {_ratio(high)}]"


def _probability(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:.1e}" if 0 < value < _LEAST_PROBABILITY else f"{value:.4f}"


def _peak(side: Figures | None) -> str:
    if side is None or side.peak_memory_bytes is None:
        return UNKNOWN
    return figures.figure(side.peak_memory_bytes / 2**20)


def _remarks(comparison: Comparison, named: Sequence[words.NamedRow]) -> Iterator[str]:
    method = comparison.method
    yield f"method: {visible(method.name)}, {words.method(method)}"
    if comparison.geometric_mean is not None:
        count = comparison.geometric_mean.n
        yield f"geometric mean: of {count:,} runner{'' if count == 1 else 's'}, both phases of each together"
    for label, names in conclusions.by_text((one.row.label, one.name) for one in named if one.row.label).items():
        yield f"{conclusions.listed(names)}: {visible(label)}"
    yield from (f"differs: {one}" for one in sides.all_differences(comparison))
