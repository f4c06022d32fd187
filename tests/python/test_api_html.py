"""Documents in a notebook: the columns of the terminal, and names that are text and never markup."""

from __future__ import annotations

import math
import re
from dataclasses import fields, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import run_files
import screen_data
from corpus import capture
from kineto_traces import kernel, write

import fastrnns_rs
from fastrnns_rs import Comparison, Run
from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.documents.sweep import Sweep, SweepAxis, SweepCell
from fastrnns_rs.views.run import sweep_tables

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "$\\href{x}{y}$", "a\x1b[31m\u202e&amp;b"]


class Cells(HTMLParser):
    """The texts of the cells of tables, row by row, and every tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: dict[str, None] = {}
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags[tag] = None
        assert {name for name, _ in attrs} <= {"class", "style", "colspan"}
        if tag == "tr":
            self.rows.append([])
        self._inside = tag in {"th", "td"}
        if self._inside:
            self.rows[-1].append("")

    def handle_endtag(self, _tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.rows[-1][-1] += data


def words(text: str) -> list[str]:
    return " ".join(text.split()).split(" ")


def comparison() -> Comparison:
    return fastrnns_rs.compare(screen_data.baseline(), screen_data.candidate(), history=False)


def sweep() -> Sweep:
    axes = [SweepAxis(name="hidden-size", values=[32, 64])]
    known = {"steps_per_second": None, "samples_per_second": None}
    cells = [
        SweepCell(runner=name, point={"hidden-size": size}, phase="forward", time_ns=1e6 * size, **known)
        for name in ("jit", "<b>py</b>")
        for size in (32, 64)
    ]
    return Sweep(axes=axes, cells=cells, growth=[])


@pytest.mark.parametrize("document", [screen_data.candidate(), screen_data.partial(), comparison()])
def test_the_cells_are_those_of_the_terminal(document: Run | Comparison) -> None:
    html = document._repr_html_()
    assert html is not None
    shown = [word for row in Cells(html).rows for cell in row for word in words(cell) if word]
    assert shown == [word for line in repr(document).split("\n")[1:] for word in words(line) if word]


def test_the_summary_is_that_of_the_terminal() -> None:
    summary = fastrnns_rs.load(capture("kineto/kineto_r50_nw0.json.gz"))
    document = SummaryDocument.from_dict(summary.to_dict())
    for one in (summary, document):
        html = one._repr_html_()
        assert html is not None
        shown = [word for row in Cells(html).rows for cell in row for word in words(cell) if word]
        assert shown == [word for line in repr(one).split("\n")[1:] for word in words(line) if word]


def test_the_sweep_is_that_of_the_terminal() -> None:
    one = sweep()
    html = one._repr_html_()
    assert html is not None
    rows = Cells(html).rows
    assert rows[0] == ["hidden-size", "jit", "<b>py</b>"]
    shown = [word for row in rows for cell in row for word in words(cell)]
    assert shown == [word for line in sweep_tables.lines(one)[1:] for word in words(line)]


def test_a_notebook_shows_twelve_rows() -> None:
    row = screen_data.candidate().results[0]
    run = replace(screen_data.candidate(), results=[replace(row, runner=f"runner{number}") for number in range(37)])
    html = run._repr_html_()
    assert html is not None
    assert [cells[0] for cells in Cells(html).rows][2:] == [*(f"runner{number}" for number in range(12)), "… 25 more"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_inert(name: str, tmp_path: Path) -> None:
    row = screen_data.candidate().results[0]
    run = replace(screen_data.candidate(), results=[replace(row, runner=name), run_files.failed("jit", name)])
    compared = comparison()
    compared = replace(compared, rows=[replace(one, runner=name) for one in compared.rows])
    renamed = replace(sweep(), cells=[replace(one, runner=name) for one in sweep().cells])
    summary = fastrnns_rs.load(write(tmp_path / "x.json", [kernel(name, 5, 2)]))
    labelled = run.remember_name(name)
    for one in (labelled, compared, renamed, summary):
        html = one._repr_html_()
        assert html is not None
        assert [*Cells(html).tags][:1] == ["p"]
        assert {*Cells(html).tags} <= {"p", "table", "thead", "tbody", "tr", "th", "td"}
        assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", html)
        # A notebook typesets what is between dollar signs, but for these classes.
        for tag in re.findall(r"<(?:p|table|pre)\b[^>]*>", html):
            assert "mathjax_ignore" in tag


@pytest.mark.parametrize("value", [None, -1, math.nan, [None], {}, "x" * 10**5])
@pytest.mark.parametrize("kind", [Run, Comparison, SummaryDocument, Sweep])
def test_broken_objects_show_their_text_instead(kind: type[Any], value: object) -> None:
    broken = object.__new__(kind)
    for one in fields(kind):
        object.__setattr__(broken, one.name, value)
    html = broken._repr_html_()
    assert html is None or html.startswith("<p ")
    assert object.__new__(kind)._repr_html_() is None
