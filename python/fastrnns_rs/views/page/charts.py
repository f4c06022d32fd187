"""Plots of a page."""

from __future__ import annotations

from collections.abc import Iterable

from fastrnns_rs.views.page.inline_svg import StyleClasses, inline_svg
from fastrnns_rs.views.page.parts import Chart
from fastrnns_rs.views.plots.drawing import MOST_POINTS
from fastrnns_rs.views.plots.figure import draw, kinds

#: Rows of a document with plots of their own: a plot takes about 0.2 s.
MOST_ROWS = 20
#: Marks of a plot of all rows. A taller plot fits on no screen.
MOST_MARKS = 60
#: Points of all plots of single rows in a page, which then takes about 0.4 MB for their lines.
_POINTS_OF_PAGE = 38_000


class Charts:
    """Maker of the plots of a page, whose classes and ids are unique in it.

    Args:
        documents: Documents of the page. The more rows have plots, the fewer points has the plot of a row.
    """

    def __init__(self, documents: Iterable[object] = ()) -> None:
        self.styles = StyleClasses()
        self._count = 0
        found = [plot.rows(one) for one in documents for plot in kinds(one).values() if plot.rows is not None]
        rows = sum(min(len(one), MOST_ROWS) for one in found)
        self._points = min(MOST_POINTS, _POINTS_OF_PAGE // max(rows, 1))

    def draw(self, document: object, kind: str, label: str, caption: str = "", *, row: str | None = None) -> Chart:
        """Returns a plot of a document.

        Args:
            document: Document.
            kind: Kind of plot.
            label: Description for readers who do not see the plot.
            caption: Sentence below the plot, before the note of the drawing.
            row: Row of a kind that shows one row.
        """
        self._count += 1
        drawn = draw(document, kind, row=row, points=self._points)
        texts = [one for one in (caption, drawn.canvas.note) if one]
        return Chart(inline_svg(drawn, self.styles, label, f"c{self._count}-"), " ".join(texts))
