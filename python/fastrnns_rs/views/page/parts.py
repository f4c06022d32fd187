"""Parts of a page, which the template writes as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from fastrnns_rs.escaping import visible

#: Longer tables begin with a field that filters their rows.
_FILTERED_FROM = 13


@dataclass(frozen=True, slots=True)
class Cell:
    """Cell of a table.

    Attributes:
        text: Text, as other views show it.
        value: Number of the document; None for a text.
    """

    text: str
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Table whose numbers are those of the document.

    Attributes:
        caption: Name of the rows.
        headings: Heading of each column, with the unit of its numbers.
        rows: Cells of each row. The last cell of a shorter row fills the rest of its line.
        texts: Columns of texts, which are aligned on the left.
        note: Sentence below the table; empty for none.
    """

    kind: ClassVar[str] = "table"
    caption: str
    headings: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    texts: frozenset[int] = frozenset({0})
    note: str = ""

    @property
    def is_filtered(self) -> bool:
        """True for a table that begins with a field that filters its rows."""
        return len(self.rows) >= _FILTERED_FROM


@dataclass(frozen=True, slots=True)
class Chart:
    """Plot.

    Attributes:
        svg: Markup of the plot.
        caption: Sentence below it.
    """

    kind: ClassVar[str] = "chart"
    svg: str
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """Paragraph.

    Attributes:
        text: Text.
        role: `answer` for the answer of the page, `note` for a remark; empty for others.
    """

    kind: ClassVar[str] = "text"
    text: str
    role: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """Command to copy."""

    kind: ClassVar[str] = "command"
    text: str


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values, such as those of a machine."""

    kind: ClassVar[str] = "facts"
    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Remarks:
    """Warnings, each with its evidence and its hint."""

    kind: ClassVar[str] = "remarks"
    items: Sequence[tuple[str, str, str | None, str | None]]


@dataclass(frozen=True, slots=True)
class Fold:
    """Parts that the reader unfolds.

    Attributes:
        summary: Line that is always shown.
        parts: Parts inside.
        is_open: True shows them at first.
    """

    kind: ClassVar[str] = "fold"
    summary: str
    parts: Sequence[Any]
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """Section of a page, with a heading."""

    title: str
    parts: Sequence[Any]


@dataclass(slots=True)
class Article:
    """Page of one document.

    Attributes:
        title: Heading.
        context: Lines below the heading.
        sections: Sections in order; those without parts are left out.
    """

    title: str
    context: Sequence[str]
    sections: list[Section] = field(default_factory=list)


def text_cell(text: object) -> Cell:
    """Returns a cell with a text, whose control characters are visible."""
    return Cell(visible("" if text is None else str(text)))


def text_rows(rows: Iterable[Iterable[object]]) -> list[list[Cell]]:
    """Returns rows of texts."""
    return [[text_cell(cell) for cell in row] for row in rows]
