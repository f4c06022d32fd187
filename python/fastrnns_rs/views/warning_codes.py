"""Text of the warning table on a terminal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from fastrnns_rs.views.prose import hint_lines, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastrnns_rs.documents.warning_table.row import Topic, WarningRow

#: Least columns for the effect beside the codes, in the list of codes.
_LEAST_EFFECT = 20


def explanation(row: WarningRow, limit: int) -> list[str]:
    """Returns effect, background, evidence, commands and hint of a code.

    Args:
        row: Row of the code.
        limit: Width of the terminal in columns.
    """
    lines = [*wrapped(f"warning[{row.code}]: {_plain(row.effect)}", limit), ""]
    if row.details:
        # A paragraph without a label has no indented lines.
        lines += [*(line.strip() for line in wrapped(_plain(row.details), limit)), ""]
    for label, text in {"Evidence": row.evidence, "Commands": ", ".join(row.verbs)}.items():
        lines += wrapped(f"{label}: {_plain(text)}", limit)
    return lines + hint_lines("Hint", _plain(row.hint), limit)


def code_list(topics: Iterable[Topic], limit: int) -> list[str]:
    """Returns each code with its effect, by topic.

    Args:
        topics: Topics.
        limit: Width of the terminal. Effects that are too long continue below their first line.
    """
    topics = [*topics]
    begin = 3 + max(len(row.code) for topic in topics for row in topic.rows)
    # A narrow terminal has no room beside the longest code.
    room = limit - begin if limit - begin >= _LEAST_EFFECT else 0
    lines = []
    for topic in topics:
        lines.append(f"{topic.title}:")
        for row in topic.rows:
            parts = textwrap.wrap(row.short, room or max(limit - 4, _LEAST_EFFECT), break_long_words=False)
            first = f"  {row.code:{begin - 3}} {parts[0]}" if room else f"  {row.code}"
            indent = " " * (begin if room else 4)
            lines += [first, *(f"{indent}{part}" for part in parts[1 if room else 0 :])]
    return lines


def _plain(text: str) -> str:
    """Returns Markdown without code marks, and with the text of links only."""
    while "](" in text:
        before, _, after = text.partition("](")
        start, _, label = before.rpartition("[")
        text = start + label + after.partition(")")[2]
    return text.replace("`", "")
