"""Report of the capture that `profile` has just made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.escaping import visible
from fastrnns_rs.verbs.report.capture_reader import read
from fastrnns_rs.verbs.report.manifests import READABLE

if TYPE_CHECKING:
    from fastrnns_rs.documents.capture_manifest import Capture

#: Kinds of files that are tables for people, made by the profiler itself.
_TABLES = {"torch_table", "nvprof_gpu_summary"}


def first_look(capture: Capture, stem: Path, width: int | None) -> str:
    """Renders the report of a capture.

    The tables of the profiler follow if the report has no GPU activity. Options of torch.profiler shape these tables.
    A capture that cannot be read causes a note only, because its files exist and have passed their checks.

    Args:
        capture: Capture manifest.
        stem: Path of the capture without suffix.
        width: Width of the terminal in characters; None for 80, the width of the overview.
    """
    report, devices = "", False
    try:
        if any(artefact.kind in READABLE for artefact in capture.artefacts):
            summary = read(stem.with_name(f"{stem.name}.json"))
            report, devices = summary.render(width=width), bool(summary.devices)
    except FastrnnsError as error:
        click.echo(f"note: no report: {visible(error.message)}", err=True)
    paths = [] if devices else [Path(one.path) for one in capture.artefacts if one.kind in _TABLES]
    return "\n".join([*filter(None, [report]), *map(_table, paths)])


def _table(path: Path) -> str:
    *_, runner, cycle, _suffix = path.name.split(".")
    title = f"{runner}, cycle {cycle}\n" if cycle.isdecimal() else ""
    return title + path.read_text(encoding="utf-8", errors="replace")
