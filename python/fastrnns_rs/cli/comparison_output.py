"""Output of comparisons: the result on stdout, then the warnings on stderr."""

from __future__ import annotations

import sys
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from fastrnns_rs.cli import display, shared
from fastrnns_rs.views.comparison import terminal, words
from fastrnns_rs.views.prose import WIDTH
from fastrnns_rs.views.screen import Line, plain

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from fastrnns_rs.cli.results_file import ResultsFile
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.documents.comparison import Comparison
    from fastrnns_rs.verbs.compare.compared_sources import Outcome

#: Formats that have no place for warnings.
_WITHOUT_WARNINGS = {"json", "junit"}


def show(
    comparison: Comparison,
    format_name: str,
    output: Path | None,
    *,
    wide: bool = False,
    more: str | None = None,
    stored: bool = True,
    document: ResultsFile | None = None,
    named: Mapping[str, str] = MappingProxyType({}),
    answer: Sequence[Line] = (),
) -> None:
    """Writes a comparison and its warnings.

    Args:
        comparison: Comparison.
        format_name: Output format.
        output: File for the comparison; None for stdout.
        wide: True adds all figures to a table.
        more: Command that shows all warnings; None prints all of them.
        stored: True counts the warnings that the compared runs contain.
        document: The file `output`, already reserved; None for a file that is not, or no file.
        named: Words of a command for compared files that have a shorter name than their path.
        answer: Lines below a table. With another format, they go to stderr.
    """
    warnings = words.own_warnings(comparison)
    limit = display.terminal_width(sys.stderr)
    counted = terminal.stored_warnings(comparison, limit, named) if stored else []
    if format_name == "table":
        limit = display.terminal_width() if output is None else WIDTH
        lines = [*terminal.results(comparison, limit, wide=wide, bars=display.has_symbols(output)), *answer]
        if document is None:
            display.show_lines(lines, output)
        else:
            document.deliver(plain(lines))
        _tell(warnings, more, counted, blank=True)
        return
    if document is None:
        shared.deliver(comparison.render(format_name), output)
    else:
        document.deliver(comparison.render(format_name))
    display.tell_lines(answer[1:])
    if format_name in _WITHOUT_WARNINGS:
        _tell(warnings, more, counted)


def show_derivation(found: Outcome, name: str, output: Path | None, *, wide: bool = False) -> None:
    """Writes the derivation of the rows of a name, then the warnings of these rows.

    Args:
        found: Comparison and its derivations.
        name: Name of a row or of a runner.
        output: File for the derivation; None for stdout.
        wide: True adds the statistics that are not judged and, if the terminal has UTF-8, histograms of the samples.
    """
    limit = display.terminal_width() if output is None else WIDTH
    derive = found.explain
    if wide and found.explain_wide is not None:
        derive = partial(found.explain_wide, histograms=display.has_symbols(output))
    blocks = derive(name, limit).rstrip("\n").split("\n\n")
    titles = found.names(name)
    lines: list[Line] = []
    for block in blocks:
        first, *others = block.split("\n")
        is_answer = any(first.startswith(f"{title}: ") for title in titles)
        lines += [*([Line("")] if lines else []), Line(first, "bold" if is_answer else ""), *map(Line, others)]
    display.show_lines(lines, output)
    _tell(_select_warnings(found.comparison, titles), None, [], blank=True)


def _select_warnings(comparison: Comparison, titles: Collection[str]) -> list[RunWarning]:
    """Returns the warnings that concern at least one of the rows."""
    return [one for one in comparison.warnings if {*one.rows} & {*titles}]


def _tell(warnings: Sequence[RunWarning], more: str | None, others: Sequence[Line], *, blank: bool = False) -> None:
    lines = [*display.warnings_as_lines(warnings, display.terminal_width(sys.stderr), more), *others]
    display.tell_lines([*([Line("")] if blank else []), *lines] if lines else [])
