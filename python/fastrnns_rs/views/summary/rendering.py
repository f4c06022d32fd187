"""Text of a summary in all formats and views, for `render`."""

from __future__ import annotations

from fastrnns_rs.errors import UsageError, unknown
from fastrnns_rs.escaping import visible_lines
from fastrnns_rs.views import summary as view_of
from fastrnns_rs.views.output_stream import check_width

TYPE_CHECKING = False  # As in the package: `typing` is slow to load.
if TYPE_CHECKING:
    from fastrnns_rs.views.summary.lists import Document


def rendered(
    document: Document,
    name: str,
    view: str,
    *,
    top: int | None,
    names: str,
    width: int | None,
    wide: bool,
    selected: bool = False,
    command: str = "",
) -> str:
    """Formats a summary; the text ends with a newline.

    Args:
        document: Summary as plain dictionaries and lists.
        name: Format other than `json`.
        view: Name of the view.
        top: Maximum number of rows of a list; None for the default of the view.
        names: `full`, `short` or `mangled`.
        width: Width of the table; None cuts no text.
        wide: True formats every list of the overview.
        selected: True for a summary of a part of the captures.
        command: Command of the report, which the next command begins with; empty for one that names the captures.

    Raises:
        UsageError: If a value is not supported, or a number is out of range.
    """
    choices = (("view", view, view_of.VIEWS), ("names", names, view_of.NAMES), ("format", name, view_of.FORMATS))
    for where, word, known in choices:
        if word not in known:
            raise unknown("invalid value", word, known, where=where)
    if (top or 0) < 0:
        raise UsageError(f"out of range: {top}", "Use an integer of at least 0.", where="top", value=top)
    check_width(width)
    if name == "html":
        from fastrnns_rs.views.page.pages import html_page
        from fastrnns_rs.views.summary.plain import PlainSummary

        return html_page(PlainSummary(document, selected=selected, command=command))
    text = view_of.render(
        document,
        name,
        by=view,
        top=top,
        names=names,
        width=width,
        wide=wide,
        selected=selected,
        command=command,
    )
    return visible_lines(text)
