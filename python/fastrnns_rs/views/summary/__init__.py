"""Summaries of captures, as text for terminals, as Markdown and as CSV.

Names come from untrusted files. Each name is escaped for its output format.
"""

from __future__ import annotations

from fastrnns_rs.escaping import visible
from fastrnns_rs.views import table
from fastrnns_rs.views.prose import wrapped
from fastrnns_rs.views.summary import fitted_list
from fastrnns_rs.views.summary.column_units import BAR
from fastrnns_rs.views.summary.columns import SCREEN
from fastrnns_rs.views.summary.glance import glance
from fastrnns_rs.views.summary.lists import VIEWS, List
from fastrnns_rs.views.summary.pages import page
from fastrnns_rs.views.text import code_span

TYPE_CHECKING = False  # As in the package: `typing` is slow to load.
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fastrnns_rs.views.summary.columns import Column
    from fastrnns_rs.views.summary.lists import Document, Row
    from fastrnns_rs.views.summary.pages import Part

__all__ = ["FORMATS", "NAMES", "VIEWS", "render"]

#: All formats of a summary. The extension itself writes `json`, which contains the whole document for any view.
FORMATS = ("table", "json", "csv", "markdown", "html")
#: Forms of a kernel's name: demangled, without namespaces and arguments, or mangled as in the linker. Not every capture
#: has mangled names. CSV and JSON contain all forms.
NAMES: dict[str, Callable[[Row], str]] = {
    "full": lambda row: row["name"],
    "short": lambda row: row["short_name"],
    "mangled": lambda row: row["name"] if row["mangled_name"] is None else row["mangled_name"],
}


def render(
    document: Document,
    name: str,
    *,
    by: str,
    top: int | None,
    names: str,
    width: int | None,
    wide: bool = False,
    selected: bool = False,
    command: str = "",
) -> str:
    """Formats a report; the text ends with a newline.

    Args:
        document: Summary as plain dictionaries and lists.
        name: `table`, `csv` or `markdown`.
        by: Name of a view.
        top: Maximum rows of each list. None shows 10 in the overview of `table` and `markdown`, else all.
        names: Key of `NAMES`.
        width: Width of the terminal, to which texts are cut. None cuts no text; in the brief report it is 80.
        wide: True formats every list of the overview as `table`, instead of the brief report.
        selected: True for a summary of a part of the captures.
        command: Command of the report, as in `glance`.
    """
    if name == "csv":
        found = VIEWS[by].list(document, lambda column: column.place != SCREEN, top)
        return table.csv([[column.key for column in found.columns], *_rows(found.columns, found.rows, "data")])
    if names != "full":
        kernels = [row | {"name": NAMES[names](row)} for row in document["kernels"]]
        document = document | {"kernels": kernels}
    if name == "table" and by == "overview" and not wide and document["captures"]:
        return glance(document, top=top, width=width, selected=selected, command=command)
    parts = page(document, by, top, selected=selected)
    blocks = (_terminal(part, width) if name == "table" else _markdown(part) for part in parts)
    return "\n".join("".join(f"{line}\n" for line in block) for block in blocks)


def _rows(columns: Sequence[Column], rows: Sequence[Row], place: str) -> Iterator[tuple[str, ...]]:
    return zip(*(column.unit.texts(place, list(map(column.read, rows))) for column in columns), strict=True)


def _terminal(part: Part, width: int | None) -> list[str]:
    if isinstance(part, str):
        return _wrapped(part, width)
    if isinstance(part, List):
        note: list[str] = []
        if width is None:
            drawn = table.lines(part.columns, _rows(part.columns, part.rows, "terminal"))
        else:
            drawn, note = fitted_list.lines(part.columns, part.rows, width)
        return [part.title, *drawn, *_wrapped(f"… {part.more}" if part.more else "", width), *note]
    return [line for label, text in part for line in _wrapped(f"{_labels(label)}{visible(text)}", width)]


def _wrapped(sentence: str, width: int | None) -> list[str]:
    if not sentence:
        return []
    return [sentence] if width is None else wrapped(sentence, width)


def _markdown(part: Part) -> list[str]:
    if isinstance(part, str):
        return [part]
    if isinstance(part, List):
        # Bars are for terminals only; in Markdown a bar would be as wide as a name.
        columns = [column for column in part.columns if column.unit is not BAR]
        drawn = table.markdown(columns, _rows(columns, part.rows, "markdown"), spaced=True)
        return [f"### {part.title}", "", *drawn, *(["", part.more] if part.more else [])]
    return [f"- {label}{': ' if label else ''}{code_span(text)}" for label, text in part]


def _labels(label: str) -> str:
    """Returns a label as the prefix of a terminal line."""
    if not label:
        return ""
    return f"{'  ' if label in {'seen', 'hint'} else ''}{label}: "
