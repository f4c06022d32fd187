"""Warnings of the two sides of a comparison, each with its side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning


def merge_warnings(baseline: Iterable[RunWarning], candidate: Iterable[RunWarning]) -> Iterator[RunWarning]:
    """Yields the warnings of two sides; a warning of both sides is yielded once.

    The message of a warning of one side begins with the side.
    """
    said = [_by_text(warnings) for warnings in (baseline, candidate)]
    for key in {**said[0], **said[1]}:
        first, second = (one.get(key, []) for one in said)
        every = [*first, *second]
        evidence = "; ".join(dict.fromkeys(one.evidence for one in every if one.evidence)) or None
        whose = "" if first and second else "baseline: " if first else "candidate: "
        yield replace(every[0], message=f"{whose}{every[0].message}", evidence=evidence)


def _by_text(said: Iterable[RunWarning]) -> dict[tuple[str, str], list[RunWarning]]:
    """Groups warnings that differ only in their evidence."""
    found: dict[tuple[str, str], list[RunWarning]] = {}
    for one in said:
        found.setdefault((one.code, one.message), []).append(one)
    return found
