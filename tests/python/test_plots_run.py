"""Plots of runs: the artists have the numbers of the document."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import run_files
import screen_data
from conftest import run_cli

import fastrnns_rs
from fastrnns_rs import Run
from fastrnns_rs.documents.writer_lock import WriterLocks
from fastrnns_rs.views.plots import run_times
from fastrnns_rs.views.plots.style import DARK, LIGHT

pytest.importorskip("matplotlib")


def axes(run: Run, kind: str, **more: Any) -> Any:
    [found] = run.plot(kind, **more).axes
    return found


def labelled(found: Any, label: str) -> Any:
    [one] = [one for one in (*found.collections, *found.containers, *found.lines) if one.get_label() == label]
    return one


def test_dots_are_the_estimates_and_lines_the_intervals() -> None:
    run = screen_data.candidate()
    found = axes(run, "times")
    results = run_times.measured(run)
    for phase in ("forward", "backward"):
        dots = labelled(found, phase).get_offsets()
        estimates = [getattr(one, phase).estimate_ns for one in results]
        assert [x * 1e6 for x, _ in dots] == pytest.approx(estimates)
    ends = sorted(tuple(x * 1e6 for x in line.get_xdata()) for line in found.lines)
    wanted = [(one.ci_low_ns, one.ci_high_ns) for result in results for _, one in run_times.phases(result)]
    assert ends == [pytest.approx(one) for one in sorted(wanted)]
    assert [one.get_text() for one in found.get_yticklabels()] == [one.runner for one in results]
    assert found.get_xlabel() == "time of a phase, ms"


def test_ticks_behind_are_the_medians_of_processes() -> None:
    run = screen_data.candidate()
    first = run_times.measured(run)[0]
    found = axes(replace(run, results=[first]), "times")
    ticks = [one for one in found.collections if one.get_label().startswith("_")]
    medians = [one.median_ns("forward") for one in first.processes]
    assert None not in medians
    assert [x * 1e6 for x, _ in ticks[0].get_offsets()] == pytest.approx(medians)


@pytest.mark.parametrize("kind", ["samples", "distribution"])
def test_ranks_have_names_of_their_own(kind: str) -> None:
    made = run_files.result(processes=4)
    ranks = [replace(one, index=place // 2, rank=place % 2) for place, one in enumerate(made.processes)]
    found = axes(run_files.run([replace(made, processes=ranks)]), kind, row="cudnn/forward")
    names = [text.get_text() for text in found.figure.legends[0].get_texts()] if found.figure.legends else []
    names = names or [text.get_text() for text in found.get_legend().get_texts()]
    assert names[:4] == [f"process {index}, rank {rank}" for index in (0, 1) for rank in (0, 1)]


def test_runners_are_sorted_within_their_family() -> None:
    run = screen_data.candidate()
    slow, *others = run.results
    slow = replace(slow, forward=replace(slow.forward, estimate_ns=1e12) if slow.forward else None)
    assert [one.runner for one in run_times.measured(replace(run, results=[slow, *others]))][-1] == slow.runner


def test_samples_are_all_there_with_warm_up_and_changes() -> None:
    run = screen_data.candidate()
    result = run.results[0]
    processes = [replace(one, forward_change_points=[3]) for one in result.processes]
    found = axes(
        replace(run, results=[replace(result, processes=processes)]), "samples", row=f"{result.runner}/forward"
    )
    assert [[round(y * 1e6) for y in line.get_ydata()] for line in found.lines] == [one.forward_ns for one in processes]
    cuts = labelled(found, "end of warm-up").get_offsets()
    assert [int(x) for x, _ in cuts] == [one.steady_from for one in processes if one.steady_from]
    assert [int(x) for x, _ in labelled(found, "change of level").get_offsets()] == [3] * len(processes)


def test_distribution_ends_at_the_largest_timed_sample() -> None:
    run = screen_data.candidate()
    result = run.results[0]
    found = axes(run, "distribution", row=f"{result.runner}/forward")
    for line, process in zip(found.lines, result.processes, strict=True):
        timed = process.samples_ns("forward", timed=True)
        assert line.get_xdata()[0] * 1e6 == pytest.approx(min(timed))
        assert (line.get_xdata()[-1] * 1e6, line.get_ydata()[-1]) == (pytest.approx(max(timed)), 100.0)


def test_distribution_leaves_out_processes_that_do_not_count() -> None:
    run = screen_data.candidate()
    result = run.results[0]
    for count in (1, len(result.processes)):
        stopped = [replace(one, status="interrupted") for one in result.processes[:count]]
        changed = replace(run, results=[replace(result, processes=[*stopped, *result.processes[count:]])])
        found = axes(changed, "distribution", row=f"{result.runner}/forward")
        assert len(found.lines) == len(result.processes) - count


def test_bars_are_first_iterations_compilations_and_memory() -> None:
    run = screen_data.candidate()
    results = run_times.measured(run)
    bars = axes(run, "start").containers[0]
    scale = 1e6 if axes(run, "start").get_xlabel().endswith("ms") else 1e9
    assert [one.get_width() * scale for one in bars] == pytest.approx([one.first_call_ns() for one in results])
    peaks = [one.get_width() * 2**20 for one in axes(run, "memory").containers[0]]
    assert peaks == pytest.approx([one.peak_memory_bytes for one in results])


@pytest.mark.parametrize("kind", [None, "times", "start", "memory", "samples", "sweep"])
def test_a_run_without_results_has_no_plot(kind: str | None, tmp_path: Path) -> None:
    run = replace(screen_data.candidate(), results=[run_files.failed("jit", "not supported", "skipped")])
    run.save(tmp_path / "run.json")
    with pytest.raises(fastrnns_rs.UsageError, match="no data to plot"):
        run.plot(kind)
    words = ["show", tmp_path / "run.json", "--plot", tmp_path / "run.png"]
    done = run_cli(*words, *(() if kind is None else ("--plot-kind", kind)))
    assert (done.status, "no data to plot" in done.stderr, (tmp_path / "run.png").exists()) == (2, True, False)


def test_a_file_that_another_process_writes_is_not_replaced(tmp_path: Path) -> None:
    screen_data.candidate().save(tmp_path / "run.json")
    plot = tmp_path / "run.svg"
    plot.write_text("theirs")
    with WriterLocks() as others:
        others.hold(plot)
        done = run_cli("show", tmp_path / "run.json", "--plot", plot)
        assert (done.status, f"process {os.getpid()} writes the file" in done.stderr) == (2, True), done.stderr
        assert plot.read_text() == "theirs"
    assert run_cli("show", tmp_path / "run.json", "--plot", plot).status == 0
    assert plot.read_text() != "theirs"
    assert {one.name for one in tmp_path.iterdir()} == {"run.json", "run.svg"}


def test_the_first_plot_is_one_that_has_data() -> None:
    # Without intervals.
    without = replace(run_files.run([]), results=[run_files.result()])
    assert without.plot().axes[0].get_xlabel() == "iteration of a process"
    assert screen_data.candidate().plot().axes[0].get_xlabel() == "time of a phase, ms"


def test_one_that_failed_is_left_out() -> None:
    run = screen_data.candidate()
    failed = run_files.failed("jit", "out of memory")
    found = axes(replace(run, results=[run.results[0], failed]), "times")
    assert [one.get_text() for one in found.get_yticklabels()] == [run.results[0].runner]


def test_names_are_neither_formulas_nor_controls() -> None:
    run = screen_data.candidate()
    name = "$\\frac{1}{$\x1b\u202e" + "x" * 10_000
    found = axes(replace(run, results=[replace(run.results[0], runner=name)]), "times")
    [label] = found.get_yticklabels()
    assert len(label.get_text()) < 50
    assert not label.get_parse_math()
    found.figure.canvas.draw()


def test_given_axes_and_theme_are_used() -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    left, right = figure.subplots(1, 2)
    run = screen_data.candidate()
    assert run.plot(ax=left) is figure
    assert left.collections
    assert not right.collections
    assert run.plot(dark=True).get_facecolor() != run.plot().get_facecolor()
    assert len(DARK.series) == len(LIGHT.series)


def test_wrong_kinds_and_rows_name_the_known_ones() -> None:
    run = screen_data.candidate()
    with pytest.raises(fastrnns_rs.UsageError, match=r"'tims' \(kind\). Use 'times'"):
        run.plot("tims")
    with pytest.raises(fastrnns_rs.UsageError, match=r"unknown row: 'x/forward' \(row\)"):
        run.plot("samples", row="x/forward")
    with pytest.raises(fastrnns_rs.UsageError, match="`row` needs a kind of one row"):
        run.plot("times", row="x")


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_equal_documents_make_equal_files(suffix: str, tmp_path: Path) -> None:
    from fastrnns_rs.views.plots.figure import save

    files = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for one in files:
        save(screen_data.candidate(), one)
    first, second = (one.read_bytes() for one in files)
    assert first == second
    assert first.startswith({".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix])
