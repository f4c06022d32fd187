"""Command `fastrnns-rs explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fastrnns_rs.cli import display
from fastrnns_rs.cli.exit_codes import ExitCode
from fastrnns_rs.cli.options import Verb
from fastrnns_rs.documents.warning_table import ROWS, TOPICS
from fastrnns_rs.errors import UsageError, closest
from fastrnns_rs.views.screen import Line
from fastrnns_rs.views.warning_codes import code_list, explanation

if TYPE_CHECKING:
    from fastrnns_rs.documents.warning_table.row import WarningRow


@click.command(name="explain", cls=Verb)
@click.argument("code", required=False)
def command(code: str | None) -> int:
    """Explains a warning code.

    CODE is the word in the brackets of a warning, such as drift in warning[drift]. Without CODE, all codes are listed.
    """
    limit = display.terminal_width()
    lines = code_list(TOPICS, limit) if code is None else explanation(_row(code), limit)
    display.show_lines([Line(line) for line in lines])
    if code is None:
        display.tell_next("Explain a code", "fastrnns-rs explain drift")
    return ExitCode.DONE


def _row(code: str) -> WarningRow:
    # A warning may be copied with its brackets.
    name = code.removeprefix("warning").strip("[]:") if "[" in code else code
    if name not in ROWS:
        hint, correction = "List all codes: fastrnns-rs explain", closest(name, ROWS)
        raise UsageError(f"unknown warning code: {code!r}", hint, value=code, correction=correction)
    return ROWS[name]
