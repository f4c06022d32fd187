"""Results of health checks that compare a value with an expected one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.documents.diagnosis import Check

if TYPE_CHECKING:
    from fastrnns_rs.documents.diagnosis import CheckId


def judged(
    name: CheckId, wrong: bool, value: str | float | None, message: str, hint: str, *, unit: str | None = None
) -> Check:
    """The check of a value: a warning with a hint where it is wrong, else well."""
    if wrong:
        return Check(id=name, status="warn", value=value, unit=unit, message=message, hint=hint)
    return Check(id=name, status="ok", value=value, unit=unit, message=message)
