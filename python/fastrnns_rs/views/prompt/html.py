"""Documents as HTML, with the columns of the terminal, for notebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from fastrnns_rs.views.html_table import paragraph, preformatted, table

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Comparison
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.documents.sweep import Sweep

_MOST_ROWS = 12


def prompt_html(document: object) -> str | None:
    """Returns what a notebook shows: at most 12 rows of a document.

    Never raises an error, even if the values of the object have wrong types: the notebook then shows the text.
    """
    try:
        return "".join(_parts(document))
    except Exception:  # noqa: BLE001  # a prompt must show any object
        return None


def _parts(document: object) -> Iterator[str]:
    yield paragraph(repr(document).partition("\n")[0])
    makers = _makers()
    kind = next(one for one in type(document).__mro__ if one in makers)
    yield from makers[kind](document)


@cache
def _makers() -> dict[type, Callable[[Any], Iterator[str]]]:
    from fastrnns_rs.documents.comparison import Comparison
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.documents.summary import SummaryDocument
    from fastrnns_rs.documents.sweep import Sweep
    from fastrnns_rs.views.summary.plain import known

    return {Run: _run, Comparison: _comparison, Sweep: _sweep, SummaryDocument: lambda one: summary(known(one))}


def _run(run: Run) -> Iterator[str]:
    from fastrnns_rs.views.run import run_table

    if not run.results:
        return
    rows = run_table.rows(run)
    shown = rows[:_MOST_ROWS]
    columns = run_table.make_columns(shown)
    # A mark belongs to the interval before it.
    kept = [place for place, column in enumerate(columns) if column.kind != "mark"]
    headings = [[name, *(columns[place].headings[row] for place in kept)] for row, name in enumerate(("", "runner"))]
    cells = [
        [one.name, *(_marked(columns, place, row) for place in kept)]
        if one.result is None or one.result.status == "ok"
        else [one.name, run_table.outcome(one.result)]
        for row, one in enumerate(shown)
    ]
    yield table(headings, [*cells, *_more(len(rows))])


def _marked(columns: list[Any], place: int, row: int) -> str:
    text = columns[place].cells[row]
    follows = columns[place].kind == "interval" and place + 1 < len(columns) and columns[place + 1].kind == "mark"
    return f"{text}{columns[place + 1].cells[row]}" if follows else text


def _more(count: int) -> list[list[str]]:
    left = count - _MOST_ROWS
    return [[f"… {left:,} more"]] if left > 0 else []


def _comparison(comparison: Comparison) -> Iterator[str]:
    from fastrnns_rs.views.comparison import captures_glance, rows_table, words

    if comparison.kind == "capture":
        yield from (table(headings, rows, (0, 5)) for headings, rows in captures_glance.grids(comparison))
        return
    if not comparison.rows:
        return
    named = words.named_rows(comparison)
    shown = named[:_MOST_ROWS]
    columns = rows_table.make_columns(comparison, shown, intervals=True, times=True)
    headings = [
        [name, *(column.headings[place] for column in columns)]
        for place, name in enumerate(("", rows_table.name_heading(comparison)))
    ]
    names = [*(one.name for one in shown), *([rows_table.MEAN] if comparison.geometric_mean else [])]
    rows = [[name, *(column.cells[place] for column in columns)] for place, name in enumerate(names)]
    rows[len(shown) : len(shown)] = _more(len(named))
    yield table(headings, rows, (0, len(columns) - 1, len(columns)))


def _sweep(sweep: Sweep) -> Iterator[str]:
    from fastrnns_rs.views.run import sweep_tables

    for title, headings, rows, notes in sweep_tables.blocks(sweep):
        yield paragraph(title)
        yield table([headings], rows, ())
        yield from (paragraph(f"note: {note}") for note in notes)


def summary(plain: dict[str, Any]) -> Iterator[str]:
    """Yields the first table of the report of a summary.

    Args:
        plain: Summary as plain dictionaries and lists.
    """
    from fastrnns_rs.views.prose import WIDTH
    from fastrnns_rs.views.summary import budget
    from fastrnns_rs.views.summary.glance import tables

    devices = [one for one in plain["devices"] if one["span_ns"]]
    if not plain["captures"] or any(one["budget"] is None for one in plain["devices"]):
        return
    if len(devices) == 1:
        busy, idle, _ = budget.half_cells(devices[0], None)
        blank = ("", "", "")
        busy += [blank] * (len(idle) - len(busy))
        idle += [blank] * (len(busy) - len(idle))
        first, *rows = [[*one, *other] for one, other in zip(busy, idle, strict=True)]
        yield table([first], rows, (0, 3))
    elif devices:
        (headings, *rows), _, _ = budget.gpu_cells(devices)
        yield table([headings], rows, (0, len(headings) - 1))
    elif lines := next(iter(tables(plain, None, WIDTH)), []):
        yield preformatted(lines)
