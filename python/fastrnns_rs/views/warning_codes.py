"""Text of the warning table on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.views.prose import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastrnns_rs.documents.warning_table.row import Topic, WarningRow


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
    labelled = {"Evidence": row.evidence, "Commands": ", ".join(row.verbs), "Hint": row.hint}
    return lines + [line for label, text in labelled.items() for line in wrapped(f"{label}: {_plain(text)}", limit)]


def code_list(topics: Iterable[Topic]) -> list[str]:
    """Returns one line per code with its effect, by topic."""
    topics = [*topics]
    longest = max(len(row.code) for topic in topics for row in topic.rows)
    lines = []
    for topic in topics:
        lines += [f"{topic.title}:", *(f"  {row.code:{longest}} {row.short}" for row in topic.rows)]
    return lines


def _plain(text: str) -> str:
    """Returns Markdown without code marks, and with the text of links only."""
    while "](" in text:
        before, _, after = text.partition("](")
        start, _, label = before.rpartition("[")
        text = start + label + after.partition(")")[2]
    return text.replace("`", "")
