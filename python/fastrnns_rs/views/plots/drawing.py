"""Drawing area of a plot: axes with a theme, and marks that have a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.plots.style import HATCHES, LINES, MARKERS, Theme

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: Names in a plot are cut to this many characters; tables beside the plot have the whole name.
LONGEST_NAME = 36


class Canvas:
    """Axes to draw on.

    Attributes:
        axes: Axes of matplotlib.
        theme: Colours.
        texts: Text of each mark, by the artist that draws the marks.
    """

    __slots__ = ("axes", "texts", "theme")

    def __init__(self, axes: Axes, theme: Theme) -> None:
        self.axes = axes
        self.theme = theme
        self.texts: dict[Artist, Sequence[str]] = {}

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
        return LINES[number // len(self.theme.series) % len(LINES)]

    def hatch(self, number: int) -> str:
        """Returns the hatch of a series."""
        return HATCHES[number % len(HATCHES)]

    def message(self, text: str) -> None:
        """Writes a text in place of the plot, where the document has no data for it."""
        self.axes.set_axis_off()
        self.axes.text(0.5, 0.5, text, ha="center", va="center", color=self.theme.ink, transform=self.axes.transAxes)
