"""Page of a history: times of each row over runs, then the runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastrnns_rs.counting import counted
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.comparison import words
from fastrnns_rs.views.figures import mebibytes, share_percent
from fastrnns_rs.views.page.charts import MOST_ROWS
from fastrnns_rs.views.page.number_cells import time_cell
from fastrnns_rs.views.page.parts import Article, Cell, Fold, Remarks, Section, Table, Text, text_cell
from fastrnns_rs.views.plots import history_trend
from fastrnns_rs.views.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastrnns_rs.documents.history import History, KeptRun
    from fastrnns_rs.documents.history_trends import Trend, TrendPoint
    from fastrnns_rs.views.page.charts import Charts

_NONE = words.UNKNOWN
#: Points of all plots of a page together, which keeps it small.
_MOST_POINTS = 1_500
#: Runs of the table.
_MOST_RUNS = 200
#: Digits of IDs and of commits, and length of `2026-11-22 09:14`.
_DIGITS = 12
_TO_MINUTES = 16
_CAPTION = (
    "Dot: point estimate of a run. Line: its 95 % confidence interval. Grey line: level between change points, with "
    "the standard deviation between sessions as a band. Dashed line: change point."
)


def article(history: History, charts: Charts) -> Article:
    """Returns the page of a history."""
    context = [counted(len(history.runs), "run"), visible(history.folder)]
    if history.n_trend_runs is not None:
        left = len(history.runs) - history.n_trend_runs
        context.append(
            f"Times of the newest {counted(history.n_trend_runs, 'run')} of bench"
            + (f"; the times of {counted(left, 'run')} are left out" if left > 0 else "")
        )
    warnings = [(one.code, visible(one.message), _shown(one.evidence), _shown(one.hint)) for one in history.warnings]
    return Article(
        "History of runs",
        context,
        [
            Section("Warnings", [Remarks(warnings)] if warnings else []),
            Section("Times over runs", [*_trends(history, charts)]),
            Section("Runs", [*_runs(history)]),
        ],
    )


def _trends(history: History, charts: Charts) -> Iterator[Any]:
    if not history.trends:
        yield Text("No row has two runs on one machine and device.", "note")
        return
    yield _overview(history)
    points = left = 0
    for place, one in enumerate(history.trends):
        points += len(one.points)
        if points > _MOST_POINTS or place >= MOST_ROWS:
            left += 1
            continue
        label = visible(f"Times of {one.name} over {counted(len(one.points), 'run')}")
        yield charts.draw(history, "trend", label, row=one.name)
        yield Fold(visible(f"{one.name}: {counted(len(one.points), 'run')}"), [_points(one)])
    yield Text(_CAPTION, "note")
    if left:
        text = f"{counted(left, 'row')} have no plot: fastrnns-rs history --trends --json has their times."
        yield Text(text, "note")


def _overview(history: History) -> Table:
    headings = (
        *("row", "device", "machine", "runs", "unit", "first", "last", "level now", "change points"),
        *("std between sessions, %", "sessions"),
    )
    rows = [_overview_row(one) for one in history.trends]
    return Table("Rows over runs", headings, rows, frozenset({0, 1, 2, 4}))


def _overview_row(one: Trend) -> list[Cell]:
    scale = Scale([point.estimate_ns for point in one.points])
    level = one.segments[-1].level_ns if one.segments else None
    changes = max(len(one.segments) - 1, 0)
    spread = one.session_stddev
    return [
        text_cell(one.name),
        text_cell(one.device),
        text_cell((one.machine_id or _NONE)[:_DIGITS]),
        Cell(f"{len(one.points):,}", len(one.points)),
        Cell(scale.unit),
        *(time_cell(point.estimate_ns, scale) for point in (one.points[0], one.points[-1])),
        time_cell(level, scale),
        Cell(f"{changes:,}", changes),
        Cell(_NONE) if spread is None else Cell(share_percent(spread).removesuffix(" %"), spread),
        Cell(f"{one.n_sessions:,}", one.n_sessions),
    ]


def _points(trend: Trend) -> Table:
    scale = Scale([one.estimate_ns for one in trend.points])
    headings = (
        *("run", "started, UTC", "commit", "tags", "torch", f"time, {scale.unit}", "95 % CI low", "95 % CI high"),
        *("processes", f"level, {scale.unit}"),
    )
    levels = [segment.level_ns for segment in trend.segments for _ in range(segment.begin, segment.end)]
    known = [*levels, *[None] * (len(trend.points) - len(levels))]
    rows = [_point_row(one, level, scale) for one, level in zip(trend.points, known, strict=False)]
    return Table(visible(trend.name), headings, rows, frozenset({3}))


def _point_row(one: TrendPoint, level: float | None, scale: Scale) -> list[Cell]:
    return [
        text_cell(f"@{one.run_id[:_DIGITS]}"),
        text_cell(_time(one.started_utc)),
        text_cell(history_trend.commit_text(one) or _NONE),
        text_cell(" ".join(one.tags)),
        text_cell(one.torch_version),
        *(time_cell(value, scale) for value in (one.estimate_ns, *history_trend.interval_ends(one))),
        Cell(f"{one.n_processes:,}", one.n_processes),
        time_cell(level, scale),
    ]


def _runs(history: History) -> Iterator[Any]:
    if not history.runs:
        yield Text("No runs.", "note")
        return
    headings = ("run", "started, UTC", "verb", "status", "devices", "runners", "tags", "commit", "torch", "MiB")
    # The newest run is the one that a reader looks for.
    rows = [_run_row(one) for one in reversed(history.runs[-_MOST_RUNS:])]
    yield Table("Runs, the newest first", headings, rows, frozenset({4, 5, 6}))
    if len(history.runs) > _MOST_RUNS:
        left = len(history.runs) - _MOST_RUNS
        yield Text(f"{left:,} earlier runs are left out: fastrnns-rs history --all", "note")


def _run_row(one: KeptRun) -> list[Cell]:
    commit = _NONE if one.commit is None else one.commit[:_DIGITS] + ("-dirty" if one.dirty else "")
    return [
        text_cell(f"@{one.run_id[:_DIGITS]}"),
        text_cell(_time(one.last_started_utc)),
        *map(text_cell, (one.verb, one.status, " ".join(one.devices), " ".join(one.runners), " ".join(one.tags))),
        *map(text_cell, (commit, one.torch_version)),
        Cell(mebibytes(one.size_bytes), one.size_bytes),
    ]


def _time(utc: str) -> str:
    return utc.replace("T", " ")[:_TO_MINUTES]


def _shown(text: str | None) -> str | None:
    return None if text is None else visible(text)
