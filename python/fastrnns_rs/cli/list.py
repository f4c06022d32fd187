"""Command `fastrnns-rs list`."""

from __future__ import annotations

import click

from fastrnns_rs.cli import display, shared
from fastrnns_rs.cli.options import Verb
from fastrnns_rs.runners.listing import catalogue
from fastrnns_rs.views.listing import lines


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
    with_runners, with_groups = what != "groups", what != "runners"
    shown = lines(found, display.terminal_width(), with_runners=with_runners, with_groups=with_groups)
    display.show_lines(shown)
    if with_runners:
        display.tell_next("Time runners", "fastrnns-rs bench --quick cudnn py")
    else:
        display.tell_next("Time a group", "fastrnns-rs bench --quick --group rnns")
