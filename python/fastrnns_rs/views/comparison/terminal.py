"""Screen of a comparison: context, table and conclusions, then warnings."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.comparison import (
    captures_glance,
    captures_wide,
    conclusions,
    details,
    rows_table,
    sides,
    words,
)
from fastrnns_rs.views.prose import warning_lines
from fastrnns_rs.views.screen import Line, joined, wrapped_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastrnns_rs.documents.comparison import Comparison


def lines(comparison: Comparison, limit: int, *, wide: bool = False) -> list[Line]:
    """Returns the lines of a comparison: the results, then the warnings.

    Args:
        comparison: The comparison.
        limit: Width of the terminal.
        wide: True adds all figures.
    """
    shown = results(comparison, limit, wide=wide)
    warnings = [
        *(
            Line(text)
            for one in words.own_warnings(comparison)
            for text in warning_lines(visible(one.code), one.message, one.evidence, one.hint, limit)
        ),
        *stored_warnings(comparison, limit),
    ]
    return [*shown, *([Line("")] if warnings else []), *warnings]


def results(comparison: Comparison, limit: int, *, wide: bool = False, bars: bool = False) -> list[Line]:
    """Returns the lines of a comparison without its warnings.

    Args:
        comparison: The comparison.
        limit: Width of the terminal.
        wide: True adds all figures.
        bars: True adds intervals as bars to all figures, if the terminal has room and UTF-8.
    """
    if comparison.kind == "capture":
        return captures_wide.lines(comparison, limit) if wide else captures_glance.lines(comparison, limit)
    blocks = [sides.lines(comparison, limit)]
    if not comparison.rows:
        blocks.append([Line("nothing to compare")])
    else:
        blocks += [rows_table.lines(comparison, limit, bars=wide and bars), conclusions.lines(comparison, limit)]
        blocks += [details.lines(comparison, limit)] if wide else []
    return joined(blocks)


def stored_warnings(comparison: Comparison, limit: int, named: Mapping[str, str] = MappingProxyType({})) -> list[Line]:
    """Returns the lines that count the warnings of the runs.

    Args:
        comparison: Comparison.
        limit: Width of the terminal.
        named: Words of a command for files that have a shorter name than their path.
    """
    return wrapped_lines(map(visible, words.stored_warnings(comparison, named)), limit)
