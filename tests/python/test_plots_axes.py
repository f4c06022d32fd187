"""Axes of plots: limits from the estimates, labels that do not overlap, and axes of the caller."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import matplotlib as mpl
import pytest
import run_files
import screen_data
from comparison_documents import of_runs, with_rows
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from page_documents import PAGES
from parts import few
from test_plots_sweep import swept

import fastrnns_rs
from fastrnns_rs import Run
from fastrnns_rs.documents.history import History
from fastrnns_rs.documents.history_trends import Trend, TrendPoint, TrendSegment
from fastrnns_rs.views.plots.figure import draw, kinds
from fastrnns_rs.views.plots.limits import TimeAxis
from fastrnns_rs.views.plots.style import DARK, FONT_SIZE, LIGHT

mpl.use("Agg")

MS = 1e6
#: Intervals of three processes of which one is an outlier.
ENDLESS = (1.0, 1e15)


def widened(run: Run, ends: tuple[float, float] = ENDLESS) -> Run:
    """The run with other ends of the interval of its first row."""
    first, *others = run.results
    assert first.forward is not None
    forward = replace(first.forward, ci_low_ns=ends[0], ci_high_ns=ends[1])
    return replace(run, results=[replace(first, forward=forward), *others])


def trend(estimates: list[float], **more: Any) -> History:
    """A history of one row; the ends of the intervals are `ends`."""
    low, high = more.get("ends", (None, None))
    points = [
        TrendPoint(
            run_id=f"{place:032x}",
            started_utc=f"2026-11-25T{place:02}:35:31Z",
            commit=more.get("commit"),
            dirty=None,
            tags=[],
            torch_version="2.15.0",
            n_processes=more.get("processes", [3] * len(estimates))[place],
            estimate_ns=one,
            ci_low_ns=low,
            ci_high_ns=high,
        )
        for place, one in enumerate(estimates)
    ]
    level = math.exp(math.fsum(map(math.log, estimates)) / len(estimates))
    segments = [TrendSegment(begin=0, end=len(points), level_ns=level)]
    row = Trend(
        name="py/forward",
        runner="py",
        phase="forward",
        device="cpu",
        machine_id=None,
        points=points,
        segments=segments,
        n_sessions=len(points),
    )
    return History(folder="/", trends=[row])


def arrows(axes: Axes) -> set[Any]:
    """The arrows at the ends of an axis."""
    return {line.get_marker() for line in axes.get_lines()} & {"<", ">", "^", "v"}


def ticks(axes: Axes, name: str) -> list[tuple[float, float, str]]:
    """The start, the end and the text of each visible label of an axis, in pixels."""
    figure: Any = axes.figure
    figure.draw_without_rendering()
    axis, side = (axes.xaxis, "x") if name == "x" else (axes.yaxis, "y")
    assert axis.get_offset_text().get_text() == ""
    low, high = sorted(axis.get_view_interval())
    boxes = [
        (label.get_window_extent(), label.get_text())
        for place, label in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
        if low <= place <= high
    ]
    return sorted((getattr(box, f"{side}0"), getattr(box, f"{side}1"), text) for box, text in boxes if text)


def check_labels(axes: Axes, name: str) -> None:
    found = ticks(axes, name)
    assert 2 <= len(found) <= 6
    assert all(before[1] < after[0] for before, after in pairwise(found)), found
    assert not any("e" in text for *_, text in found)
    assert len({text for *_, text in found}) == len(found)


def wide_documents() -> list[tuple[str, object, str, str | None, str]]:
    """Documents with an endless interval: kind, row, and the name of the axis of times."""
    comparison = of_runs()
    [row, *others] = comparison.rows
    assert row.baseline is not None
    side = replace(row.baseline, ci_low_ns=ENDLESS[0], ci_high_ns=ENDLESS[1])
    sides = with_rows([replace(row, baseline=side), *others])
    sweep = swept({"hidden-size": [16, 32, 64]})
    return [
        ("run", widened(screen_data.candidate()), "times", None, "x"),
        ("sweep", widened(sweep), "sweep", None, "y"),
        ("times of a sweep", widened(sweep), "times", None, "x"),
        ("history", trend([5 * MS, 6 * MS, 7 * MS], ends=ENDLESS), "trend", None, "y"),
        ("comparison", sides, "processes", f"{row.runner}/{row.phase}", "y"),
    ]


@pytest.mark.parametrize(("name", "document", "kind", "row", "side"), wide_documents(), ids=lambda one: str(one)[:20])
def test_an_endless_interval_has_arrows_and_leaves_the_axis(
    name: str, document: Any, kind: str, row: str | None, side: str
) -> None:
    drawn = draw(document, kind, row=row)
    axes = drawn.canvas.axes
    low, high = axes.get_xlim() if side == "x" else axes.get_ylim()
    unit = {"ms": 1e6, "µs": 1e3, "s": 1e9}[(axes.get_xlabel() if side == "x" else axes.get_ylabel()).split(", ")[-1]]
    # A millionth of the interval.
    assert high * unit < 1e9, name
    assert ({">"} if side == "x" else {"^"}) <= arrows(axes)
    assert "arrow" in drawn.canvas.note
    check_labels(axes, side)
    plain = {"run": screen_data.candidate()}.get(name)
    if plain is not None:
        assert not arrows(draw(plain, kind).canvas.axes)
    for line in axes.get_lines():
        for value in line.get_xdata() if side == "x" else line.get_ydata():
            assert low <= value <= high or side == "y" or value in (0, 1)


@pytest.mark.parametrize("seed", range(200))
def test_limits_have_all_times_and_at_most_some_of_the_interval(seed: int) -> None:
    import random

    dice = random.Random(seed)
    times = [10 ** dice.uniform(2, 2 + dice.choice((0.01, 1, 6))) for _ in range(dice.randint(1, 9))]
    ends = [dice.choice((0.0, 1.0, min(times) / 1.1, max(times) * 1.1, 1e18)) for _ in range(dice.randint(0, 4))]
    from_zero = dice.random() < 0.5
    axis = TimeAxis(times, ends, from_zero=from_zero)
    assert axis.low_ns <= min(times) <= max(times) <= axis.high_ns
    assert axis.is_log == (max(times) > 20 * min(times))
    if axis.is_log:
        # All times together take at least a quarter of the axis.
        assert math.log(axis.high_ns / axis.low_ns) < 4.5 * math.log(max(times) / min(times))
        assert axis.low_ns > 0
    else:
        begin = 0.0 if from_zero else min(times)
        reach = max(max(times) - begin, 0.3 * max(times))
        assert axis.high_ns <= max(times) + 1.3 * reach
        assert not (from_zero and axis.low_ns > 0)
    if all(min(times) <= one <= max(times) * 1.1 for one in ends) and axis.is_log:
        assert all(axis.low_ns <= one <= axis.high_ns for one in ends)
    shown = axis.high_ns / axis.scale.ns
    assert axis.is_log or 1 <= shown < 1100 or axis.scale.unit == "s"


@pytest.mark.parametrize("times", [[0.0], [0.0, 0.0], [0.0, 5.0], [5.0], [5.0, 5.0], [], [1e300, 1.0], [-1.0, 2.0]])
def test_limits_of_nasty_times_are_finite(times: list[float]) -> None:
    for from_zero in (False, True):
        axis = TimeAxis(times, [0.0, math.inf, None], from_zero=from_zero)
        assert math.isfinite(axis.low_ns)
        assert math.isfinite(axis.high_ns)
        assert axis.low_ns < axis.high_ns


def test_an_estimate_of_zero_is_at_zero_and_its_medians_where_they_are() -> None:
    run = screen_data.candidate()
    first, *others = run.results
    assert first.forward is not None
    forward = replace(first.forward, estimate_ns=0.0, ci_low_ns=0.0, ci_high_ns=0.0)
    axes = draw(replace(run, results=[replace(first, forward=forward), *others]), "times").canvas.axes
    assert axes.get_xscale() == "linear"
    assert axes.get_xlim()[0] < 0
    [dots] = [one for one in axes.collections if one.get_label() == "forward"]
    assert 0.0 in [float(x) for x, _ in dots.get_offsets()]


@pytest.mark.parametrize("width", [2.5, 4.0, 10.0])
@pytest.mark.parametrize(
    "limits", [(0.002, 5e6, True), (0.3, 7000, True), (1, 3.9, True), (0, 123456789, False), (0, 0.0017, False)]
)
def test_labels_of_given_axes_do_not_overlap(width: float, limits: tuple[float, float, bool]) -> None:
    from fastrnns_rs.views.plots.ticks import set_ticks

    figure = Figure(figsize=(width, width))
    axes = figure.add_subplot()
    for set_scale, set_limits in ((axes.set_xscale, axes.set_xlim), (axes.set_yscale, axes.set_ylim)):
        if limits[2]:
            set_scale("log")
        set_limits(limits[0], limits[1])
    axes.tick_params(labelsize=FONT_SIZE - 1)
    set_ticks(axes)
    for name in ("x", "y"):
        check_labels(axes, name)


@pytest.mark.parametrize("name", few(["capture", "comparison", "run", "sweep"], sorted(PAGES), "pages"))
def test_no_label_lies_on_another_or_outside_the_figure(name: str) -> None:
    for document in PAGES[name]():
        for kind, plot in kinds(document).items():
            for row in [None] if plot.rows is None else plot.rows(document)[:2]:
                drawn = draw(document, kind, row=row)
                axes, page = drawn.canvas.axes, drawn.figure.bbox
                for side in ("x", "y"):
                    found = ticks(axes, side)
                    assert all(before[1] < after[0] + 0.5 for before, after in pairwise(found)), (kind, row, found)
                box = axes.get_tightbbox()
                assert box is not None
                assert min(box.x0, box.y0) > -1, (kind, row)
                assert (box.x1 < page.x1 + 1, box.y1 < page.y1 + 1) == (True, True), (kind, row)


@pytest.mark.parametrize("width", [None, 3.0, 6.0])
def test_labels_of_the_values_of_a_sweep_do_not_overlap(width: float | None) -> None:
    sizes: list[int | str] = [3 * 2**place for place in range(20)]
    ax = None if width is None else Figure(figsize=(width, 3)).add_subplot()
    axes = draw(swept({"hidden-size": sizes}), "sweep", ax=ax).canvas.axes
    found = ticks(axes, "x")
    assert len(found) >= 3
    assert all(before[1] < after[0] for before, after in pairwise(found))


def test_given_axes_have_the_own_style() -> None:
    from matplotlib.colors import to_hex

    run = screen_data.candidate()
    row = f"{run.results[0].runner}/forward"
    for dark, theme in ((False, LIGHT), (True, DARK)):
        figure = Figure(figsize=(8, 3))
        left, right = figure.subplots(1, 2)
        run.plot(ax=left, dark=dark)
        run.plot("samples", row=row, ax=right, dark=dark)
        for axes in (left, right):
            assert [name for name, spine in axes.spines.items() if spine.get_visible()] == ["left", "bottom"]
            assert to_hex(axes.get_facecolor()) == to_hex(figure.get_facecolor()) == theme.paper
            texts = [axes.xaxis.label, *axes.get_xticklabels(), *axes.get_legend().get_texts()]
            assert {to_hex(one.get_color()) for one in texts} == {theme.ink}
            assert not any(one.get_parse_math() for one in texts)
            check_labels(axes, "x")
    # A light figure of the caller keeps its own background.
    figure = Figure(facecolor="#123456")
    run.plot(ax=figure.subplots())
    assert to_hex(figure.get_facecolor()) == "#123456"


@pytest.mark.parametrize("ax", [3, "axes", [], Figure()])
def test_other_values_for_axes_are_usage_errors(ax: Any) -> None:
    with pytest.raises(fastrnns_rs.UsageError, match="`ax` must be axes of matplotlib, got"):
        screen_data.candidate().plot(ax=ax)


def test_runs_of_one_day_have_times_and_few_processes_hollow_dots() -> None:
    drawn = draw(trend([5 * MS, 6 * MS, 7 * MS], processes=[3, 1, 3], commit="abcdef0123"), "trend")
    axes = drawn.canvas.axes
    labels = [one.get_text() for one in axes.get_xticklabels()]
    assert labels == [f"2026-11-25\n0{hour}:35\nabcdef0" for hour in range(3)]
    assert axes.get_xlabel() == "run: date, time (UTC) and commit"
    [dots] = axes.collections
    colors = [tuple(one) for one in dots.get_facecolors()]
    assert colors[0] == colors[2] != colors[1]
    assert "Hollow dot: fewer than 3 processes" in drawn.canvas.note
    assert "geometric mean of all runs" in drawn.canvas.note
    assert "Change points need 8 runs" in drawn.canvas.note


def test_pictures_of_a_row_name_the_row_the_problem_and_each_process() -> None:
    run = screen_data.candidate()
    result = run.results[0]
    for kind in ("samples", "distribution"):
        axes = draw(run, kind, row=f"{result.runner}/forward").canvas.axes
        legend = axes.get_legend()
        assert legend is not None
        title = legend.get_title().get_text()
        assert title.startswith(f"{result.runner}/forward")
        assert result.problem.device in title
        assert f"hidden {result.problem.hidden_size}" in title
        names = [f"process {one.index}" for one in result.processes]
        assert [one.get_text() for one in legend.get_texts()][: len(names)] == names
        for text, line in zip(legend.legend_handles, axes.lines, strict=False):
            assert (text.get_color(), text.get_linestyle()) == (line.get_color(), line.get_linestyle())


def test_many_processes_have_lines_that_differ_and_a_short_legend() -> None:
    run = run_files.run([run_files.result("cudnn", processes=32, count=30)])
    drawn = draw(run, "samples", row="cudnn/forward")
    looks = {(line.get_color(), line.get_linestyle()) for line in drawn.canvas.axes.lines}
    assert len(looks) == 32
    legend = drawn.canvas.axes.get_legend()
    assert legend is not None
    assert len([one for one in legend.get_texts() if one.get_text().startswith("process")]) == 11
    assert "21 more processes have no entry in the legend." in drawn.canvas.note


def test_the_first_iteration_is_named_and_bars_fill_the_height() -> None:
    run = screen_data.candidate()
    alone = replace(run, results=run.results[:1])
    axes = draw(alone, "start").canvas.axes
    assert axes.get_xlabel().startswith("first iteration, forward and backward together, ")
    assert axes.get_ylim() == (0.5, -0.5)
