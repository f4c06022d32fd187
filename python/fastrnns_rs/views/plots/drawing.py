"""Drawing area of a plot: axes with a theme, and marks that have a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.kernel_names import shortened
from fastrnns_rs.views.plots.style import FONT_SIZE, HATCHES, LINES, MARKERS, Theme
from fastrnns_rs.views.table import fit

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: Names in a plot are cut to this many characters; tables beside the plot have the whole name.
LONGEST_NAME = 36
#: Names of kernels are cut to this many characters, in smaller letters: their ends differ.
LONGEST_KERNEL = 52
#: Names in the text of a mark are cut to this many characters.
LONGEST_TEXT = 200
#: Titles are cut to this many characters, which fit the width of a plot.
LONGEST_TITLE = 84
#: Labels of an axis with numbers.
MOST_TICKS = 6
#: Points of all lines of a plot; more are thinned.
MOST_POINTS = 2_000
#: Points of a character.
CHARACTER = 5.1
#: Points of the mark of an entry of a legend with its gaps, and of what may stand beside axes.
_HANDLE, _MARGIN = 37.0, 30.0
#: Gap between two columns of a legend, in sizes of its font.
_COLUMN_SPACING = 1.2
_POINTS_PER_INCH = 72


def short_names(names: Sequence[str], longest: int = LONGEST_NAME) -> list[str]:
    """Returns names for an axis or a legend that differ, even if they are cut."""
    return shortened([(one, one) for one in names], longest)


def series_label(name: str) -> str:
    """Returns a name for a legend.

    Matplotlib leaves out empty names, and names that begin with an underscore.
    """
    return f" {name}" if name.startswith("_") else name or '""'


class Canvas:
    """Axes to draw on.

    Attributes:
        axes: Axes of matplotlib.
        theme: Colours.
        texts: Text of each mark, by the artist that draws the marks.
        is_given: True for axes of the caller, which may be narrow.
        points: Number of points that all lines of raw data have together.
        empty: Text in place of the plot, where the document has no data for it; else empty.
        note: Sentence about the drawing that a page shows below it, such as the number of points that were left out.
    """

    __slots__ = ("axes", "empty", "is_given", "note", "points", "texts", "theme")

    def __init__(self, axes: Axes, theme: Theme, points: int = MOST_POINTS, *, is_given: bool = False) -> None:
        self.axes = axes
        self.theme = theme
        self.texts: dict[Artist, Sequence[str]] = {}
        self.points = points
        self.is_given = is_given
        self.note = ""
        self.empty = ""

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
        """Returns the line style of a series, which differs between series of one colour."""
        return LINES[(number + number // len(self.theme.series)) % len(LINES)]

    def hatch(self, number: int) -> str:
        """Returns the hatch of a series."""
        return HATCHES[number % len(HATCHES)]

    def legend(self, title: str = "", *, columns: int = 2, handles: Sequence[Any] | None = None) -> None:
        """Draws the legend above the axes, with fewer columns on narrow axes.

        Args:
            title: Lines above the entries, such as the name of the row.
            columns: Number of columns.
            handles: Marks with an entry; None for all with a label.
        """
        shown = self.axes.get_legend_handles_labels()[0] if handles is None else handles
        widths = [len(str(one.get_label())) * CHARACTER + _HANDLE for one in shown] or [_HANDLE]
        room = self.room() + FONT_SIZE * _COLUMN_SPACING
        fitting = max(len(widths) if sum(widths) <= room else 0, int(room // max(widths)))
        legend = self.axes.legend(
            loc="lower center",
            bbox_to_anchor=(0.5, 1.0),
            ncols=max(1, min(columns, fitting)),
            columnspacing=_COLUMN_SPACING,
            title="\n".join(fit(visible(one), self.characters()) for one in title.split("\n")) or None,
            title_fontsize="medium",
            handles=shown,
        )
        legend.get_title().set_multialignment("center")

    def room(self) -> float:
        """Returns the width of a legend in points.

        It is the width of the figure, or about that of the axes in a figure of the caller.
        """
        figure: Any = self.axes.figure
        if not self.is_given:
            return float(figure.get_size_inches()[0] * _POINTS_PER_INCH)
        return float(self.axes.bbox.width * _POINTS_PER_INCH / figure.dpi) + _MARGIN

    def characters(self) -> int:
        """Returns the characters that fit the width of a legend."""
        return min(LONGEST_TITLE, int(self.room() / CHARACTER))

    def add_note(self, text: str) -> None:
        """Adds a sentence to the note, once."""
        if text not in self.note:
            self.note = f"{self.note} {text}".strip()

    def message(self, text: str) -> None:
        """Writes a text in place of the plot, where the document has no data for it.

        A page shows the text; a file is not written.
        """
        self.empty = text
        self.axes.set_axis_off()
        self.axes.text(0.5, 0.5, text, ha="center", va="center", color=self.theme.ink, transform=self.axes.transAxes)
