"""`fastrnns-rs list`."""

from __future__ import annotations

import json

import click

from fastrnns_rs.catalogue import Catalogue, catalogue
from fastrnns_rs.cli.options import Verb
from fastrnns_rs.documents import to_plain


@click.command(name="list", cls=Verb)
@click.argument("what", type=click.Choice(["runners", "groups"]), required=False)
@click.option("--json", "as_json", envvar="FASTRNNS_LIST_JSON", is_flag=True, help="Write the document for scripts.")
def command(what: str | None, as_json: bool) -> None:
    """Shows the runners and groups that bench can run."""
    found = catalogue()
    if as_json:
        click.echo(json.dumps(to_plain(found), indent=2))
        return
    parts = []
    if what != "groups":
        parts.append(_runners(found))
    if what != "runners":
        parts.append(_groups(found))
    click.echo("\n\n".join(parts))


def _runners(found: Catalogue) -> str:
    rows = [("runner", "group", "description")]
    rows += [(one.name, one.group or "-", one.description) for one in found.runners]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "\n".join(f"{name:<{widths[0]}}  {group:<{widths[1]}}  {text}" for name, group, text in rows)


def _groups(found: Catalogue) -> str:
    rows = [("group", "runners")] + [(one.name, " ".join(one.runners)) for one in found.groups]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {runners}" for name, runners in rows)
