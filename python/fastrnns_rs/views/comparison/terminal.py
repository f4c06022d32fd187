"""Terminal text of a comparison, in aligned columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.comparison import columns, words
from fastrnns_rs.views.comparison.captures_glance import glance
from fastrnns_rs.views.prose import WIDTH
from fastrnns_rs.views.table import cells, lines

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Change, Comparison

#: Longer names are cut in the middle, because templates differ at either end.
_LONGEST_NAME = 90
_TAIL = 36


def terminal(comparison: Comparison, *, wide: bool = False, width: int | None = None) -> str:
    """Formats a comparison for a terminal.

    The text contains the sides, rows, notes on rows, environment differences and warnings.

    Args:
        comparison: The comparison.
        wide: True lists each kernel of captures with its full name. False compares captures briefly.
        width: Width of the terminal. None is 80 for the brief comparison, and unlimited otherwise.
    """
    if comparison.kind == "capture" and not wide:
        return glance(comparison, width or WIDTH)
    blocks = [_head(comparison)]
    if comparison.kind == "capture":
        blocks += _captures(comparison)
    elif not comparison.rows:
        blocks.append(["nothing to compare"])
    else:
        blocks += _rows(comparison)
    if differences := comparison.environment_differences:
        sides = [(one.key, words.value(one.baseline), words.value(one.candidate)) for one in differences]
        shown = (f"  {_text(key)}: {visible(before)} → {visible(after)}" for key, before, after in sides)
        blocks.append(["Environment differences", *shown])
    blocks.append(
        [
            f"{'' if label == 'warning' else '  '}{label}: {_text(text)}"
            for notice in comparison.warnings
            for label, text in words.warning(notice)
        ]
    )
    return "\n".join("".join(line + "\n" for line in block) for block in blocks if block)


def _head(comparison: Comparison) -> list[str]:
    method = comparison.method
    return [
        *([words.FORCED] if method.forced else []),
        f"{_text(comparison.baseline.label)} → {_text(comparison.candidate.label)}",
        f"{_text(method.name)}, {words.method(method)}",
    ]


def _rows(comparison: Comparison) -> Iterator[list[str]]:
    named = words.named_rows(comparison)
    shown = columns.of_rows(comparison, _text)
    drawn = cells(shown, named)
    if (mean := comparison.geometric_mean) is not None:
        figures = (words.ratio(mean.ratio), words.interval(mean), words.change(mean.ratio))
        drawn.append([f"geometric mean of {mean.n}", None, None, None, *figures])
    yield lines(shown, drawn)
    yield [f"{_text(one.name)}: {_text(note) if foreign else note}" for one in named for note, foreign in one.notes()]
    sessions = words.sessions(comparison)
    yield [words.counts(comparison), *([] if sessions is None else [sessions])]


def _captures(comparison: Comparison) -> Iterator[list[str]]:
    kernels, more = columns.kernels(comparison)
    whole = [] if comparison.device_time is None else [comparison.device_time]
    yield [columns.heading(comparison), *columns.iteration_medians(comparison)]
    yield [*_changes(comparison, "kernel", [*whole, *kernels]), *([] if more is None else [more])]
    renamed = [(one.name, former) for one in kernels if (former := columns.former_name(one)) is not None]
    yield [f"{visible(name)} was {visible(former)}, of the same shape" for name, former in renamed]
    yield _changes(comparison, "category", comparison.categories)
    yield [words.counts(comparison)]


def _changes(comparison: Comparison, name: str, changes: list[Change]) -> list[str]:
    """Returns the lines of kernels or categories, without empty columns."""
    shown = columns.of_changes(comparison, name, visible)
    rows = [[_cut(visible(cell or "")) for cell in row] for row in cells(shown, changes)]
    wanted = [place for place in range(len(shown)) if any(row[place] for row in rows)]
    return lines([shown[place] for place in wanted], [[row[place] for place in wanted] for row in rows])


def _cut(name: str) -> str:
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[: _LONGEST_NAME - _TAIL - 1]}…{name[-_TAIL:]}"


def _text(text: str) -> str:
    return visible(text) or '""'
