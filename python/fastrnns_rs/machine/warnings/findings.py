"""Findings of a check, as the evidence of a warning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from fastrnns_rs.documents.warning import make_warning

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.documents.diagnosis import Check

#: More findings would fill the screen, and the first few show the problem.
_SHOWN = 5


class Finding(NamedTuple):
    """Part of the evidence of a warning.

    Attributes:
        text: Name of a runner or row, with its numbers.
        rows: Rows that the finding concerns, such as `cudnn/forward`.
    """

    text: str
    rows: Sequence[str]


def row_names(runner: str, phases: Iterable[str]) -> list[str]:
    """Returns the names of the rows of a runner, such as `cudnn/forward`."""
    return [f"{runner}/{phase}" for phase in phases]


def report_findings(code: str, findings: Sequence[Finding], label: str = "", hint: str = "") -> list[RunWarning]:
    """Returns a warning with the findings as evidence; empty without findings.

    Args:
        code: Code of the warning.
        findings: Findings in the order of the rows.
        label: Text before the findings.
        hint: Hint for this case; empty for the hint of the table.
    """
    if not findings:
        return []
    evidence = label + join_first([one.text for one in findings])
    rows = [*dict.fromkeys(row for one in findings for row in one.rows)]
    return [make_warning(code, evidence=evidence, rows=rows, hint=hint)]


def report_check(code: str, check: Check, evidence: str) -> list[RunWarning]:
    """Returns the warning of a health check; empty if the check does not warn."""
    return [make_warning(code, evidence=evidence, hint=check.hint or "")] if check.status == "warn" else []


def join_first(items: Sequence[str]) -> str:
    """Joins the first items, and the number of further items."""
    more = len(items) - _SHOWN
    return "; ".join([*items[:_SHOWN], *([f"and {more} more"] if more > 0 else [])])


def format_duration(nanoseconds: float) -> str:
    """Formats nanoseconds with three digits and a unit.

    >>> [format_duration(time) for time in (999.9, 1500, 27_400_000)]
    ['1 µs', '1.5 µs', '27.4 ms']
    """
    rounded = float(f"{nanoseconds:.3g}")
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if rounded >= size:
            return f"{rounded / size:g} {unit}"
    return f"{rounded:g} ns"


def format_share(share: float) -> str:
    """Formats a share in %: one decimal below 10 %, none from 10 % on.

    >>> [format_share(share) for share in (0.025, 0.71)]
    ['2.5 %', '71 %']
    """
    percent = 100 * share
    return f"{percent:.1f} %" if round(percent, 1) < 10 else f"{percent:.0f} %"  # noqa: PLR2004  # two digits suffice
