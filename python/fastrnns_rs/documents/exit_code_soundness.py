"""Check of the exit code that a comparison records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.documents.comparison_rows import is_regression, is_withheld, name_rows
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Change, Comparison, Row


def check_exit_code(found: Comparison) -> None:
    """Checks that a row has the cause of the exit code, whatever `fail_on` was.

    Raises:
        UsageError: If no row has it, or a runner failed without it.
    """
    rows: list[Row | Change] = [*found.rows, *found.kernels, *([found.device_time] if found.device_time else [])]
    margin = found.method.margin
    certain, possible = _find_failures(found)
    causes = {
        0: True,
        # A runner that failed has no times, in one file of several too.
        1: bool(certain or possible),
        3: any(is_regression(row, margin) for row in rows),
        4: any(is_withheld(row, margin) or row.verdict in {None, "inconclusive"} for row in rows),
    }
    if not causes.get(found.exit_code, False):
        raise UsageError(f"exit_code is {found.exit_code}, and no row is the cause")
    if certain and found.exit_code != 1:
        raise UsageError(f"exit_code is {found.exit_code}, and {certain[0]} failed")


def _find_failures(found: Comparison) -> tuple[list[str], list[str]]:
    """Returns the paths of rows that are, and that may be, causes of exit code 1.

    A runner that failed in a baseline of its own is no cause. Both sides of an `ab` are of one file.
    """
    failed = {name for one in found.warnings if one.code == "runner_failed" for name in one.rows}
    is_one_run = found.baseline.files == found.candidate.files
    certain: list[str] = []
    possible: list[str] = []
    for number, (row, (title, *_)) in enumerate(zip(found.rows, name_rows(found.rows), strict=True)):
        path = f"rows[{number}]"
        is_missing = row.candidate is None or (is_one_run and row.baseline is None)
        # Without the times of either side, it may have failed in the baseline alone.
        if title in failed and is_missing:
            (certain if row.baseline or is_one_run else possible).append(path)
        elif not failed and (row.candidate is None or row.baseline is None):
            # Older documents do not name the rows.
            possible.append(path)
    return certain, possible
