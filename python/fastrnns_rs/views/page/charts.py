"""Plots of a page."""

from __future__ import annotations

from fastrnns_rs.views.page.inline_svg import StyleClasses, inline_svg
from fastrnns_rs.views.page.parts import Chart
from fastrnns_rs.views.plots.figure import draw


class Charts:
    """Maker of the plots of a page, whose classes and ids are unique in it."""

    def __init__(self) -> None:
        self.styles = StyleClasses()
        self._count = 0

    def draw(self, document: object, kind: str, label: str, caption: str = "", *, row: str | None = None) -> Chart:
        """Returns a plot of a document.

        Args:
            document: Document.
            kind: Kind of plot.
            label: Description for readers who do not see the plot.
            caption: Sentence below the plot.
            row: Row of a kind that shows one row.
        """
        self._count += 1
        drawn = draw(document, kind, row=row)
        return Chart(inline_svg(drawn, self.styles, label, f"c{self._count}-"), caption)
