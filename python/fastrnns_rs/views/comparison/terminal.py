"""Screen of a comparison: context, table and conclusions, then warnings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.comparison import captures_glance, columns, conclusions, details, rows_table, sides, words
from fastrnns_rs.views.prose import WIDTH, warning_lines, wrapped
from fastrnns_rs.views.screen import Line, plain
from fastrnns_rs.views.table import cells, lines

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Change, Comparison

#: Longer names are cut in the middle, because templates differ at either end.
_LONGEST_NAME = 90
_TAIL = 36


def terminal(comparison: Comparison, *, wide: bool = False, width: int | None = None) -> str:
    """Formats a comparison for a terminal: the results, then the warnings.

    Args:
        comparison: The comparison.
        wide: True adds ratios, p-values, processes and memory of runs; it lists each kernel of captures with its full
            name.
        width: Width of the terminal; None for 80.
    """
    limit = width or WIDTH
    shown = results(comparison, limit, wide=wide)
    warnings = [
        *(
            Line(text)
            for one in words.own_warnings(comparison)
            for text in warning_lines(visible(one.code), one.message, one.evidence, one.hint, limit)
        ),
        *stored_warnings(comparison, limit),
    ]
    return plain([*shown, *([Line("")] if warnings else []), *warnings])


def results(comparison: Comparison, limit: int, *, wide: bool = False) -> list[Line]:
    """Returns the lines of a comparison without its warnings.

    Args:
        comparison: The comparison.
        limit: Width of the terminal.
        wide: True adds all figures.
    """
    if comparison.kind == "capture":
        return _wide_captures(comparison) if wide else captures_glance.lines(comparison, limit)
    blocks = [sides.lines(comparison, limit)]
    if not comparison.rows:
        blocks.append([Line("nothing to compare")])
    else:
        blocks += [rows_table.lines(comparison, limit), conclusions.lines(comparison, limit)]
        blocks += [details.lines(comparison, limit)] if wide else []
    return joined(blocks)


def stored_warnings(comparison: Comparison, limit: int) -> list[Line]:
    """Returns the lines that count the warnings of the runs."""
    return [Line(part) for text in words.stored_warnings(comparison) for part in wrapped(visible(text), limit)]


def joined(blocks: list[list[Line]]) -> list[Line]:
    """Joins blocks by empty lines."""
    found: list[Line] = []
    for block in filter(None, blocks):
        found += [*([Line("")] if found else []), *block]
    return found


def _wide_captures(comparison: Comparison) -> list[Line]:
    head = [
        *([words.FORCED] if comparison.method.forced else []),
        f"{_text(comparison.baseline.label)} → {_text(comparison.candidate.label)}",
        f"{_text(comparison.method.name)}, {words.method(comparison.method)}",
    ]
    blocks = [head, *_captures(comparison)]
    if comparison.environment_differences:
        blocks.append(["Environment differences", *(f"  {one}" for one in sides.all_differences(comparison))])
    return joined([[*map(Line, block)] for block in blocks])


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
