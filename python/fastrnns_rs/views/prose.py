"""Sentences on a terminal: wrapping, figures with units, warnings with hints."""

from __future__ import annotations

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.text import width

_FIGURE = r"(\d) (?=(?:[nµm]?s|%|[kMGT]?B(?:/s)?)(?!\w))"
#: Columns if the width of the terminal is unknown.
WIDTH = 80
_LEAST = 20
#: Longer texts are wrapped in pieces: for each line of a word that is broken, the rest of the word is copied.
_PIECE = 1 << 14
#: Beginning of a command to copy.
_PROGRAM = "fastrnns-rs "
_NO_BREAK = "\N{NO-BREAK SPACE}"


def wrapped(text: str, limit: int, *, breaks: bool = False) -> list[str]:
    """Wraps a sentence to `limit` columns.

    All lines but the first are indented.

    Args:
        text: Sentence, whose own indentation is kept.
        limit: Width of the terminal.
        breaks: True breaks a word that is too long. False keeps it whole, for commands to copy.
    """
    if width(text) <= limit:
        return [text]
    import re  # Most sentences fit, and both modules are slow to load.
    import textwrap

    indent = text[: len(text) - len(text.lstrip())]
    body = re.sub(_FIGURE, rf"\1{_NO_BREAK}", text.lstrip())
    lines = [
        line
        for start in range(0, len(body), _PIECE if breaks else max(len(body), 1))
        for line in textwrap.wrap(
            body[start : start + _PIECE] if breaks else body,
            max(limit, _LEAST),
            initial_indent=f"{indent}  " if start else indent,
            subsequent_indent=f"{indent}  ",
            break_on_hyphens=False,
            break_long_words=breaks,
        )
    ]
    return [line.replace(_NO_BREAK, " ") for line in lines] or [""]


def labelled(label: str, word: str, limit: int) -> list[str]:
    """Returns `label: word`, or two lines if that is wider than the terminal.

    A path or a command to copy is never broken.
    """
    whole = f"{label}: {word}"
    return [whole] if width(whole) <= limit else [f"{label}:", f"  {word}"]


def warning_lines(code: str, message: str, evidence: str | None, hint: str | None, limit: int) -> list[str]:
    """Returns the lines of `warning[code]: effect: evidence`, then the hint."""
    body = ": ".join(visible(part) for part in (message, evidence) if part)
    return wrapped(f"warning[{visible(code)}]: {body}", limit) + (hint_lines("  hint", hint, limit) if hint else [])


def hint_lines(label: str, hint: str, limit: int) -> list[str]:
    """Returns the lines of a hint.

    A command to copy that does not fit after its sentence is on a line of its own, where it is not wrapped.

    Args:
        label: Label with its indentation.
        hint: Sentence, which may end with a colon and a command.
        limit: Width of the terminal.
    """
    text = f"{label}: {visible(hint)}"
    before, found, command = text.rpartition(f": {_PROGRAM}")
    if width(text) <= limit or not found:
        return wrapped(text, limit)
    indent = text[: len(text) - len(text.lstrip())]
    return [*wrapped(f"{before}:", limit), f"{indent}  {_PROGRAM}{command}"]


def start_time(utc: str) -> str:
    """Formats the start of a run.

    >>> start_time("2026-11-22T09:14:05Z")
    '2026-11-22 09:14 UTC'
    """
    return f"{utc[:16].replace('T', ' ')} UTC"
