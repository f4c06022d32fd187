"""`ab --until decided`: looks after each pair, and stops at a verdict or at the largest number of pairs."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pretended_workers
import pytest
import scipy.stats
from commands import Done, run_cli
from conftest import TINY
from pretended_workers import measured, rising
from run_files import both, exactly, process, result, run

from fastrnns_rs import compare, stats
from fastrnns_rs.documents.run_file import Run, Stop
from fastrnns_rs.processes.listener import Answer


def ab(anywhere: Path, *words: str, effect: float, backward: bool = True) -> Done:
    """Runs `ab` of pretended processes whose times vary by 1 %; longer sequences take longer by `effect`."""
    chance = random.Random(7)

    def worker(job: dict[str, Any]) -> Answer:
        level = 1e6 * chance.lognormvariate(0, 0.01) * (1 + effect * (job["problem"]["seq_length"] == 4))
        return measured([9_000_000] + [round(level)] * 10, [9_000_000] + [round(2 * level) * backward] * 10)

    base = ["ab", "cudnn", "--b", "--seqLength 4", "--device", "cpu", *TINY, "--run-file", "ab.json"]
    base += ["--order-seed", "1"]
    return run_cli(*base, *words, cwd=anywhere, executor=pretended_workers.each(worker))


def pairs(anywhere: Path) -> int:
    run = Run.load(anywhere / "ab.json")
    [count] = {len(result.processes) for result in run.results}
    return count


def test_it_stops_soon_after_a_large_difference(anywhere: Path) -> None:
    done = ab(anywhere, "--until", "decided", effect=0.2)
    assert done.status == 0, done.stderr
    assert 4 <= pairs(anywhere) <= 6
    assert "2 slower" in done.stdout
    assert f"Stopped after {pairs(anywhere)} pairs, because every row has a verdict." in done.stdout
    run = Run.load(anywhere / "ab.json")
    assert (run.plan.stop.rule, run.plan.stopped_by) == ("decided", "decided")
    # The file alone says how it must be compared.
    again = run_cli("compare", "ab.json", "--json", cwd=anywhere).json()
    assert again["method"]["name"] == "anytime_t_log_process_medians"
    assert {row["verdict"] for row in again["rows"]} == {"slower"}


def test_equal_sides_end_as_equivalent_or_at_the_largest_number(anywhere: Path) -> None:
    ab(anywhere, "--until", "decided", "--margin", "5%", effect=0.0)
    assert pairs(anywhere) < 20
    done = ab(anywhere, "--until", "decided", "--processes", "6", effect=0.0)
    assert pairs(anywhere) == 6
    assert Run.load(anywhere / "ab.json").plan.stopped_by == "count"
    assert "Stopped after 6 pairs, the largest number" in done.stdout
    wide = " ".join(run_cli("show", "ab.json", "--wide", cwd=anywhere).stdout.split())
    assert "stopped by count: the largest number of pairs came before every row had a verdict" in wide


def test_the_last_pair_may_give_the_verdict(anywhere: Path) -> None:
    done = ab(anywhere, "--until", "decided", "--processes", "4", effect=0.2)
    assert pairs(anywhere) == 4
    assert "2 slower" in done.stdout
    assert "Stopped after 4 pairs, because every row has a verdict." in done.stdout


def test_too_few_pairs_are_named(anywhere: Path) -> None:
    """The warning said that a side has fewer than 3 processes, with 3 processes per side."""
    done = ab(anywhere, "--until", "decided", "--processes", "3", effect=0.2)
    assert pairs(anywhere) == 3
    text = " ".join(done.stderr.split())
    assert "rows have no verdict, because --until decided needs 4 pairs" in text
    assert "fewer than 3 processes" not in text + done.stdout


def test_pairs_that_are_too_few_for_all_rows_are_the_reason() -> None:
    """The row was inconclusive, as if more pairs did not help."""
    forward = ([1000, 1001, 1002, 1003], [1200, 1202, 1203, 1205])
    backward = ([3000, 3300, 3000, 3300], [3300, 3000, 3010, 3310])
    first, second = (
        replace(
            result(), processes=[process(index, [one] * 5, [other] * 5) for index, (one, other) in enumerate(times)]
        )
        for times in (zip(forward[side], backward[side], strict=True) for side in (0, 1))
    )
    made = both(first, second)
    found = compare(replace(made, plan=replace(made.plan, stop=Stop(rule="decided", parameters={"pairs": 4}))))
    row = found.rows[0]
    assert (row.verdict, row.required_processes) == ("inconclusive", None)
    assert row.reason.startswith("slower by itself, but not among 2 rows: ")
    assert row.reason.endswith(", and 4 pairs are too few for so many rows")
    text = " ".join(found.render().split())
    assert "4 pairs are too few for so many rows" in text


def test_a_row_with_a_time_of_zero_does_not_end_the_measurement(anywhere: Path) -> None:
    done = ab(anywhere, "--until", "decided", effect=0.2, backward=False)
    assert done.status == 0, done.stderr
    assert 4 <= pairs(anywhere) <= 6
    assert "1 slower" in done.stdout
    assert "a process has a median of 0 ns" in done.stdout
    assert "because every row with a time above 0 ns has a verdict." in " ".join(done.stdout.split())


def test_the_derivation_names_the_confidence_sequence(anywhere: Path) -> None:
    ab(anywhere, "--until", "decided", effect=0.2)
    done = run_cli("compare", "ab.json", "--explain", "cudnn/forward", cwd=anywhere)
    assert "The interval holds after each pair" in done.stdout
    assert "k = " in done.stdout


def test_a_pair_that_fails_is_not_the_largest_number(anywhere: Path) -> None:
    def worker(job: dict[str, Any]) -> Answer:
        return Answer({}, "died", "out of memory", "") if job["problem"]["seq_length"] == 4 else rising(job)

    base = ["ab", "cudnn", "--b", "--seqLength 4", "--device", "cpu", *TINY, "--run-file", "ab.json"]
    base += ["--until", "decided", "--order-seed", "4"]
    done = run_cli(*base, cwd=anywhere, executor=pretended_workers.each(worker))
    run = Run.load(anywhere / "ab.json")
    assert sorted(result.status for result in run.results) == ["failed", "ok"], done.stderr
    assert run.plan.stopped_by is None
    assert "stopped by" not in run_cli("show", "ab.json", "--wide", cwd=anywhere).stdout


def test_same_sides_need_a_fixed_number(anywhere: Path) -> None:
    done = run_cli("ab", "cudnn", "--same", "--until", "decided", "--device", "cpu", cwd=anywhere)
    assert done.status == 2
    assert "--until" in done.stderr


def bayes_factor(differences: np.ndarray) -> float:
    """The same by integration: δ normal with variance 2, and the density of Student's noncentral t."""
    count = len(differences)
    statistic = float(scipy.stats.ttest_1samp(differences, 0).statistic)
    grid = np.linspace(-12, 12, 20001)
    density = scipy.stats.nct.pdf(statistic, count - 1, np.sqrt(count) * grid)
    prior = scipy.stats.norm.pdf(grid, scale=np.sqrt(2))
    alternative = np.trapezoid(np.nan_to_num(density) * prior, grid)
    return float(alternative / scipy.stats.t.pdf(statistic, count - 1))


@pytest.mark.parametrize(("count", "shift"), [(4, 0.0), (5, 1.0), (8, 0.5), (20, 0.2), (40, 0.0)])
def test_the_p_value_is_the_inverse_of_the_bayes_factor(count: int, shift: float) -> None:
    differences = np.random.default_rng(count).normal(shift, 1, count) / 100
    found = stats.compare_samples([1.0] * count, [*np.exp(differences)], paired=True, anytime=True)
    assert found.p_value == pytest.approx(min(1.0, 1 / bayes_factor(differences)), rel=1e-3)


def test_the_interval_holds_the_means_that_are_not_refused() -> None:
    differences = np.random.default_rng(3).normal(0.005, 0.01, 12)
    found = stats.compare_samples([1.0] * 12, [*np.exp(differences)], paired=True, anytime=True)
    for end in (found.ratio_ci_low, found.ratio_ci_high):
        assert end is not None
        moved = stats.compare_samples([end] * 12, [*np.exp(differences)], paired=True, anytime=True)
        assert moved.p_value == pytest.approx(0.05, rel=1e-6)


def test_few_pairs_and_constant_ones() -> None:
    three = stats.compare_samples([1.0, 1.1, 1.2], [2.0, 2.3, 2.4], paired=True, anytime=True)
    assert (three.verdict, three.p_value, three.ratio_ci_low) == ("inconclusive", None, None)
    equal = stats.compare_samples([1.0] * 4, [1.0] * 4, paired=True, anytime=True)
    assert (equal.verdict, equal.p_value) == ("equivalent", 1.0)
    apart = stats.compare_samples([1.0] * 4, [2.0] * 4, paired=True, anytime=True)
    assert apart.verdict == "slower"
    assert apart.p_value is not None
    assert 0 < apart.p_value < 0.05
    with pytest.raises(ValueError, match="needs paired"):
        stats.compare_samples([1.0] * 4, [2.0] * 4, anytime=True)


def test_a_run_that_failed_in_part_shows_no_largest_number(anywhere: Path) -> None:
    """Six pairs of a decided row looked as if 44 were missing."""
    made = run([exactly([1000, 1010])])
    for rule, expected in (("decided", False), ("count", True)):
        plan = replace(made.plan, stop=replace(made.plan.stop, rule=rule), processes=50)
        assert (" of 50" in replace(made, plan=plan, status="failed").render("table")) == expected
