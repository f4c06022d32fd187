"""Screen of a verification: a row for each runner, and for each check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.escaping import visible
from fastrnns_rs.views import fitted_table
from fastrnns_rs.views.fitted_table import FittedColumn, FittedRow
from fastrnns_rs.views.screen import Line, wrapped_lines

if TYPE_CHECKING:
    from fastrnns_rs.documents.verification import Check, Verification

_NONE = "-"
_STATUSES = ("ok", "failed", "skipped", "interrupted")
_NAME = 14
_RUNNERS = (
    FittedColumn("runner", least=_NAME),
    FittedColumn("status"),
    FittedColumn("checks", right=True, rank=1),
    FittedColumn("worst error", right=True, rank=2),
    FittedColumn("reference", least=_NAME, rank=3),
)
_CHECKS = (
    FittedColumn("runner", least=10),
    FittedColumn("check", least=20),
    FittedColumn("status"),
    FittedColumn("abs. error", right=True, rank=1),
    FittedColumn("allowed", right=True, rank=2),
    FittedColumn("rel. error", right=True, rank=3),
    FittedColumn("allowed", right=True, rank=4),
    FittedColumn("worst at", rank=5),
    FittedColumn("shape", rank=6),
)


def lines(found: Verification, limit: int, *, verbose: bool = False) -> list[Line]:
    """Returns the runners, and the number of runners with each status.

    Args:
        found: Verification.
        limit: Width of the terminal.
        verbose: True adds a row for each check.
    """
    shown: list[Line] = []
    if verbose and any(one.checks for one in found.results):
        shown = [*fitted_table.lines(_CHECKS, [*_checks(found)], limit), Line("")]
    if found.results:
        shown += [*fitted_table.lines(_RUNNERS, [*_runners(found)], limit), Line("")]
    if notes := wrapped_lines(_notes(found), limit, breaks=True):
        shown += [*notes, Line("")]
    return [*shown, Line(summary(found), "bold")]


def summary(found: Verification) -> str:
    """Returns the number of runners with each status, as `31 ok, 2 skipped`."""
    counts = {status: sum(one.status == status for one in found.results) for status in _STATUSES}
    return ", ".join(f"{count:,} {status}" for status, count in counts.items() if count) or "no runners"


def _runners(found: Verification) -> Iterator[FittedRow]:
    for one in found.results:
        right = f"{sum(check.ok for check in one.checks)}/{len(one.checks)}" if one.checks else _NONE
        reason = [one.reason] if one.reason and one.status == "failed" else []
        yield FittedRow((one.runner, one.status, right, _worst(one.checks), one.reference or _NONE), reason)


def _notes(found: Verification) -> Iterator[str]:
    """Yields each remark about correct and skipped runners, with their names."""
    by_reason: dict[str, list[str]] = {}
    for one in found.results:
        if one.reason and one.status != "failed":
            by_reason.setdefault(one.reason, []).append(one.runner)
    for reason, names in by_reason.items():
        everything = len(names) == len(found.results) > 1
        yield f"{'all runners' if everything else ', '.join(map(visible, names))}: {visible(reason)}"


def _checks(found: Verification) -> Iterator[FittedRow]:
    for one in found.results:
        for check in one.checks:
            cells = (
                one.runner,
                check.name,
                "ok" if check.ok else "failed",
                _number(check.max_absolute),
                _number(check.tolerance_absolute),
                _number(check.max_relative),
                _number(check.tolerance_relative),
                _NONE if check.worst_index is None else str(check.worst_index),
                _shapes(check),
            )
            yield FittedRow(cells)


def _shapes(check: Check) -> str:
    shape, expected = (str(one) if one is not None else "nothing" for one in (check.shape, check.expected_shape))
    return shape if shape == expected else f"{shape}, expected {expected}"


def _worst(checks: Sequence[Check]) -> str:
    return _number(max((check.max_absolute for check in checks if check.max_absolute is not None), default=None))


def _number(value: float | None) -> str:
    return _NONE if value is None else f"{value:.1e}"
