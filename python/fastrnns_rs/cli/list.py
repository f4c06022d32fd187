"""Command `fastrnns-rs list`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fastrnns_rs.cli import shared
from fastrnns_rs.cli.options import Verb
from fastrnns_rs.runners.listing import catalogue
from fastrnns_rs.views.table import aligned

if TYPE_CHECKING:
    from fastrnns_rs.documents.listing import Catalogue, RunnerEntry

#: Letters of modes that few runners support, and of modes that most runners support.
_UNCOMMON_MODES = {"bidirectional": "B", "proj_size": "P", "channels_last": "C"}
_COMMON_MODES = {"inference": "i", "amp": "a", "deterministic": "d"}
_LEGEND = """\
modes: B --bidirectional, P --proj-size, C --channels-last; without: i --mode inference, a --amp, d --deterministic"""


@click.command(name="list", cls=Verb)
@click.argument("what", type=click.Choice(["runners", "groups"]), required=False)
@click.option("--json", "as_json", envvar="FASTRNNS_LIST_JSON", is_flag=True, help="Write JSON to stdout.")
def command(what: str | None, as_json: bool) -> None:
    """Lists runners and groups.

    Runners of plug-ins are listed with their package.
    """
    found = catalogue()
    shared.tell_warnings(found.warnings)
    if as_json:
        click.echo(found.to_json(), nl=False)
        return
    parts = []
    if what != "groups":
        parts.append(_runners(found))
    if what != "runners":
        parts.append(_groups(found))
    click.echo("\n\n".join(parts))


def _runners(found: Catalogue) -> str:
    rows = [("runner", "group", "family", "devices", "modes", "description")]
    rows += [
        (one.name, one.group or "-", one.family, ",".join(one.devices), _modes(one), _describe(one))
        for one in found.runners
    ]
    return "\n".join([*aligned(rows), _LEGEND])


def _modes(one: RunnerEntry) -> str:
    """Returns the letters of a runner's modes.

    `BP-a` means: the runner supports two uncommon modes, and does not support one common mode.
    """
    supported = "".join(letter for name, letter in _UNCOMMON_MODES.items() if name in one.honours)
    unsupported = "".join(letter for name, letter in _COMMON_MODES.items() if name in one.lacks)
    return supported + (f"-{unsupported}" if unsupported else "") or "-"


def _describe(one: RunnerEntry) -> str:
    """Returns the description, the missing requirements and the package of a runner."""
    missing = f"needs {' and '.join(one.missing)}, not installed" if one.missing else ""
    package = f"({one.package})" if one.package else ""
    return " ".join(filter(None, ("; ".join(filter(None, (one.description, missing))), package)))


def _groups(found: Catalogue) -> str:
    return "\n".join(aligned([("group", "runners"), *((one.name, " ".join(one.runners)) for one in found.groups)]))
