"""Escapes for text from files that are not trusted."""

from __future__ import annotations

from functools import cache

TYPE_CHECKING = False  # As in the package: `typing` is slow to load.
if TYPE_CHECKING:
    import re

#: Characters that do something other than show themselves: they move, colour, reorder, hide, or end a line. Controls,
#: the line ends of Unicode, and what Unicode calls default ignorable. Also the two that XML and SVG cannot contain.
_ACTING = (
    *((0x00, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5)),
    *((0x180B, 0x180F), (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xD800, 0xDFFF)),
    *((0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0xFFFE, 0xFFFF)),
    *((0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
#: The last character that one byte has room for.
_LATIN_1 = 0xFF
#: Marks on one character in any script. More of them would cover the lines above, and cannot be cut by width.
_MOST_MARKS = 8
#: Removes the symbols that texts of this package contain.
_SYMBOLS = str.maketrans("", "", "…→↑↓×–±µ")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    r"""Escapes a text, so that every character is visible: `\n`, `\x1b`, `\u{202e}`.

    Backslashes stay single, so that usual names stay as they are; JSON is the format that loses nothing.
    """
    # Printable text in ASCII, but for symbols of this package, needs no look at each character.
    usual = text.translate(_SYMBOLS)
    if usual.isascii() and usual.isprintable():
        return text
    acting, symbols = _patterns()
    return acting.sub(lambda found: _shown(found[0]), symbols.sub(_few_marks, text))


def visible_lines(text: str) -> str:
    """Escapes each line of a text, as the last step before it is printed.

    Views escape each name where they measure its width. This step also escapes what a view has left in.
    """
    return "\n".join(map(visible, text.split("\n")))


def print_traceback(error: BaseException) -> None:
    """Prints the traceback of an error, whose message may come from a file."""
    import sys
    import traceback  # Most commands print none.

    sys.stderr.write(visible_lines("".join(traceback.format_exception(error))))


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Returns the patterns of characters to escape, and of long runs of symbols.

    The runs may contain combining marks.
    """
    import re  # Most texts are ASCII, and this module is slow to load.

    ranges = "".join(f"{chr(first)}-{chr(last)}" for first, last in _ACTING)
    return re.compile(f"[{ranges}]"), re.compile(rf"[^\w\x00-\x7f]{{{_MOST_MARKS + 1},}}")


def _few_marks(found: re.Match[str]) -> str:
    """Escapes the marks beyond those that one character has."""
    import unicodedata

    shown, marks = [], 0
    for one in found[0]:
        marks = marks + 1 if unicodedata.category(one).startswith("M") else 0
        shown.append(_shown(one) if marks > _MOST_MARKS else one)
    return "".join(shown)


def _shown(character: str) -> str:
    code = ord(character)
    return _NAMED.get(character) or (f"\\x{code:02x}" if code <= _LATIN_1 else f"\\u{{{code:x}}}")


def json_safe(document: str) -> str:
    r"""Escapes a JSON document, so that it is safe to print.

    Invisible characters become `\uXXXX`, which means the same. They can only be inside strings; the line ends of the
    document stay.
    """
    if document.isascii() and "\x7f" not in document:
        return document
    return _patterns()[0].sub(lambda found: _unicode_escape(found[0]), document)


def _unicode_escape(character: str) -> str:
    if character == "\n":
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place]:02x}{units[place + 1]:02x}" for place in range(0, len(units), 2))
