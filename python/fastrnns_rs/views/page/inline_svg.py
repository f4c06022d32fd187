"""Plots of matplotlib as SVG within a page.

Colours become variables of the style sheet, which has a dark variant. The page's policy permits no style attributes, so
that they become classes. Coordinates are rounded, and each mark has its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from fastrnns_rs.views.page.svg_path import round_numbers, shorten
from fastrnns_rs.views.plots.style import LIGHT, apply

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fastrnns_rs.views.plots.figure import Drawn

_SVG, _LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
#: A rotation by nothing, which matplotlib writes for every text.
_UNROTATED = re.compile(r" ?rotate\(-?0(?: [^)]*)?\)")
_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_NAMES = {
    LIGHT.paper: "paper",
    LIGHT.ink: "ink",
    LIGHT.muted: "muted",
    LIGHT.rule: "rule",
    LIGHT.band: "band",
    **{color: f"series-{number}" for number, color in enumerate(LIGHT.series)},
}
_DROPPED = {f"{_SVG}metadata", f"{_SVG}style"}
#: Styles of the backgrounds of a transparent figure.
_INVISIBLE = ({"fill: none"}, {"fill: none", "opacity: 0"}, {"opacity: 0"})
#: Dots per inch of SVG files: one unit is a point.
_DPI = 72
#: Units around a plot.
_PADDING = 3.0


class StyleClasses:
    """Classes in place of the style attributes of all plots of a page."""

    def __init__(self) -> None:
        self._classes: dict[str, str] = {}

    def name(self, style: str) -> str:
        """Returns the class for a style attribute."""
        declarations = "; ".join(sorted(_declarations(style)))
        return self._classes.setdefault(declarations, f"s{len(self._classes)}")

    def sheet(self) -> str:
        """Returns the rules of all classes."""
        return "\n".join(f".{name} {{ {rules} }}" for rules, name in self._classes.items())


def _declarations(style: str) -> Iterator[str]:
    for one in style.split(";"):
        name, _, value = (part.strip() for part in one.partition(":"))
        if name == "font":
            # The family is that of the page.
            yield f"font-size: {value.split('px')[0].rpartition(' ')[2]}px"
        elif name:
            yield f"{name}: {f'var(--{_NAMES[value]})' if value in _NAMES else value}"


def inline_svg(drawn: Drawn, styles: StyleClasses, label: str, prefix: str) -> str:
    """Returns a plot as an `svg` element.

    Args:
        drawn: Plot.
        styles: Classes of the page.
        label: Description for readers who do not see the plot.
        prefix: Start of the ids in the plot, unique in the page.
    """
    root = ET.fromstring(_written(drawn.figure))  # noqa: S314  # written by matplotlib in this process
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.set("role", "img")
    root.set("aria-label", label)
    used = dict.fromkeys(one for element in root.iter() for one in _references(element))
    cleaner = _Cleaner(
        {str(artist.get_gid()): [*found] for artist, found in drawn.canvas.texts.items()},
        {name: f"{prefix}{number}" for number, name in enumerate(used)},
        styles,
    )
    cleaner.clean(root)
    return ET.tostring(root, encoding="unicode", short_empty_elements=True)


def _written(figure: Figure) -> bytes:
    """Returns a figure as an SVG file, with the places of its parts computed once."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    data = BytesIO()
    with apply(LIGHT):
        FigureCanvasSVG(figure)
        figure.set_dpi(_DPI)
        _arrange(figure)
        figure.savefig(data, format="svg", dpi=_DPI, metadata={"Date": None}, transparent=True)
    return data.getvalue()


def _arrange(figure: Figure) -> None:
    """Places the axes of a figure so that all texts are inside.

    The layout engine takes more time than everything else: it measures all texts twice. Only figures with several axes,
    or with a wide legend, which moves with the axes, need it.
    """
    engine = figure.get_layout_engine()
    if engine is not None:
        place = _place(figure)
        if place is None:
            engine.execute(figure)
        else:
            figure.axes[0].set_position(place)
    # With an engine, `savefig` draws everything twice.
    figure.set_layout_engine(None)


def _place(figure: Figure) -> tuple[float, float, float, float] | None:
    """Returns the place of the only axes, in fractions of the figure.

    None if the layout engine must find it.
    """
    if len(figure.axes) != 1:
        return None
    [axes] = figure.axes
    whole, inner, page = axes.get_tightbbox(for_layout_only=True), axes.bbox, figure.bbox
    if whole is None:
        return None
    left, bottom = inner.x0 - whole.x0 + _PADDING, inner.y0 - whole.y0 + _PADDING
    right, top = whole.x1 - inner.x1 + _PADDING, whole.y1 - inner.y1 + _PADDING
    width, height = page.width - left - right, page.height - bottom - top
    legend = axes.get_legend()
    if width <= 0 or height <= 0 or (legend is not None and legend.get_window_extent().width > width):
        return None
    return left / page.width, bottom / page.height, width / page.width, height / page.height


def _references(element: ET.Element) -> Iterator[str]:
    """Yields the ids that an element refers to."""
    if _LINK in element.attrib:
        yield element.attrib[_LINK].removeprefix("#")
    for value in element.attrib.values():
        yield from _REFERENCE.findall(value)


class _Cleaner:
    """Change of the elements of an SVG file into parts of a page.

    Args:
        texts: Texts of the marks of a group, by the id of the group.
        ids: Short ids of the elements that others refer to.
        styles: Classes of the page.
    """

    def __init__(self, texts: dict[str, list[str]], ids: dict[str, str], styles: StyleClasses) -> None:
        self._texts = texts
        self._ids = ids
        self._styles = styles

    def clean(self, element: ET.Element) -> None:
        """Cleans an element and its children."""
        name = element.attrib.pop("id", "")
        if name in self._ids:
            element.set("id", self._ids[name])
        element.tag = element.tag.removeprefix(_SVG)
        element.text = element.text if (element.text or "").strip() else None
        element.tail = None
        self._clean_attributes(element)
        kept: list[ET.Element] = []
        for child in element:
            if child.tag in _DROPPED or {*_declarations(child.get("style", ""))} in _INVISIBLE:
                continue
            self.clean(child)
            if child.tag == "defs" and not len(child):
                continue
            # A group without attributes only takes space.
            kept.extend(child if child.tag == "g" and not child.attrib else [child])
        element[:] = kept
        if name in self._texts:
            _describe(element, self._texts[name])

    def _clean_attributes(self, element: ET.Element) -> None:
        if _LINK in element.attrib:
            element.set("href", f"#{self._ids[element.attrib.pop(_LINK).removeprefix('#')]}")
        style = element.attrib.pop("style", "")
        if fill := element.attrib.pop("fill", ""):
            # The background of a hatch.
            style = f"fill: {fill}; {style}"
        if style:
            element.set("class", self._styles.name(self._with_short_ids(style)))
        for key, value in [*element.attrib.items()]:
            if key == "d":
                element.set(key, shorten(value))
            elif key == "transform":
                element.set(key, round_numbers(_UNROTATED.sub("", value)))
                if not element.attrib[key]:
                    del element.attrib[key]
            elif key in {"x", "y", "width", "height", "points"}:
                element.set(key, round_numbers(value))
            else:
                element.set(key, self._with_short_ids(value))

    def _with_short_ids(self, value: str) -> str:
        return _REFERENCE.sub(lambda found: f"url(#{self._ids[found[1]]})", value)


def _describe(group: ET.Element, texts: list[str]) -> None:
    """Adds the text of each mark in a group."""
    marks = [one for one in group.iter() if one.tag == "use"] or [
        one for one in group.iter() if one.tag == "path" and "id" not in one.attrib
    ]
    for mark, text in zip(marks, texts, strict=False):
        title = ET.Element("title")
        title.text = text
        mark.insert(0, title)
