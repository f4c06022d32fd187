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

from fastrnns_rs.views.plots.style import LIGHT, apply

if TYPE_CHECKING:
    from fastrnns_rs.views.plots.figure import Drawn

_SVG, _LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
_NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
#: A path of one line through many points.
_LINE = re.compile(r"M [-\d. ]+\n(?:L [-\d. ]+\n?)+")
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
    data = BytesIO()
    with apply(LIGHT):
        drawn.figure.savefig(data, format="svg", metadata={"Date": None}, transparent=True)
    root = ET.fromstring(data.getvalue())  # noqa: S314  # written by matplotlib in this process
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.set("role", "img")
    root.set("aria-label", label)
    texts = {str(artist.get_gid()): [*found] for artist, found in drawn.canvas.texts.items()}
    kept = {one for element in root.iter() for one in _references(element)}
    _clean(root, texts, kept, styles, prefix)
    return ET.tostring(root, encoding="unicode", short_empty_elements=True)


def _references(element: ET.Element) -> Iterator[str]:
    """Yields the ids that an element refers to."""
    if _LINK in element.attrib:
        yield element.attrib[_LINK].removeprefix("#")
    for value in element.attrib.values():
        yield from _REFERENCE.findall(value)


def _clean(element: ET.Element, texts: dict[str, list[str]], kept: set[str], styles: StyleClasses, prefix: str) -> None:
    """Makes an element and its children part of a page."""
    name = element.attrib.pop("id", None)
    if name in kept:
        element.set("id", f"{prefix}{name}")
    element.tag = element.tag.removeprefix(_SVG)
    element.text = element.text if (element.text or "").strip() else None
    element.tail = None
    _clean_attributes(element, styles, prefix)
    for child in [*element]:
        if child.tag in _DROPPED or (child.tag == f"{_SVG}defs" and all(one.tag in _DROPPED for one in child)):
            element.remove(child)
        else:
            _clean(child, texts, kept, styles, prefix)
    if name in texts:
        _describe(element, texts[name])


def _clean_attributes(element: ET.Element, styles: StyleClasses, prefix: str) -> None:
    if _LINK in element.attrib:
        element.set("href", f"#{prefix}{element.attrib.pop(_LINK).removeprefix('#')}")
    if style := element.attrib.pop("style", None):
        element.set("class", styles.name(style))
    for key, value in element.attrib.items():
        if key == "d":
            element.set(key, _path(value))
        elif key in {"x", "y", "width", "height", "transform", "points"}:
            element.set(key, _NUMBER.sub(_rounded, value))
        else:
            element.set(key, _REFERENCE.sub(rf"url(#{prefix}\1)", value))


def _describe(group: ET.Element, texts: list[str]) -> None:
    """Adds the text of each mark in a group."""
    marks = [one for one in group.iter() if one.tag == "use"] or [
        one for one in group.iter() if one.tag == "path" and "id" not in one.attrib
    ]
    for mark, text in zip(marks, texts, strict=False):
        title = ET.Element("title")
        title.text = text
        mark.insert(0, title)


def _path(value: str) -> str:
    """Shortens the data of a path.

    A line through many points has relative coordinates, which are shorter.
    """
    if not _LINE.fullmatch(value):
        return " ".join(_NUMBER.sub(_rounded, value).split())
    points = [tuple(round(float(one), 1) for one in part[2:].split()) for part in value.strip().split("\n")]
    (x, y), *others = points
    found = [f"M{x:g} {y:g}l"]
    for next_x, next_y in others:
        found.append(f"{_short(next_x - x)}{_short(next_y - y)}")
        x, y = next_x, next_y
    return "".join(found).replace("l ", "l")


def _short(number: float) -> str:
    """Returns a number that a sign or a space separates from the number before."""
    text = f"{number:.1f}".removesuffix(".0").replace("0.", ".", 1) if abs(number) < 1 else f"{number:.1f}"
    text = {"-": "0", "-0": "0", "": "0"}.get(text.removesuffix(".0"), text.removesuffix(".0"))
    return text if text.startswith("-") else f" {text}"


def _rounded(found: re.Match[str]) -> str:
    return f"{float(found[0]):.1f}".removesuffix(".0").replace("-0", "-0")
