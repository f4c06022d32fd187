"""Plots of a sweep hold its numbers, and its section of a page has a table of them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from parts import few
from run_files import exactly, run

from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.documents.sweep import Sweep, SweepAxis, label
from fastrnns_rs.documents.sweep_findings import summarize_sweep
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.bench.phase_summary import summary
from fastrnns_rs.views.page.pages import html_page
from fastrnns_rs.views.plots.figure import draw
from fastrnns_rs.views.plots.sweep_panels import TIMES, panels

mpl.use("Agg")

NASTY = "</script><b>\u202e" + "x" * 10_000


def swept(axes: dict[str, list[int | str]], runners: tuple[str, ...] = ("cudnn", "py")) -> Run:
    """A run of each runner at each point of the axes; no two times are equal."""
    points: list[dict[str, int | str]] = [{}]
    for name, values in axes.items():
        points = [{**point, name: value} for point in points for value in values]
    results = []
    for number, runner in enumerate(runners):
        for place, point in enumerate(points):
            level = 10_000 * (number + 1) * (place + 1) ** 2
            medians = [level, level + 300, level + 500]
            forward = summary([[[median] * 9] for median in medians])
            results.append(exactly(medians, runner, forward=forward, point=point, label=label(runner, point)))
    sweep = summarize_sweep([SweepAxis(name=name, values=values) for name, values in axes.items()], results)
    return replace(run(results), sweep=sweep)


def marks(axes: Axes) -> list[Line2D]:
    """The lines with a mark for each cell."""
    return [one for one in axes.get_lines() if one.get_marker() not in {"None", None, ""}]


@pytest.mark.parametrize("alone", [False, True])
def test_each_mark_is_a_cell(alone: bool) -> None:
    one = swept({"hidden-size": [64, 16, 32]})
    assert one.sweep is not None
    figure = (one.sweep if alone else one).plot("sweep")
    [axes] = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("hidden-size", "forward, µs")
    for line, runner in zip(marks(axes), ("cudnn", "py"), strict=True):
        times = {cell.point["hidden-size"]: cell.time_ns for cell in one.sweep if cell.runner == runner}
        assert [*line.get_xdata()] == [16, 32, 64]
        assert [*line.get_ydata()] == pytest.approx([times[size] / 1000 for size in (16, 32, 64)])
    intervals = [one for one in axes.get_lines() if one not in marks(axes)]
    ends = {tuple(line.get_ydata()) for line in intervals}
    known = [] if alone else [result.forward for result in one.results]
    assert ends == {(found.ci_low_ns / 1000, found.ci_high_ns / 1000) for found in known if found is not None}


def test_the_legend_has_the_exponent() -> None:
    one = swept({"hidden-size": [16, 32, 64, 128]})
    assert one.sweep is not None
    legend = one.plot("sweep").axes[0].get_legend()
    assert legend is not None
    for text, growth in zip(legend.get_texts(), one.sweep.growth, strict=True):
        assert growth.exponent is not None
        assert text.get_text().startswith(f"{growth.runner}: b = {growth.exponent:.2f} [{growth.ci_low:.2f}, ")


def test_rates_are_those_of_the_cells() -> None:
    one = swept({"hidden-size": [16, 32]})
    assert one.sweep is not None
    axes = one.plot("throughput", row="hidden-size/samples per second").axes[0]
    rates = [cell.samples_per_second for cell in one.sweep if cell.phase == "iteration"]
    assert [y for line in marks(axes) for y in line.get_ydata()] == rates
    assert axes.get_ylabel() == "samples per second"


def test_names_are_places_and_not_sizes() -> None:
    axes = swept({"dtype": ["float64", "float32"]}).plot("sweep").axes[0]
    assert axes.get_xscale() == "linear"
    assert [one.get_text() for one in axes.get_xticklabels()] == ["float64", "float32"]
    for line in marks(axes):
        assert [round(float(x)) for x in line.get_xdata()] == [0, 1]
        assert line.get_linestyle() == "None"


def test_few_lines_share_a_panel_and_many_are_parted() -> None:
    few = swept({"hidden-size": [16, 32], "dtype": ["float32", "float64"]})
    found = panels(few, TIMES)
    assert [one.name for one in found] == ["hidden-size/forward", "dtype/forward"]
    assert [line.name for line in found[0].lines] == [
        *("cudnn, dtype=float32", "cudnn, dtype=float64", "py, dtype=float32", "py, dtype=float64")
    ]
    many = swept({"hidden-size": [16, 32], "num-layers": [1, 2, 3, 4, 5]})
    found = panels(many, TIMES)
    assert [one.name for one in found[:2]] == ["hidden-size/forward, num-layers=1", "hidden-size/forward, num-layers=2"]
    assert all([line.name for line in one.lines] == ["cudnn", "py"] for one in found[:5])
    label = many.plot("sweep", row="hidden-size/forward, num-layers=2").axes[0].get_xlabel()
    assert label == "hidden-size, at num-layers=2"
    cells = [(id(spot.cell)) for one in found[:5] for line in one.lines for spot in line.spots]
    assert len({*cells}) == len(cells) == 20


def test_a_run_without_a_sweep_has_no_plot_of_it() -> None:
    with pytest.raises(UsageError, match=r"invalid value: 'sweep' \(kind\). "):
        run([exactly([1, 2, 3])]).plot("sweep")


def rows_of(page: str, caption: str) -> list[list[tuple[str, str]]]:
    table = page.partition(f"<caption>{caption}</caption>")[2].partition("</table>")[0]
    return [re.findall(r"<td([^>]*)>([^<]*)<", row) for row in table.split("<tr>")[2:]]


def test_the_page_has_the_exact_numbers() -> None:
    one = swept({"hidden-size": [16, 32, 64]})
    assert one.sweep is not None
    rows = rows_of(html_page(one), "Times and rates of all points")
    assert len(rows) == len(one.sweep.cells)
    summaries = {(found.runner, found.point["hidden-size"]): found.forward for found in one.results}
    for row, cell in zip(rows, one.sweep.cells, strict=True):
        numbers = [None if 'data-value="' not in kind else float(kind.split('"')[-2]) for kind, _ in row]
        found = summaries[cell.runner, cell.point["hidden-size"]] if cell.phase == "forward" else None
        interval = (None, None, None) if found is None else (found.ci_low_ns, found.ci_high_ns, found.n_processes)
        expected = [cell.point["hidden-size"], None, cell.time_ns, *interval]
        assert numbers[1:] == [*expected, cell.steps_per_second, cell.samples_per_second]
    growth = rows_of(html_page(one), "Growth of times")
    assert [float(row[5][0].split('"')[-2]) for row in growth] == [found.exponent for found in one.sweep.growth]


@pytest.mark.parametrize(
    "change",
    few(
        [{"runner": NASTY}, {"point": {"hidden-size": 10**400}}],
        [
            {"runner": NASTY},
            {"time_ns": 0.0},
            {"time_ns": 1e300},
            {"point": {"hidden-size": 10**400}},
            {"point": {"hidden-size": -1}},
            {"point": {"hidden-size": "$x^2$"}},
            {"point": {}},
        ],
        "pages",
    ),
)
def test_nasty_cells_are_drawn(change: dict[str, Any]) -> None:
    one = swept({"hidden-size": [16, 32, 64]})
    assert one.sweep is not None
    first = replace(one.sweep.cells[0], **change)
    values = [first.point["hidden-size"]] if first.point else []
    axes = [replace(one.sweep.axes[0], values=[*values, *one.sweep.axes[0].values])]
    sweep = Sweep(axes=axes, cells=[first, *one.sweep.cells[1:]], growth=[])
    drawn = draw(replace(one, sweep=sweep), "sweep")
    drawn.figure.draw_without_rendering()
    page = html_page(replace(one, sweep=sweep))
    assert "</script><b>" not in page
    assert "\u202e" not in page


def test_the_legend_has_every_runner() -> None:
    long = [f"a_cell_with_a_name_of_many_words_{one}_and_an_end_of_as_many_words" for one in "AB"]
    axes = swept({"hidden-size": [16, 32, 64, 128]}, ("_mine", *long)).plot("sweep").axes[0]
    legend = axes.get_legend()
    assert legend is not None
    names = [one.get_text().partition(": b = ")[0].strip() for one in legend.get_texts()]
    assert names[0] == "_mine"
    assert len({*names}) == 3
