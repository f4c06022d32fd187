"""Comparisons and their parts as they are shown at a Python prompt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from fastrnns_rs.escaping import visible
from fastrnns_rs.views import figures, kernel_names
from fastrnns_rs.views.comparison import captures_glance, rows_table, sides, words
from fastrnns_rs.views.prose import WIDTH
from fastrnns_rs.views.scale import Scale
from fastrnns_rs.views.screen import plain
from fastrnns_rs.views.table import fit
from fastrnns_rs.views.text import width
from fastrnns_rs.views.units import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrnns_rs.documents.comparison import (
        Change,
        Compared,
        Comparison,
        Counts,
        Difference,
        Figures,
        GeometricMean,
        KernelFigures,
        Method,
        Row,
    )

    Part: TypeAlias = Change | Compared | Counts | Difference | Figures | GeometricMean | KernelFigures | Method | Row

_MOST_ROWS = 12
_LEAST_NAME = 8


def comparison_text(comparison: Comparison) -> str:
    """Returns a line in angle brackets, then the table of the terminal."""
    if comparison.kind == "run":
        said = words.nonzero_counts(comparison)
        table = rows_table.lines(comparison, WIDTH, _MOST_ROWS) if comparison.rows else []
    else:
        whole = comparison.device_time
        said = "nothing to compare" if whole is None else f"GPU time {captures_glance.relative_change(whole)}"
        first, second = captures_glance.tables(comparison, WIDTH)
        table = [*first, *second]
    labels = _short_labels([comparison.baseline.label, comparison.candidate.label], said)
    return f"<Comparison {labels}: {said}>\n{plain(table)}".rstrip("\n")


def text(found: Part) -> str:
    """Returns one line of at most 80 columns for a part of a comparison."""
    name, parts = _PARTS[type(found).__name__](found)
    shown = ", ".join(filter(None, parts))
    kind = type(found).__name__
    if not name:
        return f"<{kind}: {fit(shown, WIDTH - len(kind) - 4)}>"
    room = max(WIDTH - width(f"<{kind} : {shown}>"), _LEAST_NAME)
    name = kernel_names.shortened([(visible(name), visible(name))], room)[0]
    return f"<{kind} {fit(f'{name}: {shown}', WIDTH - len(kind) - 3)}>"


def _short_labels(labels: Sequence[str], said: str) -> str:
    """Returns the labels of both sides, shortened for a line of 80 columns."""
    room = (WIDTH - width(f"<Comparison  → : {said}>")) // 2
    if sum(width(visible(one)) for one in labels) > 2 * room:
        labels = sides.short_labels(labels, room)
    return " → ".join(map(visible, labels))


def _row(row: Row) -> tuple[str, list[str]]:
    """Returns the name of a row, and its times, change and verdict."""
    name = row.runner if row.phase is None else f"{row.runner}/{row.phase}"
    verdict: str = row.verdict or "no verdict"
    if row.conditional_verdict is not None:
        verdict = f"{row.conditional_verdict} (conditional)"
    times = _times(row.baseline, row.candidate)
    parts = [times, _change(row), verdict]
    if width(f"<Row {visible(name)}: {', '.join(parts)}>") > WIDTH:
        # The name is needed to find the row; the interval is in the table.
        parts[1] = "" if row.ratio is None else figures.change_with_unit(row.ratio)
    return name, parts


def _changed(change: Change) -> tuple[str, list[str]]:
    both = [change.baseline, change.candidate]
    scale = Scale([one.total_ns for one in both if one is not None])
    times = " → ".join(words.UNKNOWN if one is None else scale.text(one.total_ns) for one in both)
    name = getattr(change, "short_name", None) or change.name
    return name, [f"{times} {scale.unit}", _change(change), change.verdict or "no verdict"]


def _figures(side: Figures) -> tuple[str, list[str]]:
    scale = Scale([side.estimate_ns])
    estimate = rows_table.time(side, scale)
    if side.ci_low_ns is not None and side.ci_high_ns is not None:
        half = (side.ci_high_ns - side.ci_low_ns) / 2 / scale.ns
        ends = (figures.figure(end / scale.ns, half) for end in (side.ci_low_ns, side.ci_high_ns))
        estimate += f" [{', '.join(ends)}]"
    return "", [f"{estimate} {scale.unit}", f"{side.n_processes:,} processes", f"{side.n_samples:,} samples"]


def _kernel_figures(side: KernelFigures) -> tuple[str, list[str]]:
    scale = Scale([side.total_ns])
    return "", [f"{scale.text(side.total_ns)} {scale.unit}", f"{side.launches:,.6g} launches"]


def _compared(side: Compared) -> tuple[str, list[str]]:
    count = len(side.files)
    return side.label, [f"{count:,} file{'' if count == 1 else 's'}", visible(side.created_utc or "")]


def _difference(one: Difference) -> tuple[str, list[str]]:
    return one.key, [" → ".join(visible(words.value(value)) for value in (one.baseline, one.candidate))]


_PARTS: dict[str, Callable[[Any], tuple[str, list[str]]]] = {
    "Row": _row,
    "Change": _changed,
    "Kernel": _changed,
    "Figures": _figures,
    "KernelFigures": _kernel_figures,
    "Compared": _compared,
    "Difference": _difference,
    "Method": lambda one: (one.name, [f"margin ±{percent(one.margin)}"]),
    "Counts": lambda one: ("", [words.counted(one)]),
    "GeometricMean": lambda one: ("", [_change(one), f"{one.n:,} runner{'' if one.n == 1 else 's'}"]),
}


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
