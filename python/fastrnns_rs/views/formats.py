"""Output formats of runs and comparisons, by their `--format` names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Comparison
    from fastrnns_rs.documents.run_file import Run

    D = TypeVar("D", Run, Comparison)

RUN = ("table", "json", "csv", "markdown", "fastrnns", "oss", "pep")
COMPARISON = ("table", "json", "markdown", "junit")


def run_text(run: Run, name: str, *, wide: bool = False, width: int | None = None) -> str:
    """Formats a run in the format `name`.

    Non-empty text ends with a newline.

    Args:
        run: Run.
        name: Format.
        wide: True adds details to the table.
        width: Width of the table; None for 80.

    Raises:
        ValueError: If `name` is unknown, or JSON cannot represent a number.
    """
    from fastrnns_rs.documents import layout
    from fastrnns_rs.views.prose import WIDTH
    from fastrnns_rs.views.run import run_screen, upstream_json
    from fastrnns_rs.views.run.fastrnns_table import fastrnns_table
    from fastrnns_rs.views.run.run_csv import csv
    from fastrnns_rs.views.run.run_markdown import markdown
    from fastrnns_rs.views.screen import plain

    def table(run: Run) -> str:
        return plain(run_screen.lines(run, WIDTH if width is None else width, wide=wide))

    makers = (table, layout.text, csv, markdown, fastrnns_table, upstream_json.oss, upstream_json.pep)
    return _text(run, name, dict(zip(RUN, makers, strict=True)))


def comparison_text(comparison: Comparison, name: str, *, wide: bool = False, width: int | None = None) -> str:
    r"""Formats a comparison in the format `name`.

    The text ends with a newline. All formats are safe to print: control characters in names are written as `\x1b` and
    the like.

    Raises:
        ValueError: If `name` is unknown, or JSON cannot represent a number.
    """
    from fastrnns_rs.documents import layout
    from fastrnns_rs.views.comparison.junit import junit
    from fastrnns_rs.views.comparison.markdown import markdown
    from fastrnns_rs.views.comparison.terminal import terminal

    def table(comparison: Comparison) -> str:
        return terminal(comparison, wide=wide, width=width)

    return _text(comparison, name, dict(zip(COMPARISON, (table, layout.text, markdown, junit), strict=True)))


def _text(document: D, name: str, makers: dict[str, Callable[[D], str]]) -> str:
    from fastrnns_rs.documents import layout

    if name not in makers:
        raise ValueError(f'no output format is called "{name}"')
    layout.check(document)
    return makers[name](document)
