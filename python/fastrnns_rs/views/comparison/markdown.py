"""Markdown of a comparison, as a comment on a pull request.

Texts are in code spans, where no character is markup or a mention.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.views.comparison import columns, words
from fastrnns_rs.views.table import Column, cells
from fastrnns_rs.views.table import markdown as pipe_table
from fastrnns_rs.views.text import code_cell, code_span

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Change, Comparison, StatisticChange

#: A later comment finds the comment to replace by this marker.
_MARKER = "<!-- fastrnns-rs comparison -->"


def markdown(comparison: Comparison) -> str:
    """Formats a comparison as Markdown: the counts, the rows, and folded details."""
    labels = [code_span(side.label) for side in (comparison.baseline, comparison.candidate)]
    statistic = words.judged_statistic(comparison)
    blocks = [
        [_MARKER, _headline(comparison)],
        [" → ".join(labels) + (f", statistic: {statistic}" if statistic else "")],
    ]
    if comparison.kind == "capture":
        blocks += _captures(comparison)
    elif not comparison.rows:
        blocks.append(["Nothing to compare."])
    else:
        blocks += _rows(comparison)
    blocks += [_differences(comparison), _warnings(comparison)]
    method = f"{code_span(comparison.method.name)}, {words.method(comparison.method)}."
    reading = "The ratio is the candidate's time over the baseline's: above 1 is slower."
    blocks.append(_fold("method", [f"{method} {reading}"]))
    return "\n".join("".join(line + "\n" for line in block) for block in blocks if block)


def _headline(comparison: Comparison) -> str:
    forced = f"{words.FORCED}. " if comparison.method.forced else ""
    mean = comparison.geometric_mean
    suffix = "" if mean is None else f"; geometric mean {words.ratio_with_interval(mean)}"
    return f"### {forced}{words.counts(comparison)}{suffix}"


def _rows(comparison: Comparison) -> Iterator[list[str]]:
    named = words.named_rows(comparison)
    *first, ratio, interval, change, delta, processes, verdict = columns.make_row_columns(comparison, code_cell)
    both = Column(f"{ratio.heading} [{interval.heading}]", lambda one: words.ratio_with_interval(one.row), right=True)

    def marked(one: words.NamedRow) -> str | None:
        text = verdict.text(one)
        return f"**{text}**" if words.choose_verdict(one.row) in {"faster", "slower"} else text

    shown = [*first, both, change, delta, processes, Column(verdict.heading, marked)]
    drawn = cells(shown, named)
    if (mean := comparison.geometric_mean) is not None:
        figures = (words.ratio_with_interval(mean), words.change(mean.ratio))
        drawn.append([f"geometric mean of {mean.n}", None, None, None, *figures])
    yield pipe_table(shown, drawn)
    yield [
        f"- {code_span(one.name)}: {code_span(note) if foreign else note}"
        for one in named
        for note, foreign in one.notes()
    ]
    sessions = words.sessions(comparison)
    yield [] if sessions is None else [sessions]
    yield _statistics(named)


def _statistics(named: Sequence[words.NamedRow]) -> list[str]:
    """Returns a fold with the changes of the statistics that are not judged."""
    found = [(one, dict(words.other_statistics(one.row))) for one in named]
    names = dict.fromkeys(name for _, statistics in found for name in statistics)

    def column(name: str) -> Column:
        def text(one: tuple[words.NamedRow, dict[str, StatisticChange]]) -> str:
            return words.ratio_with_interval(one[1][name]) if name in one[1] else words.UNKNOWN

        return Column(f"ratio of {words.STATISTICS[name][1]}", text, right=True)

    shown = [Column("row", lambda one: code_cell(one[0].name)), *map(column, names)]
    title = " and ".join(words.STATISTICS[name][1] for name in names)
    return _fold(title, pipe_table(shown, cells(shown, found))) if names else []


def _captures(comparison: Comparison) -> Iterator[list[str]]:
    kernels, more = columns.kernels(comparison)
    whole = [] if comparison.device_time is None else [comparison.device_time]
    yield [columns.heading(comparison)]
    yield _changes(comparison, "kernel", [*kernels, *whole])
    yield [] if more is None else [more]
    renamed = [(one.name, former) for one in kernels if (former := columns.former_name(one)) is not None]
    yield [f"- {code_span(name)} was {code_span(former)}, of the same shape" for name, former in renamed]
    yield _changes(comparison, "category", comparison.categories)


def _changes(comparison: Comparison, name: str, changes: Sequence[Change]) -> list[str]:
    """Returns a table of changes, with the name first.

    Tables that are too wide are cut on the right.
    """
    *figures, last = columns.make_change_columns(comparison, name, code_cell)
    shown = [last, *figures]
    return pipe_table(shown, cells(shown, changes))


def _differences(comparison: Comparison) -> list[str]:
    found = comparison.environment_differences
    shown = [
        Column("key", lambda one: code_cell(one.key)),
        Column("baseline", lambda one: code_cell(words.value(one.baseline))),
        Column("candidate", lambda one: code_cell(words.value(one.candidate))),
    ]
    return _fold_counted(len(found), "environment difference", pipe_table(shown, cells(shown, found)))


def _warnings(comparison: Comparison) -> list[str]:
    lines = [
        f"- {code_span(text)}" if label == "warning" else f"  - {label}: {code_span(text)}"
        for warning in comparison.warnings
        for label, text in words.warning(warning)
    ]
    return _fold_counted(len(comparison.warnings), "warning", lines)


def _fold_counted(count: int, one: str, lines: list[str]) -> list[str]:
    """Returns a fold whose summary counts its contents; empty if there are none."""
    return _fold(counted(count, one), lines) if count else []


def _fold(summary: str, lines: list[str]) -> list[str]:
    """Returns a fold; Markdown inside HTML needs the empty lines."""
    return ["<details>", f"<summary>{summary}</summary>", "", *lines, "", "</details>"]
