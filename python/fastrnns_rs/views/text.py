"""Text from files that anyone may have written, made safe for where it is shown; and its width on a screen."""

from __future__ import annotations

#: Characters that do something other than show themselves: they move, colour, reorder, hide, or end a line. Controls,
#: the line ends of Unicode, and what Unicode calls default ignorable.
_ACTING = (
    *((0x00, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5)),
    *((0x180B, 0x180F), (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xD800, 0xDFFF)),
    *((0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3)),
    *((0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
#: The last character that one byte has room for.
_LATIN_1 = 0xFF
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
#: Beginnings of formulas in spreadsheets; the wide forms count under Japanese and Chinese settings.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
#: They show nothing, are no controls, and may not stand in an XML document.
_NOT_IN_XML = {"\ufffe": "\\u{fffe}", "\uffff": "\\u{ffff}"}
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"}


def visible(text: str) -> str:
    r"""One line in which every character shows itself: `\n`, `\x1b`, `\u{202e}`.

    Backslashes stay single, so that usual names stay as they are; JSON is the format that loses nothing.
    """
    # All that is printable and ASCII needs no look at each character.
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(one) if _acts(one) else one for one in text)


def _acts(character: str) -> bool:
    code = ord(character)
    return any(first <= code <= last for first, last in _ACTING)


def _shown(character: str) -> str:
    code = ord(character)
    return _NAMED.get(character) or (f"\\x{code:02x}" if code <= _LATIN_1 else f"\\u{{{code:x}}}")


def spreadsheet(text: str) -> str:
    """Text that no spreadsheet runs as a formula: an apostrophe precedes what would be one."""
    guard = "'" if text.lstrip(" ").startswith(_FORMULA) else ""
    return guard + visible(text)


def code_span(text: str) -> str:
    """A code span of markdown, in which nothing is markup."""
    if not text:
        return "(empty)"
    inner = visible(text)
    fence = "`" * (_longest_run("`", inner) + 1)
    # A backtick at an end would join the fence, and a space at both ends would be taken off.
    joins = inner[0] == "`" or inner[-1] == "`"
    stripped = inner[0] == inner[-1] == " " and inner.strip(" ") != ""
    pad = " " if joins or stripped else ""
    return f"{fence}{pad}{inner}{pad}{fence}"


def _longest_run(character: str, text: str) -> int:
    longest = current = 0
    # Most names have none.
    for one in text if character in text else "":
        current = current + 1 if one == character else 0
        longest = max(longest, current)
    return longest


def code_cell(text: str) -> str:
    """A code span for a cell of a pipe table.

    A table is cut into cells before its spans are read, so a pipe needs its backslash even here. Where the name has one
    there already, parsers differ in whether that escapes ours: such a pipe is named instead.
    """
    return code_span(text).replace("\\|", "\\x7c").replace("|", "\\|")


def xml(text: str) -> str:
    """Text for an attribute or an element of XML 1.0, which has no way to write most characters that act."""
    return "".join(_ENTITIES.get(one) or _NOT_IN_XML.get(one, one) for one in visible(text))


def json_safe(document: str) -> str:
    r"""A JSON document that can be printed: characters that act are written as `\uXXXX`, which means the same.

    They can only stand inside strings; the line ends that JSON puts between its tokens stay.
    """
    if document.isascii() and "\x7f" not in document:
        return document
    return "".join(_unicode_escape(one) if one != "\n" and _acts(one) else one for one in document)


def _unicode_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place]:02x}{units[place + 1]:02x}" for place in range(0, len(units), 2))


def width(text: str) -> int:
    """Columns of a terminal that a visible text fills."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # rare, and slow to load

    return cell_len(text)


def pad(text: str, to: int, *, right: bool = False) -> str:
    """The text with spaces up to a width, on its left if it is to stand on the right; a wider one stays whole."""
    space = " " * (to - width(text))
    return space + text if right else text + space
