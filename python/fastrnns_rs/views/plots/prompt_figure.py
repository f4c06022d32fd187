"""Figure that a notebook shows without pyplot."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from matplotlib.figure import Figure

from fastrnns_rs.views.plots.style import quiet

_DPI = 144


class PromptFigure(Figure):
    """Figure of matplotlib that is shown where it is the value of a notebook's cell.

    It hides the warnings of matplotlib.
    """

    def draw(self, *given: Any, **more: Any) -> None:
        """Draws the figure."""
        with quiet():
            super().draw(*given, **more)

    def savefig(self, *given: Any, **more: Any) -> None:
        """Writes the figure to a file."""
        with quiet():
            super().savefig(*given, **more)

    def _repr_png_(self) -> bytes:
        data = BytesIO()
        self.savefig(data, format="png", dpi=_DPI, facecolor=self.get_facecolor())
        return data.getvalue()
