"""Comparisons and their parts as they are shown at a Python prompt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents import comparison as document
from fastrnns_rs.escaping import visible
from fastrnns_rs.views import figures
from fastrnns_rs.views.comparison import captures_glance, rows_table, sides, words
from fastrnns_rs.views.prompt.line import LIMIT, count, prompt_line
from fastrnns_rs.views.prose import WIDTH
from fastrnns_rs.views.scale import Scale
from fastrnns_rs.views.screen import plain
from fastrnns_rs.views.text import width

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import (
        Change,
        Compared,
        Comparison,
        Figures,
        GeometricMean,
        KernelFigures,
        Row,
    )

_MOST_ROWS = 12


def _comparison(comparison: Comparison) -> str:
    """Returns a line in angle brackets, then the table of the terminal."""
    if comparison.kind == "run":
        said = words.nonzero_counts(comparison)
        table = rows_table.lines(comparison, WIDTH, _MOST_ROWS) if comparison.rows else []
    else:
        whole = comparison.device_time
        said = "nothing to compare" if whole is None else f"GPU time {captures_glance.relative_change(whole)}"
        first, second = captures_glance.tables(comparison, WIDTH)
        table = [*first, *second]
    labels = _short_labels(comparison, said)
    return f"<Comparison {labels}: {said}>\n{plain(table)}".rstrip("\n")


def _short_labels(comparison: Comparison, said: str) -> str:
    """Returns the labels of both sides, shortened for one line."""
    labels = [comparison.baseline.label, comparison.candidate.label]
    room = (LIMIT - width(f"<Comparison  → : {said}>")) // 2
    if sum(width(visible(one)) for one in labels) > 2 * room:
        labels = sides.short_labels(labels, room, paths=sides.are_paths(comparison))
    return " → ".join(map(visible, labels))


def _row(row: Row) -> str:
    name = row.runner if row.phase is None else f"{row.runner}/{row.phase}"
    verdict: str = row.verdict or "no verdict"
    if row.conditional_verdict is not None:
        verdict = f"{row.conditional_verdict} (conditional)"
    times = _times(row.baseline, row.candidate)
    parts = [times, _change(row), verdict]
    if width(f"<Row {visible(name)}: {', '.join(parts)}>") > LIMIT:
        # The name is needed to find the row; the interval is in the table.
        parts[1] = "" if row.ratio is None else figures.change_with_unit(row.ratio)
    return prompt_line("Row", parts, name)


def _changed(change: Change) -> str:
    both = [change.baseline, change.candidate]
    scale = Scale([one.total_ns for one in both if one is not None])
    times = " → ".join(words.UNKNOWN if one is None else scale.text(one.total_ns) for one in both)
    name = getattr(change, "short_name", None) or change.name
    parts = [f"{times} {scale.unit}", _change(change), change.verdict or "no verdict"]
    return prompt_line(type(change).__name__, parts, name)


def _figures(side: Figures) -> str:
    scale = Scale([side.estimate_ns])
    time = figures.estimate_with_interval(side.estimate_ns, side.ci_low_ns, side.ci_high_ns, scale.ns)
    processes = count(side.n_processes, "process", "processes")
    return prompt_line("Figures", [f"{time} {scale.unit}", processes, count(side.n_samples, "sample")])


def _kernel_figures(side: KernelFigures) -> str:
    scale = Scale([side.total_ns])
    parts = [f"{scale.text(side.total_ns)} {scale.unit}", f"{side.launches:,.6g} launches"]
    return prompt_line("KernelFigures", parts)


def _compared(side: Compared) -> str:
    return prompt_line("Compared", [count(len(side.files), "file"), side.created_utc], side.label)


def _times(baseline: Figures | None, candidate: Figures | None) -> str:
    both = (baseline, candidate)
    if baseline is None and candidate is None:
        return ""
    scale = Scale([one.estimate_ns for one in both if one is not None])
    return f"{' → '.join(rows_table.time(one, scale) for one in both)} {scale.unit}"


def _change(found: Row | Change | GeometricMean) -> str:
    if found.ratio is None:
        return ""
    return figures.change_with_unit(found.ratio, found.ratio_ci_low, found.ratio_ci_high)


#: Functions that return the text of an object, by its class.
MAKERS: dict[type, Callable[[Any], str]] = {
    document.Comparison: _comparison,
    document.Row: _row,
    document.Change: _changed,
    document.Kernel: _changed,
    document.Figures: _figures,
    document.KernelFigures: _kernel_figures,
    document.Compared: _compared,
    document.Difference: lambda one: prompt_line(
        "Difference", [" → ".join(map(words.value, (one.baseline, one.candidate)))], one.key
    ),
    document.Method: lambda one: prompt_line("Method", [f"margin ±{words.format_margin(one)}"], one.name),
    document.Counts: lambda one: prompt_line("Counts", [words.format_counts(one)]),
    document.GeometricMean: lambda one: prompt_line("GeometricMean", [_change(one), count(one.n, "runner")]),
}
