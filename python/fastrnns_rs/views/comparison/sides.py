"""Context of a comparison of runs: the two sides and their differences."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.escaping import visible
from fastrnns_rs.views import kernel_names
from fastrnns_rs.views.comparison import words
from fastrnns_rs.views.prose import start_time
from fastrnns_rs.views.screen import Line
from fastrnns_rs.views.table import fit
from fastrnns_rs.views.text import pad, width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fastrnns_rs.documents.comparison import Compared, Comparison, Difference, Figures

_LABEL, _STATISTIC = "differs    ", "statistic  "
_VARIABLES = "variables."
_GAP = 2
#: A path is not cut to fewer columns while another column can be left out.
_LEAST_LABEL = 12
_SHORTEST = 8
#: Order in which columns are left out on a narrow terminal: the date first.
_OPTIONAL = (2, 3)


def lines(comparison: Comparison, limit: int) -> list[Line]:
    """Returns the lines of both sides, the statistic, and the differences.

    The statistic has a line if it is not the median.

    Args:
        comparison: Comparison of runs.
        limit: Width of the terminal.
    """
    counts = usual_processes(comparison)
    named = (("baseline", comparison.baseline, counts[0]), ("candidate", comparison.candidate, counts[1]))
    rows = [[name, visible(side.label), _start(side), _processes(side, count)] for name, side, count in named]
    found = [Line(text, "dim") for text in align_sides(rows, limit, _OPTIONAL, paths=are_paths(comparison))]
    if statistic := words.judged_statistic(comparison):
        found.append(Line(f"{_STATISTIC}{statistic}", "bold"))
    return [*found, *difference_line(comparison.environment_differences, limit)]


def difference_line(found: Sequence[Difference], limit: int) -> list[Line]:
    """Returns a line with the first differences, and the number of the others.

    Nothing without differences.
    """
    return [Line(_differences(found, limit), "dim")] if found else []


def align_sides(rows: list[list[str]], limit: int, optional: Sequence[int] = (), *, paths: bool = True) -> list[str]:
    """Aligns the cells of both sides, and shortens their labels as far as needed.

    Args:
        rows: Cells of each side; the second cell is the label.
        limit: Width of the terminal.
        optional: Columns that are left out on a narrow terminal, in this order.
        paths: True if the labels are those of files.
    """

    def others(places: Iterable[int]) -> int:
        return sum(max(width(row[place]) for row in rows) + _GAP for place in places if place != 1)

    places = [place for place in range(len(rows[0])) if any(row[place] for row in rows)]
    for place in optional:
        wanted = min(_LEAST_LABEL, max(width(row[1]) for row in rows))
        if place in places and others(places) + wanted > limit:
            places.remove(place)
    room = max(limit - others(places), 1)
    labels = short_labels([row[1] for row in rows], room, paths=paths)
    shown = [[label if place == 1 else row[place] for place in places] for row, label in zip(rows, labels, strict=True)]
    widths = [max(map(width, column)) for column in zip(*shown, strict=True)]
    return ["  ".join(pad(cell, to) for cell, to in zip(row, widths, strict=True)).rstrip() for row in shown]


def are_paths(comparison: Comparison) -> bool:
    """Returns True if the labels are those of files.

    Both sides of an `ab` are in one file, and their labels may contain a path as the value of a variable.
    """
    first, second = comparison.baseline, comparison.candidate
    return first.files != second.files or first.label in first.files


def short_labels(labels: Sequence[str], room: int, *, paths: bool) -> list[str]:
    """Shortens the labels of both sides in the middle, and keeps them apart.

    Paths that are too long lose their folders if the names of the files differ.
    """
    labels = [visible(one) for one in labels]
    files = [one.rpartition("/")[2] if paths and width(one) > room else one for one in labels]
    if len({*files}) == len({*labels}) and all(files):
        labels = files
    found = [fit(one, max(room, _SHORTEST)) for one in labels]
    if len({*found}) < len({*labels}):
        found = kernel_names.shortened([(one, one) for one in labels], max(room, _SHORTEST))
    return found


def usual_processes(comparison: Comparison) -> tuple[int, int]:
    """Returns the number of processes that most rows of each side have.

    The number is 0 for rows without a process level.
    """

    def usual(sides: Iterable[Figures | None]) -> int:
        counted = Counter(side.n_processes for side in sides if side is not None and side.n_processes)
        return counted.most_common(1)[0][0] if counted else 0

    return usual(row.baseline for row in comparison.rows), usual(row.candidate for row in comparison.rows)


def all_differences(comparison: Comparison) -> list[str]:
    """Returns differences, such as `OMP_WAIT_POLICY: unset → ACTIVE`."""
    return [_difference(one) for one in comparison.environment_differences]


def _start(side: Compared) -> str:
    count = len(side.files)
    # Only run files record their start: `2026-11-21T16:02:00Z`.
    time = f"{start_time(visible(side.created_utc))}" if side.created_utc else ""
    if count == 1:
        return time
    return f"{count:,} runs until {time}" if time else f"{count:,} files"


def _processes(side: Compared, count: int) -> str:
    if not count:
        return ""
    sessions = f" in {side.sessions:,} sessions" if side.sessions and side.sessions > 1 else ""
    return f"{counted(count, 'process', 'processes')} per runner{sessions}"


def _differences(found: Sequence[Difference], limit: int) -> str:
    texts = [_difference(one) for one in found]
    wide, shown = width(_LABEL), 0
    for count, text in enumerate(texts, 1):
        wide += width(text) + len(", " if count > 1 else "")
        if wide > limit:
            break
        if wide + len(_more(len(texts) - count)) <= limit:
            shown = count
    if shown:
        return f"{_LABEL}{', '.join(texts[:shown])}{_more(len(texts) - shown)}"
    more = _more(len(texts) - 1)
    return f"{_LABEL}{fit(texts[0], max(limit - width(_LABEL) - width(more), 1))}{more}"


def _more(count: int) -> str:
    return f", {count:,} more" if count else ""


def _difference(one: Difference) -> str:
    is_variable = one.key.startswith(_VARIABLES)
    unknown = "unset" if is_variable else words.UNKNOWN
    values = (unknown if value is None else visible(words.value(value)) for value in (one.baseline, one.candidate))
    return f"{visible(one.key.removeprefix(_VARIABLES)) or words.value(one.key)}: {' → '.join(values)}"
