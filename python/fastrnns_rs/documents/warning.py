"""Warnings of documents, with their texts from the warning table."""

from __future__ import annotations

from collections.abc import Sequence

from fastrnns_rs.documents.codec import RunWarning
from fastrnns_rs.documents.warning_table import ROWS


def make_warning(
    code: str,
    *,
    evidence: str | None = None,
    message: str | None = None,
    hint: str | None = "",
    rows: Sequence[str] = (),
    **values: str,
) -> RunWarning:
    """Returns a warning with one of this package's codes.

    >>> make_warning("too_few_processes", evidence="cudnn/forward: 2 and 5 processes").hint
    'Measure each side in 10 processes: fastrnns-rs bench --processes 10 RUNNER'

    Args:
        code: Code of a row of the table.
        evidence: Evidence with numbers and units; None if the message contains it.
        message: Effect with numbers; None for the effect of the table.
        hint: Hint for this case; empty for the hint of the table, None for no hint.
        rows: Rows that the warning concerns, such as `cudnn/forward`.
        values: Values for placeholders of the table's hint, such as `FILE`.

    Raises:
        KeyError: If the table has no such code.
    """
    row = ROWS[code]
    if hint is not None:
        # The hint of an error may be an empty text.
        hint = hint or row.filled_hint(**values)
    return RunWarning(code=row.code, message=message or row.effect, evidence=evidence or None, hint=hint, rows=[*rows])
