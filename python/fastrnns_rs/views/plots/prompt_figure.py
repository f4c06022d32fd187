"""Figure that a notebook shows without pyplot."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure

_DPI = 144


class PromptFigure(Figure):
    """Figure of matplotlib that is shown where it is the value of a notebook's cell."""

    def _repr_png_(self) -> bytes:
        data = BytesIO()
        self.savefig(data, format="png", dpi=_DPI, facecolor=self.get_facecolor())
        return data.getvalue()
