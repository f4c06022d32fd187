"""Screen of the run history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.escaping import visible
from fastrnns_rs.views import fitted_table
from fastrnns_rs.views.fitted_table import FittedColumn, FittedRow, first_words
from fastrnns_rs.views.screen import Line, wrapped_lines

if TYPE_CHECKING:
    from fastrnns_rs.documents.history import History, KeptRun

#: Digits of a run ID in messages, and in the table if they are unique there.
_DIGITS, _FEW_DIGITS = 12, 8
_MIB = 1 << 20
_LEAST = 8
#: Length of `2026-11-22 09:14`.
_TO_MINUTES = 16
_COLUMNS = (
    FittedColumn("run"),
    FittedColumn("started, UTC", rank=1),
    FittedColumn("verb", rank=5),
    FittedColumn("status", rank=4),
    FittedColumn("device", rank=3),
    FittedColumn("runners", rank=2, least=_LEAST, shorten=first_words),
    FittedColumn("tags", rank=2, least=_LEAST, shorten=first_words),
)
_MORE = (
    FittedColumn("commit"),
    FittedColumn("torch"),
    FittedColumn("MiB", right=True, points=True),
)


def lines(
    history: History, earlier: int, limit: int, *, wide: bool = False, more: str = "fastrnns-rs history --all"
) -> list[Line]:
    """Returns a row for each run, the most recent run last.

    Args:
        history: Document with the runs to show.
        earlier: Number of earlier runs, which are not shown.
        limit: Width of the terminal.
        wide: True adds commit, version of torch and size: as columns, or below the row where they do not fit.
        more: Command that shows the earlier runs too.
    """
    if not history.runs:
        return wrapped_lines([f"no runs in {visible(history.folder)}"], limit, breaks=True)
    few = len({one.run_id[:_FEW_DIGITS] for one in history.runs}) == len(history.runs)
    cells = [_cells(one, _FEW_DIGITS if few else _DIGITS) for one in history.runs]
    columns = (*_COLUMNS, *_MORE)
    rows = [FittedRow([*row, *_more(one)]) for row, one in zip(cells, history.runs, strict=True)]
    if not wide:
        shown = fitted_table.lines(_COLUMNS, [FittedRow(row) for row in cells], limit)
    elif fitted_table.natural_width(columns, rows) <= limit:
        shown = fitted_table.lines(columns, rows, limit)
    else:
        rows = [FittedRow(row, [_details(one)]) for row, one in zip(cells, history.runs, strict=True)]
        shown = fitted_table.lines(_COLUMNS, rows, limit)
    if earlier > 0:
        shown.append(Line(f"{earlier:,} earlier: {more}"))
    return shown


def make_name(run: KeptRun) -> str:
    """Returns `@` and the start of the run ID, which is stable, unlike `@last`."""
    return visible(f"@{run.run_id[:_DIGITS]}")


def _cells(run: KeptRun, digits: int) -> list[str]:
    started = run.last_started_utc.replace("T", " ").removesuffix("Z")[:_TO_MINUTES]
    return [
        f"@{run.run_id[:digits]}",
        started,
        run.verb,
        run.status,
        " ".join(run.devices),
        " ".join(run.runners),
        " ".join(run.tags),
    ]


def _more(run: KeptRun) -> list[str]:
    # Git marks a modified working tree in the same way.
    commit = "-" if run.commit is None else run.commit[:_DIGITS] + ("-dirty" if run.dirty else "")
    return [commit, run.torch_version, "<0.1" if run.size_bytes < _MIB / 20 else f"{run.size_bytes / _MIB:.1f}"]


def _details(run: KeptRun) -> str:
    commit, torch, size = _more(run)
    return f"commit {commit}, torch {torch}, {size} MiB"
