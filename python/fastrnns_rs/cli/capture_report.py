"""Report of the capture that `profile` has just made."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.escaping import visible_lines
from fastrnns_rs.verbs.report.capture_reader import read
from fastrnns_rs.verbs.report.manifests import READABLE
from fastrnns_rs.views.prose import WIDTH
from fastrnns_rs.views.summary.glance import NEXT

if TYPE_CHECKING:
    from fastrnns_rs.documents.capture_manifest import Capture

#: Kinds of files that are tables for people, made by the profiler itself.
_TABLES = {"torch_table", "nvprof_gpu_summary"}
_POINTER = "Table of the profiler"


def render_report(
    capture: Capture, stem: Path, width: int | None, note: Callable[[str], None], *, whole_tables: bool = True
) -> tuple[str, str | None]:
    """Renders the report of a capture, without its next command.

    The command is returned separately, because tables and warnings precede it.

    The tables of the profiler follow if the report has no GPU activity. Options of torch.profiler shape these tables.
    A capture that cannot be read causes a note only, because its files exist and have passed their checks.

    Args:
        capture: Capture manifest.
        stem: Path of the capture without suffix.
        width: Width of the terminal in characters; None for 80, the width of the overview.
        note: Function that prints a note.
        whole_tables: False names the files of the profiler's tables that are wider than the terminal.
    """
    report, following, devices = "", None, False
    try:
        if any(artefact.kind in READABLE for artefact in capture.artefacts):
            summary = read(stem.with_name(f"{stem.name}.json"))
            report, following = _split(summary.render(width=width))
            devices = bool(summary.devices)
    except FastrnnsError as error:
        note(f"note: no report: {error.message}")
    paths = [] if devices else [Path(one.path) for one in capture.artefacts if one.kind in _TABLES]
    limit = None if whole_tables else width or WIDTH
    tables = [_table(path, limit) for path in paths]
    return "\n".join([*filter(None, [report]), *tables]), following


def _split(report: str) -> tuple[str, str | None]:
    """Returns a report without its last line, and the command of this line.

    The command is None if there is no next command.
    """
    before, found, command = report.rpartition(f"\n{NEXT} ")
    return (f"{before}\n", command.strip()) if found else (report, None)


def _table(path: Path, limit: int | None) -> str:
    """Returns a table of the profiler.

    For a table that is wider than the terminal, the command that shows the table is returned.
    """
    # A runner may name any file.
    *_, runner, cycle, _suffix = ["", "", *path.name.split(".")]
    title = f"{runner}, cycle {cycle}" if cycle.isdecimal() else ""
    # Names of ranges and operators are any text.
    text = visible_lines(path.read_text(encoding="utf-8", errors="replace"))
    if limit is not None and any(len(line.rstrip()) > limit for line in text.splitlines()):
        return f"{_POINTER}{f' ({title})' if title else ''}: less -S {shlex.quote(str(path))}\n"
    return f"{title}\n{text}" if title else text
