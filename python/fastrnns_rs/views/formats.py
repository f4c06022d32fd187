"""Output formats of a run and of a comparison, by the names that `--format` takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Comparison
    from fastrnns_rs.documents.run_file import Run

    D = TypeVar("D", Run, Comparison)

RUN = ("table", "json", "csv", "markdown", "oss", "pep")
COMPARISON = ("table", "json", "markdown", "junit")


def run_text(run: Run, name: str) -> str:
    """Writes a run in the format called `name`; the text ends with a newline unless it is empty.

    Raises:
        ValueError: If there is no such format, or a number is none that JSON can hold.
    """
    from fastrnns_rs.documents import layout
    from fastrnns_rs.views.run import run_table, upstream_json
    from fastrnns_rs.views.run.run_csv import csv

    makers = (run_table.terminal, layout.text, csv, run_table.markdown, upstream_json.oss, upstream_json.pep)
    return _text(run, name, dict(zip(RUN, makers, strict=True)))


def comparison_text(comparison: Comparison, name: str, *, wide: bool = False, width: int | None = None) -> str:
    r"""Writes a comparison in the format called `name`; the text ends with a newline.

    Every format can be printed: a name's control characters come out as `\x1b` and the like.

    Raises:
        ValueError: If there is no such format, or a number is none that JSON can hold.
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
