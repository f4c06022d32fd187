"""No plot warns: matplotlib's warnings are errors here, and hidden from users."""

from __future__ import annotations

import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
import run_files
import screen_data
from comparison_documents import capture, nasty_rows, with_rows
from conftest import run_cli
from page_documents import PAGES
from parts import few
from plotted_captures import ranks
from test_plots_axes import trend, widened

import fastrnns_rs
from fastrnns_rs.views.page.pages import html_page
from fastrnns_rs.views.plots import style
from fastrnns_rs.views.plots.figure import draw, kinds

mpl.use("Agg")


@pytest.fixture
def _loud(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes every warning an error, those that plots hide too."""
    monkeypatch.setattr(style, "HIDDEN", ())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def draw_all(document: Any) -> int:
    """Draws every kind of a document, and returns their number."""
    known = kinds(document)
    for kind, plot in known.items():
        names = [None] if plot.rows is None else plot.rows(document)[:2]
        for row in names:
            draw(document, kind, row=row).figure.draw_without_rendering()
    return len(known)


@pytest.mark.usefixtures("_loud")
@pytest.mark.parametrize("name", few(["capture", "comparison", "history", "run"], sorted(PAGES), "pages"))
def test_documents_of_pages_are_drawn_without_a_warning(name: str) -> None:
    for document in PAGES[name]():
        assert draw_all(document) >= 1


def edge_documents(folder: Path) -> list[Any]:
    """Documents with equal times, times of 0, and single rows."""
    run = screen_data.candidate()
    first = run.results[0]
    assert first.forward is not None
    zero = replace(first, forward=replace(first.forward, estimate_ns=0.0, ci_low_ns=0.0, ci_high_ns=0.0))
    equal = run_files.result("py", processes=1, count=4)
    [process] = equal.processes
    equal = replace(equal, processes=[replace(process, forward_ns=[7] * len(process.forward_ns))])
    before = capture(folder / "one.json", seed=1)
    return [
        replace(run, results=[first]),
        replace(run, results=[zero]),
        replace(run, results=[equal]),
        widened(run),
        trend([5e6, 5e6]),
        trend([5e6, 5e6], ends=(0.0, 1e18)),
        fastrnns_rs.compare(before, before),
        with_rows(nasty_rows()),
        ranks(folder, 3),
    ]


@pytest.mark.usefixtures("_loud")
def test_edge_cases_are_drawn_without_a_warning(tmp_path: Path) -> None:
    for document in edge_documents(tmp_path):
        if isinstance(document, fastrnns_rs.Summary):
            assert document.plot("ranks").axes
        else:
            assert draw_all(document) >= 1


def test_the_page_of_equal_captures_is_silent(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.json" for name in "ab"]
    for path in paths:
        capture(path, seed=1)
    done = run_cli("compare", *paths, "--format", "html", "--output", tmp_path / "page.html")
    assert (done.status, "Warning" in done.stderr, "no change" in (tmp_path / "page.html").read_text()) == (
        0,
        False,
        True,
    )


def test_a_warning_of_matplotlib_does_not_reach_the_user() -> None:
    code = (
        "import warnings, screen_data\n"
        "from fastrnns_rs.views.plots.style import LIGHT, apply\n"
        "from fastrnns_rs.views.plots.prompt_figure import PromptFigure\n"
        "with apply(LIGHT): axes = PromptFigure().add_subplot()\n"
        "with apply(LIGHT): axes.set_xlim(1, 1)\n"
        "axes.set_xlabel('\\u6f22')\n"
        "axes.figure.savefig('/dev/null', format='png')\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "always::UserWarning", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent,
    )
    assert done.stderr == ""


def test_hidden_warnings_are_those_of_a_plot_only() -> None:
    screen_data.candidate().plot()
    with pytest.warns(UserWarning, match="mine"):
        warnings.warn("mine", UserWarning, stacklevel=1)
    assert html_page(screen_data.candidate())


def test_a_list_of_fonts_without_ours_is_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Matplotlib made the list while no file could be opened, and keeps it in the cache of the user."""
    from matplotlib import font_manager

    monkeypatch.setattr(font_manager.fontManager, "ttflist", [])
    # Matplotlib clears it when a font is added.
    font_manager.fontManager._findfont_cached.cache_clear()
    assert draw_all(screen_data.candidate()) >= 1
    assert "DejaVu Sans" in {one.name for one in font_manager.fontManager.ttflist}
