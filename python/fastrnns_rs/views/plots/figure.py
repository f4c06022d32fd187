"""Figures of documents: a kind of plot for each question."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastrnns_rs.errors import FastrnnsError, MissingError, UsageError, is_one_of, unknown
from fastrnns_rs.views.plots.drawing import MOST_POINTS, Canvas
from fastrnns_rs.views.plots.style import DARK, LIGHT, WIDTH, apply

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Formats of `--plot`, by the suffix of the file.
SUFFIXES = (".png", ".svg", ".pdf")
#: Dots per inch of PNG files.
_DPI = 160


@dataclass(frozen=True, slots=True)
class Plot:
    """Kind of plot.

    Attributes:
        draw: Function that draws a document. Kinds of one row also get the name of the row.
        height: Function that returns the height of the figure in inches. Kinds of one row also give the row.
        rows: Function that returns the names of the rows with a plot; None for a plot of the whole document.
        available: Function that returns True for documents with this kind.
    """

    draw: Callable[..., None]
    height: Callable[..., float] = lambda *_: 3.0
    rows: Callable[[Any], list[str]] | None = None
    available: Callable[[Any], bool] = lambda _: True


class Drawn:
    """Figure with the texts of its marks.

    Attributes:
        figure: Figure of matplotlib.
        canvas: Axes with the texts.
    """

    __slots__ = ("canvas", "figure")

    def __init__(self, figure: Figure, canvas: Canvas) -> None:
        self.figure = figure
        self.canvas = canvas


def require_matplotlib() -> None:
    """Imports matplotlib.

    Raises:
        MissingError: If it is not installed.
        FastrnnsError: If it cannot be imported.
    """
    require("matplotlib.figure")


def require(*modules: str) -> None:
    """Imports packages of the extra `plots`.

    Raises:
        MissingError: If one is not installed.
        FastrnnsError: If one cannot be imported.
    """
    from importlib.util import find_spec

    for one in modules:
        package = one.partition(".")[0]
        if find_spec(package) is None:
            raise MissingError(f"Python package not found: {package!r}", "Run: pip install 'fastrnns-rs[plots]'")
        if package == "matplotlib" and package not in sys.modules:
            _check_settings()
        try:
            import_module(one)
        except Exception as error:
            # Matplotlib reads variables, looks for its folders and writes to them.
            reason = f"{type(error).__name__}: {error}"
            hint = "Run: pip install --force-reinstall 'fastrnns-rs[plots]'"
            if package == "matplotlib":
                hint = "Check the variables MPLBACKEND, MPLCONFIGDIR, XDG_CACHE_HOME, XDG_CONFIG_HOME and TMPDIR."
            raise FastrnnsError(f"cannot import Python package: {package!r}", hint, reason=reason) from error


def _check_settings() -> None:
    """Checks the file of settings that matplotlib reads: a pipe may have no end.

    Raises:
        UsageError: If it is neither a regular file nor the empty device.
    """
    given = os.environ.get("MATPLOTLIBRC")
    for place in (given, os.path.join(given, "matplotlibrc")) if given else ():  # noqa: PTH118
        is_ordinary = os.path.isfile(place) or os.path.isdir(place)  # noqa: PTH112, PTH113
        if os.path.exists(place) and not is_ordinary and not os.path.samefile(place, os.devnull):  # noqa: PTH110, PTH121
            hint = "Use the path of a regular file, or unset the variable."
            raise UsageError(f"cannot read file: {place!r}", hint, where="MATPLOTLIBRC", reason="not a regular file")


def draw(
    document: object,
    kind: str | None = None,
    *,
    row: str | None = None,
    ax: Axes | None = None,
    dark: bool = False,
    points: int = MOST_POINTS,
) -> Drawn:
    """Draws a document.

    Args:
        document: Document.
        kind: Kind of plot; None for the first kind of the document.
        row: Row of a kind that shows one row; None for the first row.
        ax: Axes to draw on; None for a new figure.
        dark: True draws on a dark background.
        points: Number of points that all lines of raw data have together.

    Raises:
        MissingError: If matplotlib is not installed.
        UsageError: If the document has no data for the kind or the row, or `ax` is no axes.
    """
    require_matplotlib()
    from fastrnns_rs.views.plots import given_axes
    from fastrnns_rs.views.plots.prompt_figure import PromptFigure
    from fastrnns_rs.views.plots.ticks import set_ticks

    known = kinds(document)
    if not known:
        raise UsageError("no data to plot", "Use a document with at least one row that was measured.")
    chosen = next(iter(known)) if kind is None else kind
    if not is_one_of(chosen, known):
        raise unknown("invalid value", chosen, tuple(known), where="kind")
    plot = known[chosen]
    words = [] if plot.rows is None else [_row(row, plot.rows(document))]
    if plot.rows is None and row is not None:
        raise UsageError(f"`row` needs a kind of one row, and `kind` is {chosen!r}", "Leave out `row`.")
    theme = DARK if dark else LIGHT
    with apply(theme):
        if ax is None:
            figure: Any = PromptFigure(figsize=(WIDTH, plot.height(document, *words)), layout="constrained")
            canvas = Canvas(figure.add_subplot(), theme, points)
        else:
            canvas = Canvas(given_axes.check(ax), theme, points, is_given=True)
            figure = ax.figure
            given_axes.apply(ax, theme, dark=dark)
        plot.draw(document, canvas, *words)
        set_ticks(canvas.axes)
        if ax is not None:
            given_axes.end_formulas(ax)
    return Drawn(figure, canvas)


def save(document: object, path: Path, kind: str | None = None, *, row: str | None = None, dark: bool = False) -> None:
    """Writes a plot to a file, whose suffix is the format.

    Raises:
        MissingError: If matplotlib is not installed.
        UsageError: If the suffix is not supported, the document has no data for the plot, or the file cannot be
            written or is written by another process.
    """
    from io import BytesIO

    from fastrnns_rs.documents import writing
    from fastrnns_rs.documents.writer_lock import locked

    check_suffix(path)
    drawn = draw(document, kind, row=row, dark=dark)
    if drawn.canvas.empty:
        raise UsageError(f"no data to plot: {drawn.canvas.empty}", "Use another kind of plot.")
    data = BytesIO()
    with apply(drawn.canvas.theme):
        # Equal documents make equal files.
        metadata: dict[str, Any] = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
        drawn.figure.savefig(data, format=path.suffix[1:].lower(), dpi=_DPI, metadata=metadata[path.suffix.lower()])
    with locked(path, waits=True) as place:
        writing.write(path, [data.getvalue()], place)


def check_suffix(path: Path) -> None:
    """Checks the format of a plot, before there is anything to lose.

    Raises:
        UsageError: If the suffix is not supported.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(
            f"unsupported format: {path.suffix or path.name!r}", "Use a file that ends with .png, .svg or .pdf."
        )


def kinds(document: object) -> Mapping[str, Plot]:
    """Returns the kinds of plots that a document has data for, the default first."""
    from fastrnns_rs.views.plots.kinds import KINDS

    known = next(KINDS[one] for one in type(document).__mro__ if one in KINDS)
    return {
        name: plot
        for name, plot in known.items()
        if plot.available(document) and (plot.rows is None or plot.rows(document))
    }


def _row(name: str | None, known: Iterable[str]) -> str:
    names = list(known)
    if name is None:
        return names[0]
    if not is_one_of(name, names):
        raise unknown("unknown row", name, names, where="row")
    return name
