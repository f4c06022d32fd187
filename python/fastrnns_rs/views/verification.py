"""Tables of a verification, by runner and, on request, by check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.views.table import aligned

if TYPE_CHECKING:
    from fastrnns_rs.documents.verification import Check, Verification


def table(found: Verification, *, verbose: bool) -> str:
    """Formats aligned columns, then the number of runners with each status."""
    rows: list[Sequence[str]] = [("runner", "status", "checks", "worst error", "reference", "what to know")]
    for one in found.results:
        right = f"{sum(check.ok for check in one.checks)}/{len(one.checks)}" if one.checks else "-"
        rows.append((one.runner, one.status, right, _worst(one.checks), one.reference or "-", one.reason or ""))
    lines = [*aligned(rows)]
    if verbose:
        lines += ["", *aligned([("check", "", "absolute error", "relative", "worst at", "shape"), *_checks(found)])]
    counts = {status: sum(one.status == status for one in found.results) for status in ("ok", "failed", "skipped")}
    return "\n".join([*lines, "", ", ".join(f"{count} {status}" for status, count in counts.items())]) + "\n"


def _checks(found: Verification) -> Iterator[Sequence[str]]:
    for one in found.results:
        for check in one.checks:
            yield (
                f"{one.runner} {check.name}",
                "ok" if check.ok else "failed",
                f"{_number(check.max_absolute)} of {check.tolerance_absolute:.1e}",
                f"{_number(check.max_relative)} of {check.tolerance_relative:.1e}",
                "-" if check.worst_index is None else str(check.worst_index),
                _shapes(check),
            )


def _shapes(check: Check) -> str:
    shape, expected = (str(one) if one is not None else "nothing" for one in (check.shape, check.expected_shape))
    return shape if shape == expected else f"{shape}, expected {expected}"


def _worst(checks: Sequence[Check]) -> str:
    known = [check for check in checks if check.max_absolute is not None]
    return _number(max((check.max_absolute for check in known if check.max_absolute is not None), default=None))


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1e}"
