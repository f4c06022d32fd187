"""Plots of comparisons: the artists have the numbers of the document."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import run_files
import screen_data
from captured_sides import GEMM, RNN
from comparison_documents import HOSTILE, capture, nasty_rows, of_captures, of_runs, with_rows
from conftest import run_cli

import fastrnns_rs
from fastrnns_rs import Comparison
from fastrnns_rs.errors import UsageError
from fastrnns_rs.views.plots import comparison_rows, comparison_waterfall
from fastrnns_rs.views.plots.figure import draw
from fastrnns_rs.views.plots.style import DARK

pytest.importorskip("matplotlib")


def axes(comparison: Comparison, kind: str | None = None, **more: Any) -> Any:
    [found] = comparison.plot(kind, **more).axes
    return found


def dots(found: Any) -> dict[str, list[tuple[float, float]]]:
    """The places of marks, by their label in the legend."""
    return {
        one.get_label(): [(float(x), float(y)) for x, y in one.get_offsets()]
        for one in found.collections
        if not one.get_label().startswith("_")
    }


def test_ratios_are_sorted_and_have_their_intervals_and_words() -> None:
    comparison = of_runs()
    found = axes(comparison)
    rows = sorted(comparison.rows, key=lambda one: -(one.ratio or 0))
    mean = comparison.geometric_mean
    assert mean is not None
    names = [one.get_text() for one in found.get_yticklabels()]
    assert names == [*(f"{one.runner}/{one.phase}" for one in rows), "geometric mean"]
    marks = sorted((place, ratio) for group in dots(found).values() for ratio, place in group)
    assert [ratio for _, ratio in marks] == pytest.approx([*(one.ratio for one in rows), mean.ratio])
    intervals = {
        line.get_ydata()[0]: tuple(line.get_xdata()) for line in found.lines if len(set(line.get_ydata())) == 1
    }
    for place, one in enumerate((*rows, mean)):
        assert intervals[place] == pytest.approx((one.ratio_ci_low, one.ratio_ci_high))
    assert [one.get_text() for one in found.texts[:2]] == ["(↑ slower)", "? inconclusive"]
    assert 1.0 in [line.get_xdata()[0] for line in found.lines if len(set(line.get_xdata())) == 1]


def test_verdicts_differ_by_shape_and_conditional_ones_are_hollow() -> None:
    row = of_runs().rows[0]
    rows = [
        replace(
            row, runner=f"{verdict} {place}", verdict=(verdict, None)[place], conditional_verdict=(None, verdict)[place]
        )
        for verdict in ("slower", "faster", "equivalent", "inconclusive")
        for place in range(2)
    ]
    rows.append(replace(row, runner="silent", verdict=None, conditional_verdict=None))
    found = axes(with_rows(rows, geometric_mean=None))
    groups = {one.get_label(): one for one in found.collections if not one.get_label().startswith("_")}
    shapes = {label: one.get_paths()[0].vertices.tobytes() for label, one in groups.items()}
    assert len({*shapes.values()}) == 5
    for label, one in groups.items():
        hollow = (one.get_facecolor() != one.get_edgecolor()).any()
        assert hollow == ("conditional" in label)
    assert {"slower", "(slower): conditional", "no verdict"} <= {*groups}


def test_the_band_is_the_margin() -> None:
    comparison = of_runs()
    wide = replace(comparison, method=replace(comparison.method, margin=0.03))
    [band] = [one for one in axes(wide).patches if one.get_label().startswith("margin")]
    assert (band.get_x(), band.get_x() + band.get_width()) == pytest.approx((1 / 1.03, 1.03))
    assert band.get_label() == "margin, ±3 %"


def test_extreme_ratios_stay_on_the_axis_and_endless_intervals_have_arrows() -> None:
    comparison = with_rows(nasty_rows())
    found = axes(comparison)
    low, high = found.get_xlim()
    assert 0 < low < 1e-6
    assert 1000 < high < math.inf
    assert found.get_xscale() == "log"
    assert found.get_yticklabels()[0].get_text().startswith("<script>")
    arrows = [line.get_marker() for line in found.lines if line.get_marker() in {"<", ">"}]
    assert arrows == ["<", ">"]
    texts = [one.get_text() for one in found.get_yticklabels()]
    assert all(len(one) < 60 and "\x1b" not in one and "\u202e" not in one for one in texts)


def test_no_rows_and_no_ratios_are_errors() -> None:
    [silent] = nasty_rows()[3:]
    with pytest.raises(UsageError, match="no data to plot"):
        with_rows([], geometric_mean=None).plot()
    with pytest.raises(UsageError, match=r"invalid value: 'ratios' \(kind\)"):
        with_rows([silent], geometric_mean=None).plot("ratios")


def test_processes_have_their_medians_and_point_estimates() -> None:
    comparison = of_runs()
    found = axes(comparison, "processes", row="jit/backward")
    row = comparison["jit/backward"]
    for name in ("baseline", "candidate"):
        side = getattr(row, name)
        medians = screen_data.BASELINE["jit"][1] if name == "baseline" else screen_data.CANDIDATE["jit"][1]
        assert side.process_medians_ns == pytest.approx([1e6 * one for one in medians])
        assert dots(found)[name] == [pytest.approx(one) for one in enumerate(medians, 1)]
    lines = [line.get_ydata()[0] for line in found.lines if len({*line.get_ydata()}) == 1]
    assert lines == pytest.approx([row.baseline.estimate_ns / 1e6, row.candidate.estimate_ns / 1e6])


def test_one_missing_side_leaves_the_other() -> None:
    comparison = with_rows(nasty_rows())
    name = "cudnn/forward"
    found = axes(comparison, "processes", row=name)
    assert [*dots(found)] == ["baseline"]
    assert name not in comparison_rows.rows_with_deciles(comparison)
    with pytest.raises(UsageError, match="unknown row"):
        comparison.plot("shift", row=name)


def test_shift_is_the_difference_of_deciles_of_all_timed_samples() -> None:
    first, second = (
        run_files.run([run_files.result("cudnn", seed=seed, backward=False, level_ns=level)])
        for seed, level in ((1, 1e6), (2, 1.1e6))
    )
    from fastrnns_rs import compare, stats

    comparison = compare(first, second, history=False)
    [row] = comparison.rows
    levels = [one / 10 for one in range(1, 10)]
    wanted = [
        stats.quantiles(
            [time for one in run.results[0].processes for time in one.samples_ns("forward", timed=True)], levels
        )
        for run in (first, second)
    ]
    assert [one.baseline_ns for one in row.deciles] == wanted[0]
    assert [one.candidate_ns for one in row.deciles] == wanted[1]
    found = axes(comparison, "shift")
    [(label, marks)] = dots(found).items()
    assert label == "slower"
    assert [x for x, _ in marks] == pytest.approx([100 * one for one in levels])
    scale = comparison_rows.shift_scale(row)
    assert [y * scale.ns for _, y in marks] == pytest.approx([b - a for a, b in zip(*wanted, strict=True)])
    assert f"candidate - baseline, {scale.unit}" == found.get_ylabel()


def bars(found: Any) -> list[tuple[int, float, float]]:
    """Place, start and end of each bar."""
    return sorted(
        (round(one.get_y() + one.get_height() / 2), one.get_x(), one.get_x() + one.get_width())
        for group in found.containers
        for one in group
    )


def test_the_waterfall_leads_from_the_baseline_to_the_candidate(tmp_path: Path) -> None:
    comparison = of_captures(tmp_path, slower={GEMM: 6.0, RNN: 0.5})
    assert comparison.device_time is not None
    found = axes(comparison)
    scale = comparison_waterfall.scale(comparison)
    before, after = comparison_waterfall.totals(comparison)
    (_, _, first), *steps, (_, _, last) = bars(found)
    assert (first * scale.ns, last * scale.ns) == pytest.approx((before, after))
    at = before
    for (_, start, end), kernel in zip(steps, comparison.kernels, strict=True):
        assert (start * scale.ns, end * scale.ns) == pytest.approx((at, at + kernel.delta_ns))
        at += kernel.delta_ns
    assert at == after
    whiskers = [tuple(line.get_xdata()) for line in found.lines if line.get_marker() == "|"]
    at = before
    for kernel, whisker in zip(comparison.kernels, sorted_by_place(found, whiskers), strict=True):
        assert kernel.delta_ci_low_ns is not None
        assert kernel.delta_ci_high_ns is not None
        assert kernel.delta_ci_low_ns < kernel.delta_ns < kernel.delta_ci_high_ns
        assert [one * scale.ns for one in whisker] == pytest.approx(
            [at + kernel.delta_ci_low_ns, at + kernel.delta_ci_high_ns]
        )
        at += kernel.delta_ns


def sorted_by_place(found: Any, whiskers: list[Any]) -> list[Any]:
    lines = [line for line in found.lines if line.get_marker() == "|"]
    return [one for _, one in sorted(zip((line.get_ydata()[0] for line in lines), whiskers, strict=True))]


def test_other_kernels_are_one_bar(tmp_path: Path) -> None:
    comparison = of_captures(tmp_path, 2)
    kernel = comparison.kernels[0]
    many = [
        replace(kernel, name=f"k{place}<{'x' * 500}>", short_name=f"k{place}", delta_ns=10**6 * place)
        for place in range(40)
    ]
    whole = comparison.device_time
    steps = comparison_waterfall.kernel_steps(replace(comparison, kernels=many, device_time=whole))
    assert [one.delta_ns for one in steps[:2]] == [39 * 10**6, 38 * 10**6]
    assert (steps[-1].name, steps[-1].change) == ("28 others", None)
    assert sum(one.delta_ns for one in steps) == sum(one.delta_ns for one in many)
    found = axes(replace(comparison, kernels=many))
    assert len(found.get_yticklabels()) == len(steps) + 2


def test_equal_captures_say_that_nothing_changed(tmp_path: Path) -> None:
    before = capture(tmp_path / "one.json", seed=1)
    comparison = fastrnns_rs.compare(before, before)
    for kind in ("waterfall", "categories"):
        drawn = draw(comparison, kind)
        found = drawn.canvas.axes
        legend = found.get_legend()
        assert legend is not None
        assert legend.get_title().get_text().startswith("no change")
        assert "No change: " in drawn.canvas.note
        assert [one.get_text() for one in found.get_yticklabels()] == ["baseline", "candidate"]
        scale = comparison_waterfall.scale(comparison)
        whole = comparison_waterfall.totals(comparison)[0] / scale.ns
        assert [(start, end) for _, start, end in bars(found)] == [(0, pytest.approx(whole))] * 2
        assert found.get_xlim()[0] == 0
        assert whole < found.get_xlim()[1] < 1.2 * whole


def test_a_wide_interval_of_a_change_has_an_arrow(tmp_path: Path) -> None:
    comparison = of_captures(tmp_path, slower={GEMM: 6.0})
    first, *others = comparison.kernels
    wide = replace(first, delta_ci_low_ns=-(10**15), delta_ci_high_ns=10**15)
    found = axes(replace(comparison, kernels=[wide, *others]))
    assert {line.get_marker() for line in found.lines} >= {"<", ">"}
    assert found.get_xlim()[1] < 1e6


def test_small_changes_have_an_axis_of_their_own(tmp_path: Path) -> None:
    found = axes(of_captures(tmp_path, slower={RNN: 1.02}))
    assert found.get_xlim()[0] > 0
    assert "axis does not start at 0" in found.get_xlabel()
    assert len(dots(found)["GPU time"]) == 2


def test_categories_and_idle_causes(tmp_path: Path) -> None:
    comparison = of_captures(tmp_path, 1, slower={GEMM: 3.0})
    found = axes(comparison, "categories")
    assert {one.get_text() for one in found.get_yticklabels()} == {
        "baseline",
        "candidate",
        *(one.name for one in comparison.categories),
    }
    sides = (comparison.baseline, comparison.candidate)
    idle = axes(comparison, "idle")
    for group, side in zip(idle.containers, sides, strict=True):
        assert [one.get_width() for one in group] == pytest.approx([100 * one.span_fraction for one in side.idle_times])
        assert side.idle_ns == sum(one.total_ns for one in side.idle_times) > 0
        assert side.span_ns is not None
        assert side.idle_times[0].span_fraction == side.idle_times[0].total_ns / side.span_ns


def test_a_kind_of_the_other_comparison_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"invalid value: 'waterfall' \(kind\)") as raised:
        of_runs().plot("waterfall")
    assert "ratios, processes or shift" in str(raised.value.hint)
    captures = of_captures(tmp_path, 1)
    with pytest.raises(UsageError, match=r"invalid value: 'ratios' \(kind\)"):
        captures.plot("ratios")
    with pytest.raises(UsageError, match=r"invalid value: 'idle' \(kind\)"):
        nothing = {"idle_times": [], "idle_ns": None, "span_ns": None}
        replace(
            captures, baseline=replace(captures.baseline, **nothing), candidate=replace(captures.candidate, **nothing)
        ).plot("idle")


def test_dark_plots_and_given_axes() -> None:
    from matplotlib.colors import to_hex
    from matplotlib.figure import Figure

    assert to_hex(of_runs().plot(dark=True).get_facecolor()) == DARK.paper
    figure = Figure()
    [one, other] = figure.subplots(2)
    assert of_runs().plot("shift", row="py/backward", ax=other) is figure
    assert not one.lines
    assert other.lines


def test_commands_draw_plots(tmp_path: Path) -> None:
    comparison = of_runs()
    comparison.save(tmp_path / "comparison.json")
    done = run_cli("show", tmp_path / "comparison.json", "--plot", tmp_path / "shown.svg")
    assert done.status == 0
    for name, run in (("a.json", screen_data.baseline()), ("b.json", screen_data.candidate())):
        run.save(tmp_path / name)
    words = ("compare", tmp_path / "a.json", tmp_path / "b.json", "--plot")
    assert run_cli(*words, tmp_path / "compared.svg").status == 0
    assert (tmp_path / "compared.svg").read_text() == (tmp_path / "shown.svg").read_text()
    assert "jit/forward" in (tmp_path / "shown.svg").read_text()
    choice = ("--plot-kind", "shift", "--plot-row", "py/forward")
    assert run_cli(*words, tmp_path / "shift.svg", *choice).status == 0
    assert "decile of all timed samples" in (tmp_path / "shift.svg").read_text()
    done = run_cli(*words[:-1], *choice)
    assert (done.status, "--plot-kind needs --plot" in done.stderr) == (2, True)
    before = (tmp_path / "a.json").read_bytes()
    (tmp_path / "a.svg").write_bytes(before)
    done = run_cli("compare", tmp_path / "a.svg", tmp_path / "b.json", "--plot", tmp_path / "a.svg")
    assert done.status == 2
    assert (tmp_path / "a.svg").read_bytes() == before
    done = run_cli(*words, tmp_path / "x.txt")
    assert (done.status, "unsupported format" in done.stderr) == (2, True)


def test_hostile_names_are_text_in_files(tmp_path: Path) -> None:
    import xml.etree.ElementTree as ET

    from fastrnns_rs.views.plots.figure import save

    comparison = with_rows(nasty_rows())
    for kind in ("ratios", "processes", "shift"):
        row = None if kind == "ratios" else f"{HOSTILE[2]}/forward"
        save(comparison, tmp_path / f"{kind}.svg", kind, row=row)
        root = ET.fromstring((tmp_path / f"{kind}.svg").read_text())
        assert not [one for one in root.iter() if one.tag.endswith("script")]


#: Names that differ in the middle only, where a plot cuts them.
_ALIKE = tuple(f"a_cell_with_a_name_of_many_words_{one}_and_an_end_of_as_many_words" for one in "AB")


def test_names_that_are_cut_differ() -> None:
    row = of_runs().rows[0]
    found = axes(with_rows([replace(row, runner=one) for one in _ALIKE]))
    names = [one.get_text() for one in found.get_yticklabels()[:2]]
    assert len({*names}) == 2
    assert all("…" in one for one in names)


def test_deciles_without_a_shift_are_neither_slower_nor_faster() -> None:
    row = of_runs().rows[0]
    shifts = [replace(one, shift_ns=float(number - 4)) for number, one in enumerate(row.deciles)]
    found = draw(with_rows([replace(row, deciles=shifts)]), "shift")
    words = [text.rpartition(", ")[2] for texts in found.canvas.texts.values() for text in texts]
    assert words == ["slower"] * 4 + ["faster"] * 4 + ["equal"]
