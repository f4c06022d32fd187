"""Lines of a screen, with their styles, and their text for a terminal."""

from __future__ import annotations

import re

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.prose import wrapped
from fastrnns_rs.views.text import width

TYPE_CHECKING = False  # As in the package: `typing` is slow to load.
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Literal

    Style = Literal["", "bold", "dim"]

_CODES = {"bold": "1", "dim": "2", "green": "32", "red": "31", "yellow": "33"}
#: Marks, which a colour repeats and never replaces.
_MARKS = (
    (re.compile(r"\(?↓ faster\)?"), "green"),
    (re.compile(r"\(?↑ slower\)?"), "red"),
    (re.compile(r"\? inconclusive|(?<=[%\d\]]) !(?=\s|$)|^warning\[\w+\](?=:)"), "yellow"),
    (re.compile(r"^error(?=:)"), "red"),
)
_ASCII = {
    "↓": "v",
    "↑": "^",
    "→": "->",
    "…": "...",
    "±": "+-",
    "µ": "u",
    "×": "x",
    "━": "#",
    "─": "-",
    "–": "-",
}
_ASCII_TABLE = str.maketrans(_ASCII)
#: Columns of a longer line are not kept aligned: each symbol would copy it.
_LONGEST_ALIGNED = 4096
_NOT_ASCII = re.compile(f"[{''.join(_ASCII)}]")


class Line:
    """Line of a screen.

    Attributes:
        text: Text without control characters.
        style: `bold` for headings and the answer, `dim` for context, else empty.
    """

    __slots__ = ("style", "text")

    def __init__(self, text: str, style: Style = "") -> None:
        self.text = text
        self.style = style


def plain(lines: Iterable[Line]) -> str:
    """Returns the text of lines, each with a line feed."""
    return "".join(f"{visible(line.text)}\n" for line in lines)


def wrapped_lines(texts: Iterable[str], limit: int, style: Style = "", *, breaks: bool = False) -> list[Line]:
    """Wraps sentences to the width of a terminal.

    Args:
        texts: Sentences.
        limit: Width of the terminal.
        style: Style of all lines.
        breaks: True breaks words that are too long.
    """
    return [Line(part, style) for text in texts for part in wrapped(text, limit, breaks=breaks)]


def joined(blocks: Iterable[Sequence[Line]]) -> list[Line]:
    """Joins blocks of lines by empty lines; blocks without lines are left out."""
    found: list[Line] = []
    for block in filter(None, blocks):
        found += [*([Line("")] if found else []), *block]
    return found


def drawn(lines: Iterable[Line], *, colour: bool = False, ascii_only: bool = False, limit: int | None = None) -> str:
    """Returns the text of lines for a terminal, each with a line feed.

    Args:
        lines: Lines.
        colour: True adds colours and styles.
        ascii_only: True replaces the symbols of tables by ASCII characters.
        limit: Width of the terminal, which longer replacements must not exceed; None for no limit.
    """
    found = []
    for line in lines:
        text = visible(line.text)
        texts = in_ascii(text, limit) if ascii_only else [text]
        found += [coloured(text, line.style) if colour else text for text in texts]
    return "".join(f"{text}\n" for text in found)


def coloured(text: str, style: Style = "") -> str:
    """Adds the style of a line and the colours of its marks."""
    for pattern, colour in _MARKS:
        text = pattern.sub(lambda mark, code=_CODES[colour]: f"\x1b[{code}m{mark[0]}\x1b[39m", text)  # type: ignore[misc]
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if style and text else text


def in_ascii(text: str, limit: int | None = None) -> list[str]:
    """Replaces symbols by ASCII characters, and keeps columns aligned.

    A longer replacement takes the place of spaces: of those before a number, or of those after a name.

    Args:
        text: Line.
        limit: Width of the terminal. A longer line is continued on the next; None for no limit.

    >>> in_ascii("cudnn        5.87   ±0.6 %"), in_ascii("a_long_na…me      80.8")
    (['cudnn        5.87  +-0.6 %'], ['a_long_na...me    80.8'])
    >>> in_ascii("differs    OMP_WAIT_POLICY: unset → ACTIVE")
    ['differs    OMP_WAIT_POLICY: unset -> ACTIVE']
    """
    if len(text) > _LONGEST_ALIGNED:
        text = text.translate(_ASCII_TABLE)
    place = 0
    while found := _NOT_ASCII.search(text, place):
        start, symbol = found.start(), _ASCII[found[0]]
        before, after, room = text[:start], text[start + 1 :], len(symbol) - 1
        # The cell of a table ends at two spaces.
        gap_before, gap_after = before.rfind("  "), after.find("  ")
        # A cell that begins with a letter is aligned on the left.
        is_text = before[gap_before + 2 :][:1].isalpha()
        if room and gap_before >= 0 and not is_text and before[: gap_before + 1].strip():
            taken = min(room, len(before[: gap_before + 2]) - len(before[: gap_before + 2].rstrip()) - 1)
            before = before[: gap_before + 2 - taken] + before[gap_before + 2 :]
        elif room and gap_after >= 0:
            rest = after[gap_after:]
            taken = min(room, len(rest) - len(rest.lstrip()) - 1)
            after = after[:gap_after] + rest[taken:]
        text = before + symbol + after
        place = len(before) + len(symbol)
    if limit is None or width(text) <= limit or " " not in text.strip():
        return [text]
    return wrapped(text, limit)
