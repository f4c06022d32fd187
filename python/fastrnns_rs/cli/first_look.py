"""What `profile` ends with: the report of the capture that it has just made."""

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

#: Files that are tables for people: what a profiler itself makes of a capture.
_TABLES = {"torch_table", "nvprof_gpu_summary"}


def first_look(capture: Capture, stem: Path, width: int | None) -> str:
    """Renders the report of a capture; without GPU activity, the tables of its profiler too.

    Options of torch.profiler shape its tables. A capture that cannot be read is only noted: it is
    there, and has passed its checks.
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
