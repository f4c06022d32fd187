"""Colours, markers and settings of all plots.

The colours differ in lightness too, for readers who do not distinguish hues and for grey printers. A marker, a hatch or
a line style always repeats what a colour shows.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours of a variant.

    Attributes:
        paper: Background.
        ink: Text and axes.
        muted: Marks in the background, such as the points behind an interval.
        rule: Grid lines.
        band: Filled areas, such as the margin of a verdict.
        series: Colours of series, in order.
    """

    paper: str
    ink: str
    muted: str
    rule: str
    band: str
    series: tuple[str, ...]


#: All colours of `series` have a contrast of at least 3 to the paper. The hues are those of Okabe and Ito.
LIGHT = Theme(
    paper="#ffffff",
    ink="#1b1b1f",
    muted="#767680",
    rule="#dcdce2",
    band="#ececf2",
    series=("#0072b2", "#c04a00", "#008060", "#a23b83", "#7a6200", "#4b4b57", "#2f8fc7", "#d4691f"),
)
DARK = Theme(
    paper="#16171b",
    ink="#ececf1",
    muted="#8f909b",
    rule="#34353d",
    band="#282931",
    series=("#56b4e9", "#f08a4b", "#2fc79b", "#d98bc0", "#d6b93a", "#b9bac6", "#8fd0f5", "#f5b183"),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")
LINES = ("-", "--", "-.", ":")
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "++", "ooo", "---", "OO")
#: Size of texts in points, and width of a plot in inches: one column of a paper, enlarged.
FONT_SIZE = 9.0
_FONT = "DejaVu Sans"
WIDTH = 6.6
#: Warnings of matplotlib and of NumPy within it that no user sees. Tests have an empty list.
HIDDEN: tuple[type[Warning], ...] = (UserWarning, RuntimeWarning, DeprecationWarning, PendingDeprecationWarning)
#: Size of long names.
SMALL = FONT_SIZE - 2
#: Marks that are thinner are hard to see.
LINE_WIDTH = 1.2


@contextmanager
def apply(theme: Theme) -> Iterator[None]:
    """Applies a theme to matplotlib in a `with` block, whatever the user's settings."""
    import matplotlib as mpl

    with quiet(), _without_date(), mpl.rc_context(_settings(theme)):
        _add_font()
        yield


@contextmanager
def _without_date() -> Iterator[None]:
    """Hides the variable with a date from matplotlib.

    Plots have no date, and matplotlib fails where the variable is no time.
    """
    value = os.environ.pop("SOURCE_DATE_EPOCH", None)
    try:
        yield
    finally:
        if value is not None:
            os.environ["SOURCE_DATE_EPOCH"] = value


def _add_font() -> None:
    """Adds matplotlib's own font where its list of fonts lacks it.

    The list is in the user's cache, and stays without fonts if it was made while files could not be opened.
    """
    from matplotlib import font_manager, get_data_path

    fonts = font_manager.fontManager
    if all(one.name != _FONT for one in fonts.ttflist):
        for file in Path(get_data_path(), "fonts", "ttf").glob("DejaVuSans*.ttf"):
            fonts.addfont(file)


@contextmanager
def quiet() -> Iterator[None]:
    """Hides warnings of matplotlib in a `with` block: no caller can act on them."""
    with warnings.catch_warnings():
        # Names may be in any script. SVG has them as text, for a font of the reader.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        for one in HIDDEN:
            warnings.simplefilter("ignore", one)
        yield


def _settings(theme: Theme) -> Any:
    return {
        "axes.edgecolor": theme.ink,
        "axes.facecolor": theme.paper,
        "axes.labelcolor": theme.ink,
        "axes.labelsize": FONT_SIZE,
        "axes.linewidth": 0.8,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlecolor": theme.ink,
        "axes.titlesize": FONT_SIZE,
        "axes.unicode_minus": True,
        "axes.grid": False,
        "figure.facecolor": theme.paper,
        "font.family": "sans-serif",
        "font.sans-serif": [_FONT],
        "font.size": FONT_SIZE,
        "grid.color": theme.rule,
        "grid.linewidth": 0.6,
        "hatch.color": theme.paper,
        "hatch.linewidth": 0.8,
        "legend.frameon": False,
        "legend.fontsize": FONT_SIZE,
        "legend.labelcolor": theme.ink,
        "lines.linewidth": LINE_WIDTH,
        "lines.markersize": 5.0,
        # Names come from files, and `$` does not start a formula in them.
        "text.parse_math": False,
        "text.usetex": False,
        "path.simplify": False,
        "savefig.facecolor": theme.paper,
        "svg.fonttype": "none",
        "svg.hashsalt": "fastrnns-rs",
        "pdf.fonttype": 42,
        "text.color": theme.ink,
        "xtick.color": theme.ink,
        "ytick.color": theme.ink,
        "xtick.labelsize": FONT_SIZE - 1,
        "ytick.labelsize": FONT_SIZE - 1,
    }
