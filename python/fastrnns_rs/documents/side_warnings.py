"""Warnings of the two sides of a comparison, each with its side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning


def distinct_warnings(found: Iterable[RunWarning]) -> list[RunWarning]:
    """Returns warnings without equal ones. A file may have thousands."""
    return [*{_values(one): one for one in found}.values()]


def omit_warnings(found: Iterable[RunWarning], known: Iterable[RunWarning]) -> list[RunWarning]:
    """Returns the warnings that are not among known ones."""
    omitted = {*map(_values, known)}
    return [one for one in found if _values(one) not in omitted]


def _values(one: RunWarning) -> tuple[str | None, ...]:
    return (one.code, one.message, one.evidence, one.hint, *one.rows)


def merge_warnings(baseline: Iterable[RunWarning], candidate: Iterable[RunWarning]) -> Iterator[RunWarning]:
    """Yields the warnings of two sides; a warning of both sides is yielded once.

    The message of a warning of one side begins with the side. Warnings with different hints stay apart, because a hint
    has one command.
    """
    said = [_by_text(warnings) for warnings in (baseline, candidate)]
    for key in {**said[0], **said[1]}:
        first, second = (one.get(key, []) for one in said)
        every = [*first, *second]
        evidence = "; ".join(dict.fromkeys(one.evidence for one in every if one.evidence)) or None
        rows = [*dict.fromkeys(row for one in every for row in one.rows)]
        whose = "" if first and second else "baseline: " if first else "candidate: "
        yield replace(every[0], message=f"{whose}{every[0].message}", evidence=evidence, rows=rows)


def _by_text(said: Iterable[RunWarning]) -> dict[tuple[str, str, str | None], list[RunWarning]]:
    """Groups warnings that differ only in their evidence and rows."""
    found: dict[tuple[str, str, str | None], list[RunWarning]] = {}
    for one in said:
        found.setdefault((one.code, one.message, one.hint), []).append(one)
    return found
