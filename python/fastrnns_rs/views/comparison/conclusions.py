"""Conclusions below the table of a comparison of runs: counts and open rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.comparison import words
from fastrnns_rs.views.screen import Line, wrapped_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fastrnns_rs.documents.comparison import Comparison

#: Maximum numbers of names in a line, and of suggested numbers of processes.
_NAMES, _SUGGESTIONS = 4, 4


def lines(comparison: Comparison, limit: int) -> list[Line]:
    """Returns the counts of all verdicts, then lines about rows without one.

    Args:
        comparison: Comparison of runs.
        limit: Width of the terminal.
    """
    named = words.named_rows(comparison)
    texts = [*_open(named), *_overruled(named), *_without_verdict(named)]
    sessions = words.sessions(comparison)
    found = wrapped_lines([words.counts_with_margin(comparison)], limit, "bold")
    found += wrapped_lines(texts, limit)
    if sessions is not None:
        found += [Line(""), *wrapped_lines([sessions], limit, "dim")]
    return found


def listed(names: Sequence[str]) -> str:
    """Returns `a, b, c and 3 more`."""
    shown = [visible(one) for one in names[:_NAMES]]
    if len(names) > _NAMES:
        return f"{', '.join(shown)} and {len(names) - _NAMES:,} more"
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def by_text(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Returns the names of each text."""
    found: dict[str, list[str]] = {}
    for text, name in pairs:
        found.setdefault(text, []).append(name)
    return found


def _open(named: Sequence[words.NamedRow]) -> Iterator[str]:
    """Yields the numbers of processes that inconclusive rows need."""
    inconclusive = [one for one in named if one.row.verdict == "inconclusive"]
    needed = [(words.suggested_processes(one.row), one.name) for one in inconclusive]
    groups = by_text((text, name) for text, name in needed if text and text != words.NEVER)
    parts = []
    for number, (text, names) in enumerate(groups.items()):
        start = f"need{'s' if len(names) == 1 else ''} a new comparison " if number == 0 else ""
        end = " processes per side" if number == 0 else ""
        parts.append(f"{listed(names)} {start}with about {text}{end}")
    if parts:
        more = sum(map(len, [*groups.values()][_SUGGESTIONS:]))
        yield f"inconclusive: {', '.join(parts[:_SUGGESTIONS])}{f', {more:,} more rows with others' if more else ''}"
    if never := [name for text, name in needed if text == words.NEVER]:
        yield f"{listed(never)} cannot be decided with {words.MOST_SUGGESTED} processes per side"


def _overruled(named: Sequence[words.NamedRow]) -> Iterator[str]:
    reasons = by_text((one.row.reason, one.name) for one in named if one.is_overruled and one.row.reason)
    for reason, names in reasons.items():
        # A reason begins with the verdict that was withdrawn: `slower by itself, but not among 6 rows`.
        text = visible(reason) if len(names) == 1 else visible(reason).replace("by itself", "by themselves")
        yield f"inconclusive: {listed(names)} {'is' if len(names) == 1 else 'are'} {text}"


def _without_verdict(named: Sequence[words.NamedRow]) -> Iterator[str]:
    missing = [one for one in named if words.choose_verdict(one.row) is None]
    for reason, names in by_text((one.row.reason, one.name) for one in missing).items():
        # Most reasons say themselves that there is no verdict.
        because = visible(reason).removesuffix(": no verdict")
        yield f"no verdict: {listed(names)}{f': {because}' if because else ''}"
