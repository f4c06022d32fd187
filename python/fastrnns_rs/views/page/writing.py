"""Text of a page: templates, style sheet, script and security policy."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastrnns_rs.escaping import visible_lines
from fastrnns_rs.views.plots.figure import require
from fastrnns_rs.views.plots.style import DARK, LIGHT, Theme

if TYPE_CHECKING:
    from fastrnns_rs.views.page.inline_svg import StyleClasses
    from fastrnns_rs.views.page.parts import Article

_TEMPLATES = Path(__file__).parent / "templates"


def require_packages() -> None:
    """Imports the packages of a page.

    Raises:
        MissingError: If one is not installed.
        FastrnnsError: If one cannot be imported.
    """
    require("jinja2", "matplotlib.figure")


def page_text(title: str, articles: Sequence[Article], styles: StyleClasses) -> str:
    """Returns a page of one or several documents.

    Args:
        title: Title of the page.
        articles: Documents; several have a table of contents.
        styles: Classes of the plots.
    """
    sheet = f"{_variables()}\n{_asset('page.css')}\n{styles.sheet()}\n"
    script = _asset("page.js")
    template = _environment().get_template("page.html.j2")
    text: str = template.render(
        title=title,
        articles=articles,
        sheet=sheet,
        script=script,
        policy=f"default-src 'none'; style-src '{_hash(sheet)}'; script-src '{_hash(script)}'; base-uri 'none'; "
        "form-action 'none'",
    )
    return text


@cache
def _environment() -> Any:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )


def _shown(value: Any) -> Any:
    """Escapes a text line by line; markup of ours, which is of another type, stays."""
    return visible_lines(value) if type(value) is str else value


@cache
def _asset(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


@cache
def _variables() -> str:
    """Returns the colours as variables, light and dark."""
    dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {_colors(DARK)} }} }}"
    return f":root {{ {_colors(LIGHT)} }}\n{dark}"


def _colors(theme: Theme) -> str:
    names = ("paper", "ink", "muted", "rule", "band")
    pairs = [(name, getattr(theme, name)) for name in names]
    pairs += [(f"series-{number}", color) for number, color in enumerate(theme.series)]
    return " ".join(f"--{name}: {color};" for name, color in pairs)
