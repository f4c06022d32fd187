"""Results of health checks that compare a value with an expected value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.documents.diagnosis import Check

if TYPE_CHECKING:
    from fastrnns_rs.documents.diagnosis import CheckId


def judged(
    name: CheckId, wrong: bool, value: str | float | None, message: str, hint: str, *, unit: str | None = None
) -> Check:
    """Returns the check of a value: a warning with a hint if `wrong`, else ok."""
    if wrong:
        return Check(id=name, status="warn", value=value, unit=unit, message=message, hint=hint)
    return Check(id=name, status="ok", value=value, unit=unit, message=message)
