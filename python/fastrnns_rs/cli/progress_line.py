"""How far a verb is, in one line that goes away; on a terminal only."""

from __future__ import annotations

import sys

import click

from fastrnns_rs.errors import printable


class ProgressLine:
    """A line on stderr, where that is a terminal, which each thing that is shown replaces."""

    def __init__(self) -> None:
        self._shown = sys.stderr is not None and sys.stderr.isatty()

    def shows(self, what: str, done: int, of: int) -> None:
        """Shows what begins, with how many are done and how many there are."""
        if self._shown:
            click.echo(f"\r\x1b[K[{done + 1}/{of}] {printable(what)}", err=True, nl=False)

    def close(self) -> None:
        """Takes the line away."""
        if self._shown:
            click.echo("\r\x1b[K", err=True, nl=False)
