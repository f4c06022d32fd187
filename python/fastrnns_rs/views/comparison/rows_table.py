"""Table of a comparison of runs, with a row for each runner and phase."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fastrnns_rs.escaping import visible
from fastrnns_rs.views import figures, kernel_names
from fastrnns_rs.views.comparison import sides, words
from fastrnns_rs.views.comparison.words import UNKNOWN
from fastrnns_rs.views.headed_table import HeadedColumn, table_lines, total_width
from fastrnns_rs.views.interval_bars import LEAST_ROOM, MOST_ROOM, IntervalBars
from fastrnns_rs.views.scale import Scale
from fastrnns_rs.views.screen import Line
from fastrnns_rs.views.text import pad, width
from fastrnns_rs.views.units import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrnns_rs.documents.comparison import Comparison, Figures

MEAN = "geometric mean"
#: Width of the names, which keeps tables with short names alike, and widths under which a column is left out.
_NAME, _SHORT_NAME, _LEAST_NAME = 20, 16, 8
#: Spaces before the bars.
_GAP = 2
#: Width of `  ×2.50 [×1.35, ×4.61]`, and of the number before the interval.
_CHANGE, _NUMBER = 22, 5


def lines(comparison: Comparison, limit: int, most: int | None = None, *, bars: bool = False) -> list[Line]:
    """Returns two lines of headings, then the rows.

    On a narrow terminal, intervals and then times are left out. Names that are too long are shortened. A wide terminal
    may have the intervals as bars too.

    Args:
        comparison: Comparison of runs with at least one row.
        limit: Width of the terminal.
        most: Maximum number of rows, after which the others are counted; None for all rows.
        bars: True adds the bars if they fit.
    """
    named = words.named_rows(comparison)
    left = 0 if most is None else max(len(named) - most, 0)
    shown = named[: len(named) - left]
    mean = comparison.geometric_mean
    names = [visible(one.name) or '""' for one in shown]
    wanted = max(map(width, (*names, MEAN if mean else "")))
    for intervals, times in ((True, True), (False, True), (False, False)):
        columns = make_columns(comparison, shown, intervals=intervals, times=times)
        if limit - total_width(columns, natural=True) >= min(wanted, _SHORT_NAME):
            break
    natural = limit - total_width(columns) < wanted
    room = max(min(max(wanted, _NAME), limit - total_width(columns, natural=natural)), _LEAST_NAME)
    labels = kernel_names.shortened([(one, one) for one in names], room) + ([MEAN] if mean else [])
    free = limit - room - total_width(columns, natural=natural) - _GAP
    if bars and free >= LEAST_ROOM:
        columns.append(_bars(comparison, [one.row for one in shown], min(free, MOST_ROOM)))
    found = table_lines(["", name_heading(comparison), *labels], room, columns, natural=natural)
    if left:
        found.insert(2 + len(shown), Line(f"… {left:,} more"))
    return found


def name_heading(comparison: Comparison) -> str:
    """Returns `runner/phase`; files of other tools have no phases."""
    return "runner/phase" if any(row.phase for row in comparison.rows) else "runner"


def make_columns(
    comparison: Comparison, shown: Sequence[words.NamedRow], *, intervals: bool, times: bool
) -> list[HeadedColumn]:
    """Returns the columns but the names.

    The cells of the geometric mean are last, where there is a geometric mean.

    Args:
        comparison: Comparison of runs.
        shown: Rows to show.
        intervals: True adds the intervals of changes.
        times: True adds the times of both sides.
    """
    rows = [one.row for one in shown]
    mean = comparison.geometric_mean
    extra = [""] if mean else []
    found = []
    if times:
        both = [[row.baseline for row in rows], [row.candidate for row in rows]]
        scale = Scale([one.estimate_ns for side in both for one in side if one is not None])
        for name, side in zip(("baseline", "candidate"), both, strict=True):
            cells = figures.aligned([time(one, scale) for one in side])
            found.append(HeadedColumn((name, scale.unit), [*cells, *extra]))
    usual = sides.usual_processes(comparison)
    heading = f"% [{percent(comparison.method.confidence_level)} CI]" if intervals else "%"
    warned = {name for one in words.own_warnings(comparison) for name in one.rows}
    marks = [one.name in warned for one in shown]
    changes = _changes([*rows, *([mean] if mean else [])], [*marks, False], intervals=intervals)
    found.append(HeadedColumn(("change", heading), changes, right=False, least=_CHANGE if intervals else 0))
    verdicts = [words.verdict(row) + _counts(row.baseline, row.candidate, usual) for row in rows]
    found.append(HeadedColumn(("", "verdict"), [*verdicts, *extra], right=False))
    return found


def _bars(comparison: Comparison, rows: Sequence[words.Judged], room: int) -> HeadedColumn:
    """Returns the column of intervals as bars.

    The axis of ratios is logarithmic and has the margin.
    """
    mean = comparison.geometric_mean
    intervals = [
        None if middle is None else (_log(one.ratio_ci_low), middle, _log(one.ratio_ci_high))
        for one in [*rows, *([mean] if mean else [])]
        for middle in [_log(one.ratio)]
    ]
    margin = comparison.method.margin
    drawn = IntervalBars(intervals, (-math.log1p(margin), math.log1p(margin)), room)
    low, high = (figures.change_with_unit(math.exp(end)) for end in (drawn.low, drawn.high))
    heading = f"{low}{pad(high, room - width(low), right=True)}"
    return HeadedColumn((heading, drawn.axis()), drawn.texts(), right=False, least=room + _GAP)


def _log(ratio: float | None) -> float | None:
    return None if ratio is None or ratio <= 0 else math.log(ratio)


def time(side: Figures | None, scale: Scale) -> str:
    """Formats the time of a side, with the digits that its interval supports."""
    if side is None:
        return UNKNOWN
    return figures.estimate(side.estimate_ns, side.ci_low_ns, side.ci_high_ns, scale.ns)


def _changes(found: Sequence[words.Judged], marks: Sequence[bool], *, intervals: bool) -> list[str]:
    """Formats changes with their intervals, aligned at the decimal point.

    A mark follows the change of a row that a warning concerns.
    """
    texts = [
        UNKNOWN
        if one.ratio is None
        else figures.change(one.ratio, *((one.ratio_ci_low, one.ratio_ci_high) if intervals else ()))
        for one in found
    ]
    parts = [text.partition(" ") for text in texts]
    numbers = figures.aligned([number for number, _, _ in parts])
    room = max(_NUMBER, *map(width, numbers))
    return [
        f"{pad(number, room, right=True)}{gap}{interval}".rstrip() + (" !" if mark and number != UNKNOWN else "")
        for number, (_, gap, interval), mark in zip(numbers, parts, marks, strict=False)
    ]


def _counts(baseline: Figures | None, candidate: Figures | None, usual: tuple[int, int]) -> str:
    """Returns ` (4+5)` for a row with other numbers of processes than the head."""
    counts = tuple(0 if side is None else side.n_processes for side in (baseline, candidate))
    if counts == usual or baseline is None or candidate is None or 0 in counts:
        return ""
    return f" ({counts[0]}+{counts[1]})"
