"""Units of summary columns, with text functions for each output format.

The formats are the terminal, Markdown and CSV.
"""

from __future__ import annotations

import math

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.text import code_cell, spreadsheet
from fastrnns_rs.views.units import milliseconds, plain, significant, size

TYPE_CHECKING = False  # As in the package: `typing` is slow to load.
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

#: Characters of a bar for the fraction 1.
_BAR = 20
#: Only the largest differences are shown on screens; the others are small.
_DIFFERENCES = 3
#: Smallest share that two decimals can show, in percent.
_LEAST_PERCENT = 0.01


class Unit:
    """Unit of a column.

    The functions do not take None. An unknown value is written as `-`, in CSV as an empty cell.

    Attributes:
        symbol: Symbol in headings. Sizes have a symbol in each cell instead, because their magnitudes differ.
        terminal: Function from a value to a terminal cell.
        markdown: Function from a value to a Markdown cell.
        data: Function from a value to a CSV cell, with all digits.
        right: True aligns cells on the right.
    """

    __slots__ = ("data", "markdown", "right", "symbol", "terminal")

    def __init__(
        self,
        symbol: str,
        terminal: Callable[[Any], str],
        *,
        markdown: Callable[[Any], str] | None = None,
        data: Callable[[Any], str] = plain,
        right: bool = True,
    ) -> None:
        self.symbol = symbol
        self.terminal = terminal
        self.markdown = markdown or terminal
        self.data = data
        self.right = right

    def texts(self, place: str, values: Sequence[Any]) -> list[str]:
        """Returns values as cells; `place` is the name of one of the functions."""
        write, unknown = getattr(self, place), "" if place == "data" else "-"
        return [unknown if value is None else write(value) for value in values]


def _count(number: float) -> str:
    return str(number) if isinstance(number, int) else significant(number)


def _percent(fraction: float) -> str:
    """Formats a fraction with two decimals, which keep a column of shares aligned."""
    percent = fraction * 100.0
    return f"<{_LEAST_PERCENT}" if 0.0 < percent < _LEAST_PERCENT else f"{percent:.2f}"


def _bar(fraction: float) -> str:
    length = min(max(fraction * _BAR, 0.0), _BAR)
    whole = math.floor(length)
    return "#" * (whole + (length - whole >= 0.5))  # noqa: PLR2004  # Halves are rounded up.


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape))


def differences(rows: Sequence[dict[str, Any]]) -> str:
    """Returns the largest differences: `gemm +1.500 ms, layout -0.2000 ms`."""
    return ", ".join(
        f"{row['category']} {'-' if row['delta_ns'] < 0 else '+'}{milliseconds(abs(row['delta_ns']))} ms"
        for row in rows[:_DIFFERENCES]
    )


def _all_differences(rows: Sequence[dict[str, Any]]) -> str:
    return spreadsheet(" ".join(f"{row['category']}:{row['delta_ns']}" for row in rows))


TEXT = Unit("", lambda text: visible(text) or '""', markdown=code_cell, data=spreadsheet, right=False)
COUNT = Unit("", _count)
#: Number that has a mark if it is a lower bound.
AT_LEAST = Unit("", str, data=str)
NANOSECONDS = Unit("ms", milliseconds)
BYTES = Unit("", size)
FRACTION = Unit("%", _percent)
GB_PER_S = Unit("GB/s", significant)
SHAPE = Unit("", _shape, data=_shape)
#: Mark on rows that stand out.
FLAG = Unit("", lambda flag: "yes" if flag else "", data=lambda flag: "true" if flag else "false", right=False)
DIFFERENCES = Unit(
    "",
    lambda rows: visible(differences(rows)),
    markdown=lambda rows: code_cell(differences(rows)) if rows else "",
    data=_all_differences,
    right=False,
)
#: Bar for a fraction.
BAR = Unit("", _bar, right=False)
