"""Size of a page and of its script, and numbers that equal those of the document."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from page_documents import EACH, PAGES, page, run_of

from fastrnns_rs.views.page import writing
from fastrnns_rs.views.page.charts import MOST_ROWS
from fastrnns_rs.views.page.pages import html_page
from fastrnns_rs.views.page.svg_path import shorten
from fastrnns_rs.views.plots.drawing import MOST_POINTS
from fastrnns_rs.views.plots.figure import draw
from fastrnns_rs.views.plots.style import DARK, HATCHES, LIGHT, LINES, MARKERS, Theme

#: Bytes of the largest page that is promised, and of the script.
PAGE, SCRIPT = 10**6, 10_000


def numbers(document: Any) -> Iterator[float]:
    """Every number of a document that was read from JSON."""
    if isinstance(document, dict):
        yield from (number for value in document.values() for number in numbers(value))
    elif isinstance(document, list):
        yield from (number for value in document for number in numbers(value))
    elif isinstance(document, int | float) and not isinstance(document, bool):
        yield float(document)


def test_the_script_is_small() -> None:
    script = (Path(writing.__file__).parent / "templates" / "page.js").read_bytes()
    assert len(script) < SCRIPT


@pytest.mark.long("pages")
def test_a_large_run_has_a_page_below_the_limit() -> None:
    run = run_of(20, 20, 1_000)
    start = time.process_time()
    text = html_page(run)
    print(f"{len(text.encode())} bytes in {time.process_time() - start:.1f} s")
    assert len(text.encode()) <= PAGE
    drawn = re.findall(r"<figcaption>At most (\d+) of (1,00[02]) samples of each process are drawn", text)
    # Samples and distribution of 20 rows.
    assert len(drawn) == 2 * 20
    assert "Plots of the first 20 of 40 rows; tables of all rows." in text
    # The budget is used: fewer points would hide more than the limit needs.
    assert len(text.encode()) > 0.6 * PAGE


def test_rows_of_one_name_have_plots_of_their_own() -> None:
    run = run_of(2, 3, 5)
    sizes = [
        replace(one, runner="cudnn", problem=replace(one.problem, hidden_size=size))
        for one, size in zip(run.results, (64, 128), strict=True)
    ]
    _, first, second = html_page(replace(run, results=sizes)).partition("<h2>Samples</h2>")[2].split("<details>")[:3]
    # Samples and distribution of both phases.
    assert [first.count(f"hidden {size}") for size in (64, 128)] == [4, 0]
    assert [second.partition("</details>")[0].count(f"hidden {size}") for size in (64, 128)] == [0, 4]


def test_rows_of_one_name_have_no_more_plots_than_others() -> None:
    run = run_of(12, 2, 5)
    seeds = [
        replace(one, runner="cudnn", problem=replace(one.problem, seed=place)) for place, one in enumerate(run.results)
    ]
    text = html_page(replace(run, results=seeds))
    assert "Plots of the first 20 of 24 rows; tables of all rows." in text
    assert text.partition("<h2>Samples</h2>")[2].partition("<h2>")[0].count("<svg") == 2 * MOST_ROWS


def test_thinned_lines_keep_the_extremes() -> None:
    run = run_of(1, 3, 5_000)
    process = run.results[0].processes[1]
    process.forward_ns[2_500] = 9 * 10**6
    process.forward_ns[3_333] = 1
    drawn = draw(run, "samples", row="runner0/forward")
    assert drawn.canvas.note == "At most 400 of 5,002 samples of each process are drawn; all extremes are kept."
    line = drawn.canvas.axes.get_lines()[1]
    assert len(line.get_xdata()) <= 400
    found = dict(zip(line.get_xdata(), line.get_ydata(), strict=True))
    assert min(found.values()) == found[3_333] == pytest.approx(1e-3)
    assert found[2_500] == pytest.approx(9e3)
    few = draw(run_of(1, 3, 300), "samples", row="runner0/forward")
    assert few.canvas.note == ""
    assert MOST_POINTS >= 400


@pytest.mark.parametrize("name", ["run", "hostile run", "several documents"])
def test_every_number_of_a_table_is_in_the_json(name: str) -> None:
    known = {number for one in PAGES[name]() for number in numbers(json.loads(json.dumps(one.to_dict())))}
    shown = {float(one) for one in re.findall(r'data-value="([^"]*)"', page(name))}
    assert shown
    # Those of samples are what the document itself makes of them.
    results = [result for document in PAGES[name]() for result in document.results]
    derived = [one for result in results for one in (result.first_call_ns(), result.compile_ns("cold_ns"))]
    derived += [result.compile_ns("warm_ns") for result in results]
    for process in (one for result in results for one in result.processes):
        derived += [process.median_ns("forward"), process.median_ns("backward"), len(process.forward_ns)]
    assert shown - known - {*derived} == set()


@pytest.mark.parametrize("name", EACH)
def test_pages_have_no_style_attribute_and_unique_ids(name: str) -> None:
    assert " style=" not in re.sub(r">[^<]*<", "><", page(name))
    ids = re.findall(r' id="([^"]*)"', page(name))
    assert len(ids) == len(set(ids))
    used = set(re.findall(r'href="#([^"]*)"|url\(#([^)]*)\)', page(name)))
    assert {first or second for first, second in used} <= set(ids)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_series_are_visible_in_grey(theme: Theme) -> None:
    for color in (*theme.series, theme.muted):
        assert contrast(color, theme.paper) >= 3, color
    assert contrast(theme.ink, theme.paper) >= 7
    # No two series that are drawn in one plot differ by their colour alone.
    assert len(MARKERS) >= len(theme.series)
    assert len(HATCHES) >= len(theme.series)
    assert all(first != second for names in (MARKERS, HATCHES, LINES) for first, second in combinations(names, 2))


def contrast(first: str, second: str) -> float:
    """Contrast of two colours, as WCAG 2 defines it."""
    high, low = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(color: str) -> float:
    channels = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    ("data", "short"),
    [
        ("M 1 2 L 3.04 2 L 4 5 L 4 6.5 z", "M1 2h2l1 3v1.5z"),
        ("M 0 0 L 0.04 0 L 0.08 0 L 0.12 0 L 0.16 0 L 10 0", "M0 0h.1 .1 9.8"),
        ("M 0 0 L 1 -1 L 2 -2.25 L 2 -2.25 L 3 0", "M0 0l1-1 1-1.2 1 2.2"),
        ("M -1.5 -0.04 L 0 0", "M -1.5 0 L 0 0"),
        ("M 0 1 Q 2 3 4.44 5", "M 0 1 Q 2 3 4.4 5"),
    ],
)
def test_paths_are_shortened_without_drift(data: str, short: str) -> None:
    assert shorten(data) == short


def test_the_gallery_has_each_picture_and_stays_small() -> None:
    gallery = ROOT / "docs" / "gallery"
    pictures = {one.name: one.stat().st_size for one in gallery.glob("*.png")}
    assert {*re.findall(r"\]\((\w+\.png)\)", (gallery / "README.md").read_text())} == {*pictures}
    assert sum(pictures.values()) < 1_500_000


HIDDEN = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError(name)
import importlib.util
known = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name in {names} else known(name, *rest)
sys.meta_path.insert(0, Hidden())
from fastrnns_rs.cli import main
main({words})
"""


@pytest.mark.parametrize(
    ("hidden", "words"),
    [
        ("jinja2", ["bench", "py", "--format", "html", "--output", "x.html"]),
        ("matplotlib", ["bench", "py", "--format", "html"]),
        ("matplotlib", ["bench", "py", "--open"]),
        ("jinja2", ["show", "missing.json", "--format", "html"]),
        ("matplotlib", ["show", "missing.json", "--plot", "x.svg"]),
    ],
)
def test_without_the_packages_one_line_names_the_extra(hidden: str, words: list[str], tmp_path: Path) -> None:
    """Before anything is measured or read."""
    code = HIDDEN.format(names={hidden}, words=words)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 5, done.stderr
    assert done.stderr.splitlines() == [
        f"error: Python package not found: '{hidden}'",
        "hint: Run: pip install 'fastrnns-rs[plots]'",
    ]
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []
