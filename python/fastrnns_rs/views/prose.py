"""Sentences on a terminal: wrapped at its width, figures with their units, warnings with their hints."""

from __future__ import annotations

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.text import width

_FIGURE = r"(\d) (?=(?:[nµm]?s|%|[kMGT]?B(?:/s)?)(?!\w))"
#: Columns where no terminal says how wide it is.
WIDTH = 80
_LEAST = 20
_NO_BREAK = "\N{NO-BREAK SPACE}"


def wrapped(text: str, limit: int) -> list[str]:
    """Wraps a sentence; all lines but the first are indented, and a word that is too long stays whole."""
    if width(text) <= limit:
        return [text]
    import re  # most sentences fit, and these two are slow to load
    import textwrap

    indent = text[: len(text) - len(text.lstrip())]
    lines = textwrap.wrap(
        re.sub(_FIGURE, rf"\1{_NO_BREAK}", text.lstrip()),
        max(limit, _LEAST),
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_on_hyphens=False,
        break_long_words=False,
    )
    return [line.replace(_NO_BREAK, " ") for line in lines] or [""]


def warning_lines(code: str, message: str, evidence: str | None, hint: str | None, limit: int) -> list[str]:
    """The lines of `warning[code]: effect: evidence`, then the hint."""
    said = ": ".join(visible(part) for part in (message, evidence) if part)
    return wrapped(f"warning[{code}]: {said}", limit) + (wrapped(f"  hint: {visible(hint)}", limit) if hint else [])
