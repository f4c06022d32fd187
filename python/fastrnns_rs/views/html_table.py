"""HTML tables, in which names from files are text and never markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from fastrnns_rs.escaping import visible

#: MathJax of a notebook leaves these classes alone: a name may have dollar signs.
_CLASSES = "tex2jax_ignore mathjax_ignore"
_NUMBER, _TEXT = ' style="text-align:right"', ' style="text-align:left"'


def escaped(text: str) -> str:
    """Escapes a text; control characters are visible, as on a terminal."""
    return escape(visible(text))


def paragraph(text: str) -> str:
    """Returns a paragraph."""
    return f'<p class="{_CLASSES}">{escaped(text)}</p>\n'


def preformatted(lines: Iterable[str]) -> str:
    """Returns lines with aligned columns."""
    text = "\n".join(map(escaped, lines))
    return f'<pre class="{_CLASSES}">{text}</pre>\n'


def table(headings: Sequence[Sequence[str]], rows: Iterable[Sequence[str]], texts: Iterable[int] = (0,)) -> str:
    """Returns a table.

    Args:
        headings: Lines of headings, each with a cell for each column.
        rows: Cells of each row. The last cell of a shorter row fills the rest of its line.
        texts: Columns that are aligned on the left.
    """
    left = {*texts}
    count = len(headings[0])
    head = "".join(_row(one, "th", left, count) for one in headings)
    body = "".join(_row(one, "td", left, count) for one in rows)
    return f'<table class="{_CLASSES}">\n<thead>\n{head}</thead>\n<tbody>\n{body}</tbody>\n</table>\n'


def _row(cells: Sequence[str], tag: str, left: set[int], count: int) -> str:
    drawn = []
    for place, text in enumerate(cells):
        span = count - place if place == len(cells) - 1 else 1
        style = _TEXT if place in left or span > 1 else _NUMBER
        wide = f' colspan="{span}"' if span > 1 else ""
        drawn.append(f"<{tag}{style}{wide}>{escaped(text.strip())}</{tag}>")
    return f"<tr>{''.join(drawn)}</tr>\n"
