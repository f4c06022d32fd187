"""Drawing area of a plot: axes with a theme, and marks that have a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.plots.style import HATCHES, LINES, MARKERS, Theme

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: Names in a plot are cut to this many characters; tables beside the plot have the whole name.
LONGEST_NAME = 36
#: Names in the text of a mark are cut to this many characters.
LONGEST_TEXT = 200
#: Points of all lines of a plot; more are thinned.
MOST_POINTS = 2_000


class Canvas:
    """Axes to draw on.

    Attributes:
        axes: Axes of matplotlib.
        theme: Colours.
        texts: Text of each mark, by the artist that draws the marks.
        points: Number of points that all lines of raw data have together.
        note: Sentence about the drawing that a page shows below it, such as the number of points that were left out.
    """

    __slots__ = ("axes", "note", "points", "texts", "theme")

    def __init__(self, axes: Axes, theme: Theme, points: int = MOST_POINTS) -> None:
        self.axes = axes
        self.theme = theme
        self.texts: dict[Artist, Sequence[str]] = {}
        self.points = points
        self.note = ""

    def describe(self, artist: Artist, texts: Sequence[str]) -> None:
        """Sets the text of each mark of an artist, which a page shows on hover.

        Args:
            artist: Artist that draws the marks, in the order of the texts.
            texts: Text of each mark, as `cudnn forward: 14.35 ms`.
        """
        # SVG files have it as the id of the group.
        artist.set_gid(f"mark-{len(self.texts)}")
        self.texts[artist] = [visible(one) for one in texts]

    def color(self, number: int) -> str:
        """Returns the colour of a series."""
        return self.theme.series[number % len(self.theme.series)]

    def marker(self, number: int) -> str:
        """Returns the marker of a series."""
        return MARKERS[number % len(MARKERS)]

    def line(self, number: int) -> str:
        """Returns the line style of a series."""
        return LINES[number % len(LINES)]

    def hatch(self, number: int) -> str:
        """Returns the hatch of a series."""
        return HATCHES[number % len(HATCHES)]

    def logarithmic(self, axis: Literal["x", "y"]) -> None:
        """Makes an axis logarithmic, with plain numbers at 1, 2 and 5."""
        from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

        set_scale, found = (
            (self.axes.set_xscale, self.axes.xaxis) if axis == "x" else (self.axes.set_yscale, self.axes.yaxis)
        )
        set_scale("log")
        found.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
        found.set_major_formatter(StrMethodFormatter("{x:g}"))
        found.set_minor_locator(NullLocator())

    def message(self, text: str) -> None:
        """Writes a text in place of the plot, where the document has no data for it."""
        self.axes.set_axis_off()
        self.axes.text(0.5, 0.5, text, ha="center", va="center", color=self.theme.ink, transform=self.axes.transAxes)
