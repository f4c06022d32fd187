"""Cells of tables that carry the number of the document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.views.comparison import words
from fastrnns_rs.views.page.parts import Cell
from fastrnns_rs.views.units import milliseconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastrnns_rs.views.scale import Scale

NONE = Cell("–")


def number_cell(value: float | None, text: Callable[[float], str]) -> Cell:
    """Returns a cell of a number; a dash if it is unknown."""
    return NONE if value is None else Cell(text(value), value)


def time_cell(value: float | None, scale: Scale) -> Cell:
    """Returns a cell of a time in ns, in the unit of its column."""
    return number_cell(value, scale.text)


def ratio_cell(value: float | None) -> Cell:
    """Returns a cell of a ratio."""
    return number_cell(value, words.ratio)


def millisecond_cell(value: float | None) -> Cell:
    """Returns a cell of a time in ns, shown in ms with its sign."""
    return number_cell(value, lambda ns: f"{'-' if ns < 0 else ''}{milliseconds(abs(ns))}")


def percent_cell(value: float | None) -> Cell:
    """Returns a cell of a share, shown in percent."""
    return number_cell(value, lambda share: f"{100 * share:.1f}")
