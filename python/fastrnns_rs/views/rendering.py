"""Text of documents in all formats and views, for `render`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents import layout
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.documents.diagnosis import Diagnosis
from fastrnns_rs.documents.history import History
from fastrnns_rs.documents.inductor_report import InductorReport
from fastrnns_rs.documents.listing import Catalogue
from fastrnns_rs.documents.noise_floor import NoiseFloorDocument
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.documents.verification import Verification
from fastrnns_rs.errors import UsageError, is_one_of, unknown
from fastrnns_rs.views.output_stream import check_width
from fastrnns_rs.views.prose import WIDTH, warning_lines
from fastrnns_rs.views.screen import Line, plain

if TYPE_CHECKING:
    from fastrnns_rs.documents.document import Document

OVERVIEW = "overview"


@dataclass(frozen=True, slots=True)
class _Request:
    """Requested table.

    Attributes:
        view: Name of the view.
        wide: True adds details.
        width: Width of the table.
    """

    view: str
    wide: bool
    width: int


@dataclass(frozen=True, slots=True)
class _Kind:
    """Views and formats of a kind of document.

    Attributes:
        lines: Function that returns the lines of a table.
        views: Names of the tables.
        formats: Functions of all formats but `table` and `json`.
    """

    lines: Callable[[Any, _Request], Iterable[Line]]
    views: tuple[str, ...] = (OVERVIEW,)
    formats: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)


def rendered(document: Document, name: str, view: str, *, wide: bool, width: int | None) -> str:
    """Formats a document; non-empty text ends with a newline.

    All formats are safe to print: control characters in names are escaped.

    Args:
        document: Document.
        name: Format.
        view: View of the table.
        wide: True adds details to the table.
        width: Width of the table in characters; None for 80.

    Raises:
        UsageError: If the document does not have the format or the view, or the width is out of range.
        ValueError: If JSON cannot represent a number of a run or comparison.
    """
    kind = next((_KINDS[one] for one in type(document).__mro__ if one in _KINDS), _Kind(_prompt))
    known = ("table", "json", *kind.formats)
    if not is_one_of(name, known):
        raise unknown("invalid value", name, known, where="format")
    if not is_one_of(view, kind.views):
        raise unknown("invalid value", view, kind.views, where="view")
    if view != OVERVIEW and name != "table":
        raise UsageError(f"`view` needs the format table, and `format` is {name}", "Leave out `view` or `format`.")
    check_width(width)
    if isinstance(document, Run | Comparison):
        layout.check(document)
    if name == "json":
        return document.to_json()
    if name != "table":
        return kind.formats[name](document)
    return plain(kind.lines(document, _Request(view, wide, WIDTH if width is None else width)))


def _run(run: Run, asked: _Request) -> Iterable[Line]:
    from fastrnns_rs.views.run import run_screen, sweep_tables

    if asked.view == "warnings":
        return _warnings(run, asked)
    if asked.view == "sweep":
        tables = [] if run.sweep is None else sweep_tables.lines(run.sweep, asked.width)
        return [*map(Line, tables)] or [Line("no sweep")]
    return run_screen.lines(run, asked.width, wide=asked.wide)


def _comparison(comparison: Comparison, asked: _Request) -> Iterable[Line]:
    from fastrnns_rs.views.comparison import terminal

    if asked.view == "warnings":
        return _warnings(comparison, asked)
    return terminal.lines(comparison, asked.width, wide=asked.wide)


def _warnings(document: Run | Comparison, asked: _Request) -> Iterable[Line]:
    lines = [
        Line(text)
        for one in document.warnings
        for text in warning_lines(one.code, one.message, one.evidence, one.hint, asked.width)
    ]
    return lines or [Line("no warnings")]


def _verification(found: Verification, asked: _Request) -> Iterable[Line]:
    from fastrnns_rs.views.verification import lines

    return lines(found, asked.width, verbose=asked.view == "checks")


def _inductor(report: InductorReport, asked: _Request) -> Iterable[Line]:
    from fastrnns_rs.views.inductor_report import lines

    return lines(report, asked.width)


def _history(found: History, asked: _Request) -> Iterable[Line]:
    from fastrnns_rs.views.history import lines

    return lines(found, 0, asked.width, wide=asked.wide)


def _catalogue(found: Catalogue, asked: _Request) -> Iterable[Line]:
    from fastrnns_rs.views.listing import lines

    return lines(found, asked.width)


def _diagnosis(found: Diagnosis, asked: _Request) -> Iterable[Line]:
    from fastrnns_rs.views.diagnosis import lines

    return lines(found, asked.width)


def _noise(found: NoiseFloorDocument, asked: _Request) -> Iterable[Line]:
    from fastrnns_rs.views.noise import sentence
    from fastrnns_rs.views.prose import wrapped

    return map(Line, wrapped(sentence(found.noise_floor), asked.width))


def _prompt(document: Document, _asked: _Request) -> Iterable[Line]:
    """Returns the text of the prompt, for documents without a screen."""
    return map(Line, repr(document).split("\n"))


def _run_formats() -> dict[str, Callable[[Run], str]]:
    from fastrnns_rs.views.page.pages import html_page
    from fastrnns_rs.views.run import upstream_json
    from fastrnns_rs.views.run.fastrnns_table import fastrnns_table
    from fastrnns_rs.views.run.run_csv import csv
    from fastrnns_rs.views.run.run_markdown import markdown

    others = {"fastrnns": fastrnns_table, "oss": upstream_json.oss, "pep": upstream_json.pep}
    return {"csv": csv, "markdown": markdown, "html": html_page, **others}


def _page(document: Document) -> str:
    from fastrnns_rs.views.page.pages import html_page

    return html_page(document)


def _comparison_formats() -> dict[str, Callable[[Comparison], str]]:
    from fastrnns_rs.views.comparison.junit import junit
    from fastrnns_rs.views.comparison.markdown import markdown
    from fastrnns_rs.views.page.pages import html_page

    return {"markdown": markdown, "html": html_page, "junit": junit}


_KINDS: dict[type, _Kind] = {
    Run: _Kind(_run, (OVERVIEW, "sweep", "warnings"), _run_formats()),
    Comparison: _Kind(_comparison, (OVERVIEW, "warnings"), _comparison_formats()),
    Verification: _Kind(_verification, (OVERVIEW, "checks")),
    InductorReport: _Kind(_inductor, formats={"html": _page}),
    History: _Kind(_history, formats={"html": _page}),
    Catalogue: _Kind(_catalogue),
    Diagnosis: _Kind(_diagnosis),
    NoiseFloorDocument: _Kind(_noise),
}
