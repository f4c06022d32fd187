"""Labels of a logarithmic axis, which are numbers without exponents."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axis import Axis

#: Ranges up to these factors have evenly spaced labels, or labels at 1, 2 and 5.
_NARROW, _MIDDLE = 4.0, 300.0


def set_log_ticks(axis: Axis, low: float, high: float) -> None:
    """Labels a logarithmic axis.

    Args:
        axis: Axis.
        low: Least number on it.
        high: Largest number on it.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    ratio = high / low
    if ratio <= _NARROW:
        axis.set_major_locator(MaxNLocator(6))
    else:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if ratio <= _MIDDLE else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _text(value)))
    axis.set_minor_locator(NullLocator())


def _text(value: float) -> str:
    return f"{value:,.10g}" if 1e-4 <= abs(value) < 1e9 else f"{value:g}"  # noqa: PLR2004  # shorter than an exponent
