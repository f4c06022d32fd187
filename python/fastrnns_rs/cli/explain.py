"""Command `fastrnns-rs explain`."""

from __future__ import annotations

from shutil import get_terminal_size
from typing import TYPE_CHECKING

import click

from fastrnns_rs.cli import shared
from fastrnns_rs.cli.options import Verb
from fastrnns_rs.documents.warning_table import ROWS, TOPICS
from fastrnns_rs.errors import ExitCode, UsageError
from fastrnns_rs.views.warning_codes import code_list, explanation

if TYPE_CHECKING:
    from fastrnns_rs.documents.warning_table.row import WarningRow


@click.command(name="explain", cls=Verb)
@click.argument("code", required=False)
def command(code: str | None) -> int:
    """Explains a warning code.

    CODE is the word in the brackets of a warning, such as drift in warning[drift]. Without CODE, all codes are listed.
    """
    lines = code_list(TOPICS) if code is None else explanation(_row(code), get_terminal_size().columns)
    shared.deliver("".join(f"{line}\n" for line in lines), None)
    return ExitCode.DONE


def _row(code: str) -> WarningRow:
    if code in ROWS:
        return ROWS[code]
    import difflib  # Few codes are misspelt.

    nearest = difflib.get_close_matches(code.lower().replace("-", "_"), ROWS, n=1)
    hint = f"Run: fastrnns-rs explain {nearest[0]}" if nearest else "List all codes: fastrnns-rs explain"
    raise UsageError(f"unknown warning code: {code!r} (CODE)", hint)
