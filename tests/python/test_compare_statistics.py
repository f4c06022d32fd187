"""Means and 95th percentiles beside medians: their intervals, `--statistic`, and the warning that the mean differs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from captured_sides import capture
from commands import run_cli
from foreign_files import FOLDER, by_name, imported, plain
from run_files import PROBLEM, SESSION, both, exactly, process, result, run

import fastrnns_rs
from fastrnns_rs import Comparison, UsageError, compare
from fastrnns_rs.cli import verdict_options
from fastrnns_rs.documents.run_file import Result, Run
from fastrnns_rs.verbs.compare.compared_sources import compare_sources
from fastrnns_rs.verbs.compare.run_side import side_of_run
from fastrnns_rs.verbs.compare.session_spread import PastSession
from fastrnns_rs.verbs.compare.verdict_steps import digits
from fastrnns_rs.verbs.compare.verdicts import STATISTICS
from fastrnns_rs.verbs.history.run_history import RunHistory, open_past

Times = np.ndarray[Any, np.dtype[np.int64]]


def times(seed: int, *, slow: float = 0.0, level: float = 1e6, processes: int = 10, count: int = 100) -> Times:
    """Timed samples by process; a share of them takes five times as long."""
    rng = np.random.default_rng(seed)
    found = level * np.exp(0.01 * rng.standard_normal((processes, 1)) + 0.02 * rng.standard_normal((processes, count)))
    return np.where(rng.random(found.shape) < slow, 5 * found, found).astype(np.int64)


def row(samples: Times, runner: str = "cudnn", **changes: Any) -> Result:
    made = [process(place, one, None) for place, one in enumerate(samples.tolist())]
    return replace(result(runner, processes=0), processes=made, **changes)


def session(name: str, samples: Times) -> Run:
    made = row(samples, source_sha256="a" * 64)
    made = replace(made, processes=[replace(one, session=name) for one in made.processes])
    return run([made], sessions=[replace(SESSION, session_id=name)], run_id=f"00000000-0000-4000-9000-{name:0>12}")


def of_ab(first: Times, second: Times) -> Run:
    return both(row(first, side="a"), row(second, side="b"))


def logs(samples: Times, statistic: str) -> np.ndarray[Any, Any]:
    """Logarithms of a statistic of each process, by numpy."""
    ways = {"median": np.median, "mean": np.mean, "p95": lambda one, axis: np.quantile(one, 0.95, axis=axis)}
    return np.log(ways[statistic](samples, axis=1))


def codes(found: Comparison) -> list[str]:
    return [one.code for one in found.warnings]


BEFORE, AFTER = times(1), times(2, slow=0.05)


@pytest.mark.parametrize(
    "samples", [times(3), times(4, processes=3, count=1), np.array([[2**61, 1, 7], [1, 1, 2**61]])]
)
def test_each_process_has_one_number_of_each_statistic(samples: Times) -> None:
    [series] = side_of_run(run([row(samples)]), label="", file="").series
    for statistic in STATISTICS:
        expected = np.exp(logs(samples, statistic))
        assert series.with_statistic(statistic).levels == pytest.approx(expected.tolist(), rel=1e-9)


def test_ranks_count_as_one_process() -> None:
    ranks = [replace(process(0, [100, 100, 400], None), rank=0), replace(process(0, [200, 200, 800], None), rank=1)]
    ranks[1] = replace(ranks[1], order=1)
    [series] = side_of_run(run([replace(result(processes=0), processes=ranks)]), label="", file="").series
    assert series.means_ns == [pytest.approx(math.sqrt(200 * 400))]
    assert series.p95s_ns == [pytest.approx(math.sqrt(370 * 740))]


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("paired", [True, False])
def test_intervals_are_those_of_processes(statistic: str, *, paired: bool) -> None:
    sides = [logs(one, statistic) for one in (BEFORE, AFTER)]
    runs = [of_ab(BEFORE, AFTER)] if paired else [run([row(BEFORE)]), run([row(AFTER)])]
    test = (
        scipy.stats.ttest_rel(*reversed(sides)) if paired else scipy.stats.ttest_ind(*reversed(sides), equal_var=False)
    )
    low, high = np.exp(test.confidence_interval(0.95))
    expected = (float(np.exp(sides[1].mean() - sides[0].mean())), float(low), float(high), float(test.pvalue))
    judged = compare(*runs, statistic=statistic, history=False)  # type: ignore[arg-type]
    places = [judged.rows[0]]
    if statistic != "median":
        places.append(getattr(compare(*runs, history=False).rows[0], statistic))
    for found in places:
        numbers = (found.ratio, found.ratio_ci_low, found.ratio_ci_high, found.p_value)
        assert numbers == pytest.approx(expected, rel=1e-6)
    assert judged.method.statistic == statistic
    assert judged.method.name.endswith(f"_process_{statistic}s")
    # The judged statistic is the row, and the others are beside it.
    others = [name for name in STATISTICS if getattr(judged.rows[0], name) is not None]
    assert others == [name for name in STATISTICS if name != statistic]
    assert judged.rows[0].baseline is not None
    assert judged.rows[0].baseline.process_medians_ns == pytest.approx(np.median(BEFORE, axis=1).tolist())
    levels = np.exp(sides[0]).tolist() if statistic != "median" else []
    assert judged.rows[0].baseline.process_levels_ns == pytest.approx(levels)
    assert Comparison.from_dict(judged.to_dict()) == judged


def test_a_statistic_beside_the_median_is_corrected_for_all() -> None:
    first, second = ([row(times(seed + side), f"r{seed}") for seed in range(0, 20, 2)] for side in (0, 1))
    rows = compare(run(first), run(second), history=False).rows
    p_values = [one.p_value for each in rows for one in (each.mean, each.p95) if one and one.p_value_adjusted != 1]
    adjusted = [one.p_value_adjusted for each in rows for one in (each.mean, each.p95) if one]
    equivalent = [1.0] * (20 - len(p_values))
    expected = scipy.stats.false_discovery_control([*p_values, *equivalent])
    assert sorted(adjusted) == pytest.approx(sorted(expected))


@pytest.mark.parametrize("design", ["ab", "files", "sessions", "history"])
def test_rare_slow_iterations_cause_a_warning(design: str, history: RunHistory) -> None:
    first: Sequence[Run] = [run([row(BEFORE)], sessions=[SESSION])]
    second: Sequence[Run] = [session("99", AFTER)]
    basis = "two_sessions"
    if design == "ab":
        first, second, basis = [of_ab(BEFORE, AFTER)], [], "interleaved"
    elif design == "sessions":
        first = [session(f"{place}", times(10 + place)) for place in range(3)]
        second = [session(f"{place}", times(10 + place, slow=0.05)) for place in range(3, 6)]
        basis = "sessions"
    elif design == "history":
        first, basis = [session("98", BEFORE)], "history"
        for place in range(8):
            history.keep(session(f"{place}", times(20 + place, level=1e6 * (1 + 0.002 * (place % 3)))))
    with open_past(history) as past:
        outcome = compare_sources(first, second, past=past)
        again = compare_sources(first, second, past=past, statistic="mean", fail_on=["regression"])
    found = outcome.comparison
    assert found.rows[0].basis == again.comparison.rows[0].basis == basis
    [warning] = [one for one in found.warnings if one.code == "mean_differs"]
    median, mean = found.rows[0], found.rows[0].mean
    assert mean is not None
    assert mean.ratio == pytest.approx(1.2, abs=0.06)
    assert median.ratio == pytest.approx(1, abs=0.02)
    assert warning.rows == ["cudnn/forward"]
    change = f"+{100 * (mean.ratio - 1):.0f} [+"
    assert f"cudnn/forward: median {100 * ((median.ratio or 0) - 1):+.1f} [" in (warning.evidence or "")
    assert f", mean {change}" in (warning.evidence or "")
    assert (warning.hint or "").endswith("--statistic mean")
    # The mean is judged: nothing is hidden any more.
    assert "mean_differs" not in codes(again.comparison)
    word = again.comparison.rows[0].verdict or again.comparison.rows[0].conditional_verdict
    assert (word, again.comparison.exit_code) == ("slower", 4 if basis == "two_sessions" else 3)


def test_the_hint_names_the_runs(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("before.json", "after it.json", "ab.json")]
    for path, made in zip(paths, (run([row(BEFORE)]), run([row(AFTER)]), of_ab(BEFORE, AFTER)), strict=True):
        made.save(path)
    for files in (paths[:2], paths[2:]):
        [warning] = [one for one in compare(*files, history=False).warnings if one.code == "mean_differs"]
        command = (warning.hint or "").removeprefix("Judge the mean: ")
        assert command.startswith("fastrnns-rs compare ")
        assert command.count("json") == len(files)
    # The command compares as this comparison did.
    run([row(AFTER, problem=replace(PROBLEM, seed=3, hidden_size=65))]).save(paths[1])
    found = compare(*paths[:2], history=False, margin=0.02, force=True).warnings
    [hint] = [str(one.hint) for one in found if one.code == "mean_differs"]
    assert hint.endswith(" --margin 0.02 --statistic mean --force")


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("fastrnns-rs ab", "fastrnns-rs ab --statistic mean"),
        ("fastrnns-rs ab --statistic median py", "fastrnns-rs ab py --statistic mean"),
        ("fastrnns-rs ab --statistic=median -- py", "fastrnns-rs ab --statistic mean -- py"),
        # A script of the user would run again, without any effect of the option.
        ("train.py --lr 3", "fastrnns-rs compare BASELINE CANDIDATE --statistic mean"),
    ],
)
def test_the_hint_of_a_run_that_was_not_kept_measures_again(command: str, hint: str) -> None:
    made = replace(of_ab(BEFORE, AFTER), command=command.split())
    [warning] = [one for one in compare(made, history=False).warnings if one.code == "mean_differs"]
    assert warning.hint == f"Judge the mean: {hint}"


def test_nothing_is_warned_of_where_nothing_differs() -> None:
    for second in (times(2), times(2, level=1.1e6), BEFORE):
        assert "mean_differs" not in codes(compare(run([row(BEFORE)]), run([row(second)]), history=False))
    # Both sides have slow iterations.
    sides = [run([row(times(seed, slow=0.05))]) for seed in (5, 6)]
    assert "mean_differs" not in codes(compare(*sides, history=False))
    # A difference inside the margin is none.
    assert "mean_differs" in codes(compare(run([row(BEFORE)]), run([row(AFTER)]), history=False))
    assert "mean_differs" not in codes(compare(run([row(BEFORE)]), run([row(AFTER)]), margin=0.3, history=False))


@pytest.mark.parametrize("statistic", STATISTICS)
def test_the_spread_of_sessions_is_that_of_the_statistic(statistic: str, history: RunHistory) -> None:
    """Medians of these sessions differ by their levels, and means by their slow iterations too."""
    levels = [1e6 * (1 + 0.02 * (place % 3)) for place in range(8)]
    earlier = [times(30 + place, slow=0.02 * (place % 4), level=levels[place], processes=5) for place in range(8)]
    for place, one in enumerate(earlier):
        history.keep(session(f"{place}", one))
    sides = [session("98", times(1, processes=5)), session("99", times(2, level=1.04e6, processes=5))]
    with open_past(history) as past:
        [found] = compare_sources(sides[:1], sides[1:], past=past, statistic=statistic).comparison.rows  # type: ignore[arg-type]
        others = compare_sources(sides[:1], sides[1:], past=past).comparison.rows[0]
    means = [logs(one, statistic).mean() for one in earlier]
    assert (found.basis, found.history_sessions) == ("history", 8)
    error = math.sqrt(2 * np.var(means, ddof=1))
    shift = math.log(found.ratio or 0)
    assert found.p_value == pytest.approx(2 * scipy.stats.t.sf(abs(shift) / error, 7))
    same = others if statistic == "median" else getattr(others, statistic)
    assert same.p_value == pytest.approx(found.p_value)


def test_without_sessions_of_the_statistic_a_verdict_is_conditional() -> None:
    class Medians:
        """Eight sessions, of which only the medians are known."""

        def equal(self, kinds: Iterable[str]) -> list[PastSession]:
            names = range(8) if not any(" " in one for one in kinds) else ()
            shared = {"kind": "a kind", "n_processes": 5, "variance": 1e-5}
            return [PastSession(session=f"{name}", mean=0.001 * name, **shared) for name in names]  # type: ignore[arg-type]

        comparable = equal

    sides = [session("98", BEFORE)], [session("99", AFTER)]
    judged = compare_sources(*sides, past=Medians()).comparison
    assert judged.rows[0].basis == "history"
    # The spread of medians is not used for means.
    assert judged.rows[0].mean is not None
    alone = compare_sources(*sides).comparison.rows[0].mean
    assert judged.rows[0].mean == alone
    found = compare_sources(*sides, past=Medians(), statistic="mean").comparison
    assert (found.rows[0].basis, found.rows[0].conditional_verdict) == ("two_sessions", "slower")
    assert codes(found) == ["one_session"]


def test_files_of_other_tools_have_what_their_samples_give(tmp_path: Path) -> None:
    document = plain("pyperf.json")
    for benchmark in document["benchmarks"]:
        series = by_name(imported(document))[benchmark["metadata"]["name"]]
        values = [np.array(one["values"]) for one in benchmark["runs"] if one.get("values")]
        assert series.means_ns == pytest.approx([1e9 * one.mean() for one in values])
        assert series.p95s_ns == pytest.approx([1e9 * np.quantile(one, 0.95) for one in values])
    # One time of a process is its median and its mean.
    slower = plain("hyperfine_1.20.json")
    for one in slower["results"]:
        one["times"] = [1.1 * time for time in one["times"]]
    (tmp_path / "slower.json").write_text(json.dumps(slower))
    found = compare(FOLDER / "hyperfine_1.20.json", tmp_path / "slower.json", history=False)
    [measured] = [one for one in found.rows if one.p_value is not None][:1]
    assert measured.mean is not None
    assert (measured.mean.ratio, measured.mean.p_value) == (measured.ratio, measured.p_value)
    assert "mean_differs" not in codes(found)


@pytest.mark.parametrize("name", ["pytest_benchmark", "google_benchmark"])
def test_files_without_a_process_level_have_the_statistic_of_their_samples(name: str) -> None:
    file, summary = FOLDER / f"{name}.json", FOLDER / f"{name}_{{}}.json"
    series = {one.runner: one for one in imported(plain(file.name)).series}
    for statistic, way in (("mean", np.mean), ("p95", lambda one: np.quantile(one, 0.95)), ("median", np.median)):
        for one in compare(file, file, statistic=statistic, history=False).rows:  # type: ignore[arg-type]
            if one.baseline is not None:
                assert one.baseline.estimate_ns == pytest.approx(float(way(series[one.runner].medians_ns)))
            assert (one.verdict, one.median, one.mean, one.p95) == (None, None, None, None)
    medians = str(summary).format("summary" if name == "pytest_benchmark" else "aggregates")
    usual = compare(medians, medians, history=False)
    assert not {"mean_differs"} & {*codes(usual)}
    assert all(one.ratio == 1 and one.mean is None for one in usual.rows if one.baseline)
    # Means are unknown: the row says it.
    found = compare(medians, medians, statistic="mean", history=False)
    reason = "only the median is known (in the baseline); only the median is known (in the candidate)"
    assert reason in {one.reason for one in found.rows}


def test_a_command_judges_the_mean(tmp_path: Path) -> None:
    path = tmp_path / "ab.json"
    of_ab(BEFORE, AFTER).save(path)
    done = run_cli("compare", path, "--statistic", "mean", "--fail-on", "regression", "--no-history")
    assert done.status == 3
    assert "\nstatistic  mean of each process\n" in done.stdout
    assert "↑ slower" in done.stdout
    assert "mean_differs" not in done.stderr
    usual = run_cli("compare", path, "--no-history")
    assert "statistic" not in usual.stdout
    assert "warning[mean_differs]" in usual.stderr
    wide = run_cli("compare", path, "--wide", "--no-history", COLUMNS="80")
    assert " mean " in wide.stdout
    assert " p95" in wide.stdout
    assert max(map(len, wide.stdout.splitlines())) <= 80
    comparison = fastrnns_rs.compare(path, statistic="mean", history=False)
    page = comparison.render("html")
    assert "--statistic mean" in page
    assert "Means of processes" in page
    assert "Medians of processes" not in page
    assert "statistic: mean of each process" in comparison.render("markdown")
    assert "<summary>medians and 95th percentiles</summary>" in comparison.render("markdown")


def test_the_derivation_has_the_others_only_where_it_is_wide(tmp_path: Path) -> None:
    path = tmp_path / "ab.json"
    of_ab(BEFORE, AFTER).save(path)
    words = ("compare", path, "--explain", "cudnn/forward", "--no-history")
    short, long = run_cli(*words), run_cli(*words, "--wide")
    assert len(short.stdout.splitlines()) <= 24
    assert "Other statistics" not in short.stdout
    found = compare(path, history=False).rows[0]
    assert found.mean is not None
    assert "Other statistics of each process, not judged\n  mean    +" in long.stdout
    assert f"p = {digits(found.mean.p_value or 0)}, adjusted p = " in long.stdout
    assert "\n  p95 " in long.stdout
    ascii_only = run_cli(*words, "--wide", PYTHONIOENCODING="ascii")
    assert "Other statistics" in ascii_only.stdout
    mean = run_cli(*words, "--statistic", "mean")
    assert "Process means, ms (10 per side, sorted)" in mean.stdout
    assert mean.stdout.startswith("cudnn/forward: slower by +")


def test_what_has_no_other_statistic_is_refused(tmp_path: Path) -> None:
    captures = [capture(tmp_path / f"{name}.json", seed=0) for name in "ab"]
    with pytest.raises(UsageError, match="statistic needs runs: 'mean'"):
        compare(*captures, statistic="mean")
    assert "--statistic needs runs" in run_cli("compare", *captures, "--statistic", "mean").stderr
    # A setting of a file or a variable is for runs.
    assert run_cli("compare", *captures, FASTRNNS_COMPARE_STATISTIC="mean").status == 0
    made = of_ab(BEFORE, AFTER)
    with pytest.raises(UsageError, match="noise floor"):
        compare(made, statistic="mean", margin="noise-floor", history=False)
    with pytest.raises(UsageError, match="unknown statistic: 'avg'"):
        compare(made, statistic="avg", history=False)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="unknown statistic: 'avg'"):
        fastrnns_rs.ab("cudnn", statistic="avg", history=False)  # type: ignore[arg-type]
    assert run_cli("ab", "cudnn", "--statistic", "mean", "--margin", "noise-floor").status == 2


def test_the_option_has_the_statistics_of_the_document() -> None:
    @verdict_options.statistic
    def command() -> None: ...

    [option] = command.__click_params__  # type: ignore[attr-defined]
    assert (*option.type.choices,) == STATISTICS


def test_two_processes_have_a_ratio_alone() -> None:
    sides = [run([row(one[:2])]) for one in (BEFORE, AFTER)]
    [found] = compare(*sides, history=False).rows
    assert found.mean is not None
    assert (found.mean.ratio_ci_low, found.mean.p_value, found.mean.p_value_adjusted) == (None, None, None)
    assert found.mean.ratio == pytest.approx(
        float(np.exp(np.diff([logs(one[:2], "mean").mean() for one in (BEFORE, AFTER)])[0]))
    )


def test_a_coarse_clock_is_no_evidence() -> None:
    sides = [run([exactly([level] * 5)]) for level in (1000, 1100)]
    [found] = compare(*sides, history=False).rows
    assert (found.verdict, found.mean, found.p95) == (None, None, None)


def test_a_plot_of_processes_shows_the_judged_statistic() -> None:
    pytest.importorskip("matplotlib")
    found = compare(of_ab(BEFORE, AFTER), statistic="mean", history=False)
    [axes] = found.plot("processes").axes
    assert axes.get_ylabel() == "mean of the process, ms"
    expected = [[place, time / 1e6] for place, time in enumerate(BEFORE.mean(axis=1), 1)]
    assert np.asarray(axes.collections[0].get_offsets()) == pytest.approx(np.array(expected))


@pytest.mark.parametrize("change", [{"ratio": 0.0}, {"ratio": 2.0}, {"ratio_ci_low": 3.0}])
def test_an_impossible_mean_is_refused(change: dict[str, float]) -> None:
    plain_document = compare(of_ab(BEFORE, AFTER), history=False).to_dict()
    plain_document["rows"][0]["mean"].update(change)
    with pytest.raises(UsageError, match=r"rows\[0\].mean"):
        Comparison.from_dict(plain_document)
