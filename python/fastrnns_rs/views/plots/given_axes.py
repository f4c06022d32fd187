"""Axes of the caller, which get the look of the tool's own axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.text import Text

from fastrnns_rs.errors import UsageError
from fastrnns_rs.views.plots.style import FONT_SIZE

if TYPE_CHECKING:
    from fastrnns_rs.views.plots.style import Theme


def check(ax: object) -> Axes:
    """Returns the axes.

    Raises:
        UsageError: If the value is not axes of matplotlib.
    """
    if not isinstance(ax, Axes):
        raise UsageError(
            f"`ax` must be axes of matplotlib, got {type(ax).__name__}",
            "Use the axes of matplotlib.pyplot.subplots(), or leave out `ax`.",
        )
    return ax


def apply(axes: Axes, theme: Theme, *, dark: bool) -> None:
    """Gives axes the theme, which matplotlib gives only to new axes.

    Args:
        axes: Axes of the caller.
        theme: Theme.
        dark: True sets the background of the whole figure too, on which the labels are.
    """
    axes.set_facecolor(theme.paper)
    if dark:
        axes.figure.set_facecolor(theme.paper)
    for name, spine in axes.spines.items():
        spine.set(edgecolor=theme.ink, linewidth=0.8, visible=name not in {"top", "right"})
    axes.tick_params(
        color=theme.ink,
        labelcolor=theme.ink,
        labelsize=FONT_SIZE - 1,
        grid_color=theme.rule,
        grid_linewidth=0.6,
        grid_alpha=1.0,
    )
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set(color=theme.ink, fontsize=FONT_SIZE)


def end_formulas(axes: Axes) -> None:
    """Makes all texts plain.

    Names come from files, and `$` does not start a formula in them.
    """
    for text in axes.findobj(Text):
        text.set_parse_math(False)
