"""Text from files that anyone may have written, made safe for where it is shown; and its width on a screen."""

from __future__ import annotations

from fastrnns_rs.escaping import visible

#: Beginnings of formulas in spreadsheets; the wide forms count under Japanese and Chinese settings.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
#: They show nothing, are no controls, and may not stand in an XML document.
_NOT_IN_XML = {"\ufffe": "\\u{fffe}", "\uffff": "\\u{ffff}"}
#: All visible characters before it fill one column, as do those that we write ourselves.
_COMBINING, _OURS = "\u0300", "…→↑↓"
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"}


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


def width(text: str) -> int:
    """Columns of a terminal that a visible text fills."""
    if text.isascii() or all(one < _COMBINING or one in _OURS for one in text):
        return len(text)
    from rich.cells import cell_len  # rare, and slow to load

    return cell_len(text)


def pad(text: str, to: int, *, right: bool = False) -> str:
    """The text with spaces up to a width, on its left if it is to stand on the right; a wider one stays whole."""
    space = " " * (to - width(text))
    return space + text if right else text + space
