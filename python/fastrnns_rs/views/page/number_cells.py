"""Cells of tables that carry the number of the document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.views.comparison import words
from fastrnns_rs.views.figures import figure
from fastrnns_rs.views.page.parts import Cell
from fastrnns_rs.views.units import milliseconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastrnns_rs.views.scale import Scale

NONE = Cell(words.UNKNOWN)
#: Smaller multiples of the last digit have one digit.
_COARSE = 9.5
#: Shares below this are not shown as 0.
_LEAST_SHARE = 0.0005


def number_cell(value: float | None, text: Callable[[float], str]) -> Cell:
    """Returns a cell of a number; a dash if it is unknown."""
    return NONE if value is None else Cell(text(value), value)


def time_cell(value: float | None, scale: Scale) -> Cell:
    """Returns a cell of a time in ns, in the unit of its column."""
    return number_cell(value, lambda ns: time_text(ns, scale))


def time_text(ns: float, scale: Scale) -> str:
    """Formats a time in the unit of its column, without the unit.

    A time of which the decimals of the column leave one digit has three digits. Only 0 is shown as 0.

    >>> from fastrnns_rs.views.scale import Scale
    >>> [time_text(ns, Scale([2.5e9])) for ns in (1234.5e9, 2.5e9, 245711, 0)]
    ['1,234.500', '2.500', '0.000246', '0']
    """
    if not ns:
        return "0"
    value = ns / scale.ns
    is_coarse = 0 < abs(value) * 10**scale.decimals < _COARSE
    # A whole number of ns is exact.
    return figure(value) if is_coarse and scale.ns > 1 else f"{value:,.{scale.decimals}f}"


def ratio_cell(value: float | None) -> Cell:
    """Returns a cell of a ratio."""
    return number_cell(value, words.ratio)


def millisecond_cell(value: float | None) -> Cell:
    """Returns a cell of a time in ns, shown in ms with its sign."""
    return number_cell(value, lambda ns: f"{'-' if ns < 0 else ''}{milliseconds(abs(ns))}")


def percent_cell(value: float | None) -> Cell:
    """Returns a cell of a share, shown in percent."""
    return number_cell(value, share_text)


def share_text(share: float) -> str:
    """Formats a share in percent, without the unit. Only 0 is shown as 0.

    >>> share_text(0.1234), share_text(0.0001), share_text(0.0)
    ('12.3', '<0.1', '0.0')
    """
    return "<0.1" if 0 < share < _LEAST_SHARE else f"{100 * share:.1f}"


def count_cell(value: int | None) -> Cell:
    """Returns a cell of a number of things."""
    return number_cell(value, lambda count: f"{count:,}")
