"""Escaping of untrusted text for its output format, and terminal width of text."""

from __future__ import annotations

from fastrnns_rs.escaping import visible

#: Characters that start a formula in spreadsheets; the wide forms count in Japanese and Chinese locales.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
#: All visible characters below U+0300 fill one column, as do the symbols that this package writes.
_COMBINING, _OURS = "\u0300", "…→↑↓"
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"}


def spreadsheet(text: str) -> str:
    """Escapes text for a spreadsheet.

    An apostrophe precedes text that a spreadsheet would run as a formula.
    """
    guard = "'" if text.lstrip(" ").startswith(_FORMULA) else ""
    return guard + visible(text)


def code_span(text: str) -> str:
    """Returns a Markdown code span, in which no character is markup."""
    if not text:
        return "(empty)"
    inner = visible(text)
    fence = "`" * (_longest_run("`", inner) + 1)
    # A backtick at an end would join the fence; spaces at both ends would be stripped.
    joins = inner[0] == "`" or inner[-1] == "`"
    stripped = inner[0] == inner[-1] == " " and inner.strip(" ") != ""
    pad = " " if joins or stripped else ""
    return f"{fence}{pad}{inner}{pad}{fence}"


def _longest_run(character: str, text: str) -> int:
    longest = current = 0
    # Most names contain no such character.
    for one in text if character in text else "":
        current = current + 1 if one == character else 0
        longest = max(longest, current)
    return longest


def code_cell(text: str) -> str:
    """Returns a code span for a cell of a pipe table.

    A table is split into cells before its spans are parsed, so a pipe needs a backslash even in a span. If the name
    already has a backslash before the pipe, parsers differ on the added backslash. Such a pipe is written as its code.
    """
    return code_span(text).replace("\\|", "\\x7c").replace("|", "\\|")


def xml(text: str) -> str:
    """Escapes text for an attribute or an element of XML 1.0.

    `visible` escapes the characters that XML 1.0 cannot represent.
    """
    return "".join(_ENTITIES.get(one, one) for one in visible(text))


def shell_word(text: str) -> str:
    """Quotes a word of a command where a shell needs quotes.

    A shell replaces a tilde at the start of a word, or of a part of an assignment, so names such as `@last~1` have no
    quotes.
    """
    import shlex

    is_folder = text.startswith("~") or "=~" in text or ":~" in text
    return shlex.quote(text) if is_folder or text.replace("~", "") != shlex.quote(text.replace("~", "")) else text


def width(text: str) -> int:
    """Returns the terminal columns that a visible text fills."""
    if text.isascii() or all(one < _COMBINING or one in _OURS for one in text):
        return len(text)
    from fastrnns_rs._core import display_width  # Rarely needed; the first screen does not wait for it.

    # Lone surrogates have no width.
    return display_width(visible(text))


def pad(text: str, to: int, *, right: bool = False) -> str:
    """Pads a text with spaces to a width; a wider text is not cut.

    Args:
        text: Text, with no control characters.
        to: Width, in terminal columns.
        right: True aligns the text on the right.
    """
    space = " " * (to - width(text))
    return space + text if right else text + space
