"""Tables within the width of a terminal.

Columns are left out by rank, names are shortened, and sentences are wrapped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from fastrnns_rs.escaping import visible
from fastrnns_rs.views import figures, kernel_names
from fastrnns_rs.views.screen import Line, wrapped_lines
from fastrnns_rs.views.table import fit, leave_out, line, total_width
from fastrnns_rs.views.text import width

_INDENT = "  "
#: Sentences in less room are below their row.
_LEAST_SENTENCE = 24
#: No column is narrower, unless its texts are.
_LEAST_TEXT = 8


def shortened_names(texts: Sequence[str], room: int) -> list[str]:
    """Shortens names in the middle, and keeps the parts that differ."""
    if room < _LEAST_TEXT:
        return [fit(text, room) for text in texts]
    # The rows of one runner have one name.
    names = list(dict.fromkeys(texts))
    found = dict(zip(names, kernel_names.shortened([(name, name) for name in names], room), strict=True))
    return [found[text] for text in texts]


def first_words(texts: Sequence[str], room: int) -> list[str]:
    """Shortens lists of words to those that fit, and counts the others.

    >>> first_words(["cudnn jit jit_premul py"], 12)
    ['cudnn jit +2']
    """
    return [_first_words(visible(text), room) for text in texts]


def _first_words(text: str, room: int) -> str:
    if width(text) <= room:
        return text
    words = text.split(" ")
    for count in range(len(words) - 1, 0, -1):
        shown = f"{' '.join(words[:count])} +{len(words) - count}"
        if width(shown) <= room:
            return shown
    return fit(text, room).rstrip()


@dataclass(frozen=True, slots=True)
class FittedColumn:
    """Column of a table.

    Attributes:
        heading: Heading, with the unit of the column's numbers.
        right: True aligns cells on the right.
        points: True aligns numbers at the decimal point.
        rank: On a narrow terminal, columns with the highest rank are left out first; 0 is never left out.
        least: Width that texts may be shortened to; None for columns that are never shortened. For sentences, the width
            that other columns are left out for.
        shorten: Function that shortens the texts of the column to a width.
        is_sentence: True for a last column with sentences, which are wrapped.
    """

    heading: str
    right: bool = False
    points: bool = False
    rank: int = 0
    least: int | None = None
    shorten: Callable[[Sequence[str], int], list[str]] = shortened_names
    is_sentence: bool = False


@dataclass(frozen=True, slots=True)
class FittedRow:
    """Row of a table.

    Attributes:
        cells: Text of each column.
        below: Sentences below the row, such as a reason or a hint.
    """

    cells: Sequence[str]
    below: Sequence[str] = ()


def lines(columns: Sequence[FittedColumn], rows: Sequence[FittedRow], limit: int) -> list[Line]:
    """Returns the headings, then the rows with their sentences.

    Texts are escaped for a terminal. Empty columns are left out.

    Args:
        columns: Columns, from the left.
        rows: Rows.
        limit: Width of the terminal.
    """
    texts = [[visible(row.cells[place]) for row in rows] for place in range(len(columns))]
    for place, column in enumerate(columns):
        if column.points:
            texts[place] = figures.aligned(texts[place])
    natural = [
        max((width(text) for text in (column.heading, *found)), default=0)
        for column, found in zip(columns, texts, strict=True)
    ]
    kept = [place for place in range(len(columns)) if not rows or any(texts[place])]
    widths = _fitted(columns, natural, kept, limit)
    moved = None
    if widths is None and columns[kept[-1]].is_sentence:
        columns = [*columns[:-1], replace(columns[-1], least=_LEAST_SENTENCE)]
        widths = _fitted(columns, natural, kept, limit)
    if widths is None and columns[kept[-1]].is_sentence:
        # Sentences without room are below their row.
        moved = kept.pop()
        widths = _fitted(columns, natural, kept, limit)
    if widths is None:
        widths = _cut(columns, natural, kept, limit)
    for place in kept:
        if natural[place] > widths[place] and not columns[place].is_sentence:
            texts[place] = columns[place].shorten(texts[place], widths[place])
    return [*_drawn(columns, rows, texts, kept, widths, moved, limit)]


def natural_width(columns: Sequence[FittedColumn], rows: Sequence[FittedRow]) -> int:
    """Returns the width of a table with all columns and whole texts."""
    return total_width(
        [
            max(width(column.heading), *(width(visible(row.cells[place])) for row in rows), 0)
            for place, column in enumerate(columns)
        ]
    )


def _drawn(
    columns: Sequence[FittedColumn],
    rows: Sequence[FittedRow],
    texts: Sequence[Sequence[str]],
    kept: Sequence[int],
    widths: dict[int, int],
    moved: int | None,
    limit: int,
) -> Iterator[Line]:
    def joined(cells: Sequence[str]) -> str:
        return line([columns[place] for place in kept], cells, [widths[place] for place in kept])

    yield Line(joined([columns[place].heading for place in kept]), "bold")
    for index, row in enumerate(rows):
        cells = [texts[place][index] for place in kept]
        others: list[str] = []
        below = [*([texts[moved][index]] if moved is not None and texts[moved][index] else []), *row.below]
        if kept and columns[kept[-1]].is_sentence:
            room = widths[kept[-1]]
            if any(room < width(word) <= limit - len(_INDENT) for word in cells[-1].split()):
                # A path that is broken cannot be copied.
                below.insert(0, cells[-1])
                cells[-1] = ""
            # A continued line is not indented: the column keeps it together.
            cells[-1], *others = _wrapped(cells[-1], room)
        yield Line(joined(cells))
        for other in others:
            yield Line(joined([*[""] * (len(kept) - 1), other]))
        yield from wrapped_lines([_INDENT + visible(sentence) for sentence in below], limit, breaks=True)


def _wrapped(text: str, room: int) -> list[str]:
    if width(text) <= room:
        return [text]
    import textwrap

    return textwrap.wrap(text, room, break_on_hyphens=False) or [""]


def _fitted(
    columns: Sequence[FittedColumn], natural: Sequence[int], kept: list[int], limit: int
) -> dict[int, int] | None:
    """Removes columns from `kept` until the others fit.

    Returns:
        The width of each column; None if the columns do not fit.
    """
    least = [min(needed, _least(column, needed)) for column, needed in zip(columns, natural, strict=True)]
    if not leave_out(kept, least, [column.rank for column in columns], limit):
        return None
    return _narrowed(columns, {place: natural[place] for place in kept}, least, limit)


def _least(column: FittedColumn, natural: int) -> int:
    if column.is_sentence:
        return _LEAST_SENTENCE if column.least is None else column.least
    return natural if column.least is None else max(column.least, width(column.heading))


def _narrowed(
    columns: Sequence[FittedColumn], widths: dict[int, int], least: Sequence[int], limit: int
) -> dict[int, int]:
    """Narrows sentences first, which lose nothing, then the widest texts."""
    for place in [place for place in widths if columns[place].is_sentence]:
        widths[place] = max(least[place], widths[place] - max(total_width(widths.values()) - limit, 0))
    while total_width(widths.values()) > limit:
        widest = max((place for place in widths if widths[place] > least[place]), key=widths.__getitem__)
        widths[widest] -= 1
    return widths


def _cut(columns: Sequence[FittedColumn], natural: Sequence[int], kept: list[int], limit: int) -> dict[int, int]:
    """Returns the widths of columns on a very narrow terminal."""
    widths = {place: min(natural[place], _least(columns[place], natural[place])) for place in kept}
    while total_width(widths.values()) > limit and max(widths.values()) > 1:
        widths[max(widths, key=widths.__getitem__)] -= 1
    return widths
