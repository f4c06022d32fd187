"""`compare`: what it says of sides whose truth is known, and what it refuses."""

from __future__ import annotations

import json
import math
import random
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import scipy.stats
from run_files import PROBLEM, both, exactly, failed, process, result, run

import fastrnns_rs
from fastrnns_rs import UsageError, compare
from fastrnns_rs.documents.codec import RunWarning
from fastrnns_rs.documents.run_file import Result, Run
from fastrnns_rs.verbs.compare.run_side import side_of_run


def codes(comparison: fastrnns_rs.Comparison) -> set[str]:
    return {one.code for one in comparison.warnings}


def medians(made: Result, phase: str = "forward") -> list[float]:
    """By Python's own means."""
    series = [getattr(one, f"{phase}_ns")[one.steady_from :] for one in made.processes]
    return [statistics.median(one) for one in series]


def spread(center: int, *, count: int = 10, seed: int = 0, sigma: float = 0.01) -> list[int]:
    generator = random.Random(seed)
    return [round(center * generator.lognormvariate(0, sigma)) for _ in range(count)]


def test_five_per_cent_slower_is_slower_by_that_and_by_the_numbers_of_scipy() -> None:
    first, second = result(seed=1), result(seed=2, level_ns=1.05e6)
    found = compare(run([first]), run([second]))
    assert [(row.runner, row.phase) for row in found.rows] == [("cudnn", "forward"), ("cudnn", "backward")]
    p_values = []
    for row in found.rows:
        logs = [[math.log(value) for value in medians(one, str(row.phase))] for one in (first, second)]
        expected = scipy.stats.ttest_ind(logs[1], logs[0], equal_var=False)
        interval = expected.confidence_interval(0.95)
        assert row.verdict == "slower"
        assert (row.baseline.n_processes, row.baseline.n_samples) == (10, 150)
        assert row.baseline.estimate_ns == pytest.approx(math.exp(statistics.fmean(logs[0])), rel=1e-12)
        assert row.candidate.estimate_ns == pytest.approx(math.exp(statistics.fmean(logs[1])), rel=1e-12)
        assert row.ratio == pytest.approx(math.exp(statistics.fmean(logs[1]) - statistics.fmean(logs[0])), rel=1e-12)
        assert row.ratio_ci_low == pytest.approx(math.exp(interval.low), rel=1e-9)
        assert row.ratio_ci_high == pytest.approx(math.exp(interval.high), rel=1e-9)
        assert row.p_value == pytest.approx(expected.pvalue, rel=1e-9)
        pairs = [(one, other) for one in logs[0] for other in logs[1]]
        assert row.cliffs_delta == pytest.approx(sum((other > one) - (other < one) for one, other in pairs) / 100)
        assert (row.label, row.additional_processes, row.problem) == (None, None, PROBLEM)
        p_values.append(row.p_value)
    adjusted = scipy.stats.false_discovery_control(p_values)
    assert [row.p_value_adjusted for row in found.rows] == pytest.approx(list(adjusted), rel=1e-12)
    assert found.geometric_mean.ratio == pytest.approx(statistics.geometric_mean(row.ratio for row in found.rows))
    assert (found.counts.slower, found.exit_code, found.warnings, found.geometric_mean.n) == (2, 0, [], 1)
    assert compare(run([second]), run([first]))["cudnn/forward"].verdict == "faster"


def test_warm_up_and_processes_that_ended_badly_do_not_count() -> None:
    sound = exactly(spread(10**6, sigma=0.001))
    bad = replace(process(10, [1, 1, 1], None), status="failed", reason="killed")
    cut = replace(process(11, [1], None), status="interrupted", steady_from=None)
    found = compare(run([sound]), run([replace(sound, processes=[*sound.processes, bad, cut])]))
    assert found.rows[0].ratio == 1.0
    assert found.rows[0].candidate.n_processes == 10
    assert found.rows[0].verdict == "equivalent"


def test_the_same_code_is_rarely_called_different() -> None:
    found = compare(
        run(exactly(spread(10**6, seed=row), f"r{row}") for row in range(100)),
        run(exactly(spread(10**6, seed=1000 + row), f"r{row}") for row in range(100)),
    )
    assert found.counts.faster + found.counts.slower <= 1
    alone = [row.p_value for row in found.rows]
    assert 1 <= sum(value <= 0.05 for value in alone) <= 12
    assert scipy.stats.kstest(alone, "uniform").pvalue > 0.01


def test_a_table_takes_back_what_a_row_says_alone() -> None:
    rows = [(exactly(spread(10**6, seed=row)), exactly(spread(10**6, seed=50 + row))) for row in range(19)]
    slower = (exactly([990, 1000, 1010, 1020]), exactly([1017, 1027, 1037, 1047]))
    alone = compare(run([slower[0]]), run([slower[1]])).rows[0]
    assert alone.verdict == "slower"
    named = [[replace(pair[side], runner=f"r{index}") for index, pair in enumerate([*rows, slower])] for side in (0, 1)]
    row = compare(run(named[0]), run(named[1]))["r19"]
    assert (row.verdict, row.p_value) == ("inconclusive", alone.p_value)
    assert row.p_value_adjusted > 0.05
    assert row.reason.startswith("slower by itself, but not among 20 rows: its adjusted p-value ")
    assert row.additional_processes > 0


def test_a_small_spread_is_equivalent_within_the_margin_and_not_within_a_smaller_one() -> None:
    one, other = exactly(spread(10**7, sigma=0.002)), exactly(spread(10**7, seed=1, sigma=0.002))
    found = compare(run([one]), run([other]))
    assert (found.rows[0].verdict, found.method.margin, found.method.margin_source) == ("equivalent", 0.01, "default")
    found = compare(run([one]), run([other]), margin="0.01%")
    assert found.rows[0].verdict == "inconclusive"
    assert found.rows[0].additional_processes > 0
    assert (found.method.margin, found.method.margin_source) == (1e-4, "option")


@pytest.mark.parametrize(("processes", "verdict"), [(1, None), (2, None), (3, "slower"), (9, "slower"), (10, "slower")])
def test_few_processes_are_told(processes: int, verdict: str | None) -> None:
    one, other = exactly(spread(10**6, count=processes)), exactly(spread(2 * 10**6, count=processes, seed=1))
    found = compare(run([one]), run([other]))
    row = found.rows[0]
    assert row.verdict == verdict
    assert (row.label == "fewer than 10 processes: a wide interval") is (3 <= processes < 10)
    assert ("too_few_processes" in codes(found)) is (processes < 3)
    assert row.ratio == pytest.approx(2, rel=0.05)
    if verdict is None:
        assert row.reason == "fewer than 3 processes: no verdict"
        assert (row.ratio_ci_low, row.p_value, row.p_value_adjusted) == (None, None, None)
        assert row.cliffs_delta == 1.0
        assert found.counts.none == 1


def test_unequal_numbers_of_processes_are_warned_of() -> None:
    found = compare(run([exactly(spread(10**6, count=5))]), run([exactly(spread(10**6, count=30, seed=1))]))
    (warning,) = found.warnings
    assert (warning.code, warning.evidence) == ("unequal_processes", "cudnn/forward: 5 and 30 processes")
    rows = [exactly(spread(10**6, count=count, seed=count), f"r{count}") for count in range(5, 12)]
    others = [exactly(spread(10**6, count=30, seed=2), one.runner) for one in rows]
    [several] = [one for one in compare(run(rows), run(others)).warnings if one.code == "unequal_processes"]
    shown = "; ".join(f"r{count}/forward: {count} and 30 processes" for count in range(5, 9))
    assert several.evidence == f"{shown}; and 3 more rows"
    assert "26 %" in warning.message


def test_what_one_side_lacks_is_a_row_without_a_verdict() -> None:
    first = run([result("cudnn"), result("gone"), failed("was"), failed("never", status="skipped")])
    second = run([result("cudnn", seed=1), result("new"), result("was"), failed("never", status="skipped")])
    found = compare(first, second, fail_on=["regression"])
    reasons = {row.runner: row.reason for row in found.rows if row.verdict is None}
    assert reasons["gone"] == "only in the baseline"
    assert reasons["new"] == "only in the candidate"
    assert reasons["was"] == "failed: out of memory (in the baseline)"
    assert reasons["never"].startswith("skipped: out of memory (in the baseline)")
    assert found["gone/forward"].candidate is None
    assert found["gone/forward"].baseline.n_processes == 10
    assert found["gone/forward"].ratio is None
    # It failed in the baseline: nothing of the candidate is wrong.
    assert found.exit_code == 0
    assert "runner_failed" in codes(found)
    # Both sides of `ab` are one measurement.
    for sides in ((failed("was"), result("is")), (result("is"), failed("was"))):
        assert compare(both(*sides)).exit_code == 1


def test_exit_codes() -> None:
    base, slow = run([exactly([1000, 1001, 1002])]), run([exactly([2000, 2001, 2002])])
    few = run([exactly([100, 101])])
    wide = run([exactly([800, 1000, 1400])])
    broken = run([failed("cudnn", status="timed_out"), exactly([200, 201, 202], "jit")])
    other = run([exactly([1000, 1001, 1002]), exactly([1000, 1001, 1002], "jit")])
    causes = ["regression", "inconclusive"]
    found = [compare(base, slow, fail_on=one).exit_code for one in ((), ["inconclusive"], "regression", causes)]
    assert found == [0, 0, 3, 3]
    assert [compare(base, one, fail_on=causes).exit_code for one in (few, wide, base)] == [4, 4, 0]
    assert compare(base, few).exit_code == 0
    assert compare(other, broken, fail_on=causes).exit_code == 1
    assert compare(other, broken).exit_code == 1
    # A row that is missing in the candidate has no verdict.
    assert compare(other, base, fail_on=causes).exit_code == 4
    with pytest.raises(UsageError, match=r"'regresion' \(fail_on\)") as raised:
        compare(base, slow, fail_on=["regresion"])
    assert "'regression'" in raised.value.hint


def test_the_gate_is_the_margin() -> None:
    """A row that is surely 0.8 to 1.2 % slower fails no build at a margin of 1 %."""
    base, slow = run([exactly([10_000, 10_010, 10_020] * 4)]), run([exactly([10_100, 10_110, 10_120] * 4)])
    found = compare(base, slow, fail_on=["regression"])
    assert (found.rows[0].verdict, found.exit_code) == ("slower", 0)
    assert 'failures="0"' in found.render("junit")
    beyond = compare(base, slow, fail_on=["regression"], margin="0.5%")
    assert (beyond.rows[0].verdict, beyond.exit_code) == ("slower", 3)
    assert 'failures="1"' in beyond.render("junit")


def test_a_difference_without_spread_has_no_verdict() -> None:
    found = compare(run([exactly([100] * 5)]), run([exactly([102] * 5)]), fail_on=["regression", "inconclusive"])
    row = found.rows[0]
    assert (row.verdict, row.p_value, row.ratio_ci_low, found.exit_code) == (None, None, None, 4)
    assert (row.ratio, row.shift_ns, row.cliffs_delta) == (pytest.approx(1.02), 2, 1)
    assert row.reason == "neither side has any spread: no verdict"
    assert compare(run([exactly([100] * 5)]), run([exactly([100] * 5)])).rows[0].verdict == "equivalent"
    # One side's spread is evidence.
    assert compare(run([exactly([100] * 5)]), run([exactly([101, 102, 103])])).rows[0].p_value is not None


def test_an_equivalent_row_lowers_no_bar() -> None:
    """A small p-value of a difference inside the margin counts as 1 in the table."""
    precise = (exactly([10_000, 10_001, 10_002] * 4), exactly([10_040, 10_041, 10_042] * 4))
    noisy = (exactly([990, 1000, 1010, 1020]), exactly([1017, 1027, 1037, 1047]))
    pairs = [precise] * 19 + [noisy] * 2
    named = [[replace(pair[side], runner=f"r{index}") for index, pair in enumerate(pairs)] for side in (0, 1)]
    found = compare(run(named[0]), run(named[1]))
    assert found["r0"].verdict == "equivalent"
    assert found["r0"].p_value < 1e-6
    assert found["r0"].p_value_adjusted == 1
    assert found["r20"].p_value_adjusted == pytest.approx(found["r20"].p_value * 21 / 2)
    assert found["r20"].verdict == "inconclusive"


def test_an_interrupted_run_is_compared_and_told() -> None:
    found = compare(run([result()]), run([result(processes=4)], status="interrupted"))
    assert codes(found) == {"run_interrupted", "unequal_processes"}
    found = compare(
        run([result()]), run([result(processes=0), result("jit")], status="interrupted"), fail_on="regression"
    )
    assert found.rows[0].reason.startswith("interrupted: no process came to its end")
    # That is no failure of the runner, and so not of the command.
    assert found.exit_code == 0


def test_a_runner_that_was_interrupted_did_not_fail() -> None:
    cut = replace(process(0, [5, 5], None), status="interrupted", reason="interrupted", steady_from=None)
    for processes in ([cut], []):
        one = replace(result("jit"), processes=processes, status="failed", reason="interrupted")
        found = compare(run([result(), result("jit")]), run([result(seed=1), one], status="interrupted"))
        assert found.exit_code == 0
        assert codes(found) == {"run_interrupted"}
        reasons = {row.phase: row.reason for row in found.rows if row.runner == "jit"}
        assert reasons == dict.fromkeys(
            ["forward", "backward"], "interrupted: no process came to its end (in the candidate)"
        )
        # Nobody measured it backward: it may have no such phase.
        found = compare(run([result(), result("jit", backward=False)]), run([result(seed=1), one]))
        assert [row.phase for row in found.rows if row.runner == "jit"] == ["forward"]
    dead = replace(process(1, [5, 5], None), status="failed", reason="killed", steady_from=None)
    one = replace(result("jit"), processes=[cut, dead], status="failed", reason="killed")
    assert compare(run([result("jit")]), run([one])).exit_code == 1


def test_why_a_runner_failed_is_told_where_only_one_side_has_it() -> None:
    found = compare(run([result()]), run([result(seed=1), failed("new")]))
    assert [row.reason for row in found.rows if row.runner == "new"] == ["only in the candidate; failed: out of memory"]
    assert found.exit_code == 1
    evidence = next(one.evidence for one in found.warnings if one.code == "runner_failed")
    assert evidence == "new: only in the candidate; failed: out of memory"
    found = compare(run([result(), failed("old")]), run([result(seed=1)]))
    assert (found.rows[-1].reason, found.exit_code) == ("only in the baseline; failed: out of memory", 0)


def test_warnings_of_both_runs_are_told_once() -> None:
    load = RunWarning(code="load", message="the machine is busy", evidence="load 9", hint=None)
    drift = RunWarning(code="drift", message="times rose", evidence=None, hint=None)
    busier = replace(load, evidence="load 12")
    found = compare(run([result()], warnings=[load]), run([result(seed=1)], warnings=[busier, drift]))
    assert [one.message for one in found.warnings] == ["the machine is busy", "candidate: times rose"]
    assert found.warnings[0].evidence == "load 9; load 12"


def test_warnings_of_one_side_keep_all_of_their_evidence() -> None:
    one, other, same = (RunWarning(code="load", message="busy", evidence=load, hint=None) for load in ("9", "12", "9"))
    found = compare(run([result()]), run([result(seed=1)], warnings=[one, other, same]))
    assert [(one.message, one.evidence) for one in found.warnings] == [("candidate: busy", "9; 12")]
    # As of several files, each of which was interrupted.
    parts = [run([result(seed=seed, processes=5)], status="interrupted") for seed in (1, 2)]
    (warning,) = compare(parts, run([result()])).warnings
    assert warning.evidence == "; ".join(f"run {one.run_id}, 5 processes" for one in parts)


@pytest.mark.parametrize(
    ("given", "share"), [("1%", 0.01), ("2.5 %", 0.025), ("0.02", 0.02), (0.0, 0.0), ("1e-3", 1e-3)]
)
def test_margins_are_shares_or_per_cent(given: float | str, share: float) -> None:
    assert compare(run([result()]), run([result()]), margin=given).method.margin == pytest.approx(share)


def test_the_default_margin_is_an_option_where_it_was_given() -> None:
    found = [compare(run([result()]), run([result()]), margin=margin).method for margin in (None, 0.01)]
    assert [(one.margin, one.margin_source) for one in found] == [(0.01, "default"), (0.01, "option")]


@pytest.mark.parametrize(
    "given", ["", "one", "1", "-1%", "50%", "nan", "inf", "1e999", -0.01, True, "noise floor", [1]]
)
def test_other_margins_are_refused(given: Any) -> None:
    with pytest.raises(UsageError, match=r"\(margin\)") as raised:
        compare(run([result()]), run([result()]), margin=given)
    assert "noise-floor" in raised.value.hint


def test_there_must_be_something_to_compare() -> None:
    with pytest.raises(UsageError, match="no results in file"):
        compare(run([]), run([result()]))
    with pytest.raises(UsageError, match="no common runner: cudnn in the baseline, and jit in the candidate"):
        compare(run([result("cudnn")]), run([result("jit")]))
    with pytest.raises(UsageError, match=r"3 \(baseline\)"):
        compare(3, run([]))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"\(candidate\)|candidate.*empty|missing candidate"):
        compare(run([]), [])
    with pytest.raises(UsageError, match="missing candidate"):
        compare([run([]), run([])])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("doctor", "a report of doctor"),
        ("list", "a list of runners"),
        ("noise-floor", "a noise floor"),
        ("dry-run", "a plan of profile"),
        ("verification", "a verification"),
        ("summary", "a summary of captures"),
    ],
)
def test_our_other_documents_are_called_by_their_name(name: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"schema": f"fastrnns-rs/{name}", "schema_version": "1.0"}))
    with pytest.raises(UsageError, match=f"not a run or comparison: '{path}' is {kind}") as raised:
        compare(path, path)
    assert raised.value.hint


BROKEN = [
    ({"steady_from": None}, r"x: results\[0\]\.processes\[0\]\.steady_from is None, and forward_ns has 5 samples"),
    ({"steady_from": 5}, r"steady_from is 5, and forward_ns has 5 samples"),
    ({"steady_from": -2}, r"steady_from is -2"),
    ({"forward_ns": [5, 5, -7]}, r"processes\[0\]\.forward_ns has a median of -7 ns"),
    ({"forward_ns": [1, 1, 10**400]}, r"processes\[0\]\.forward_ns: samples\[0\] is too large"),
]


@pytest.mark.parametrize(("change", "message"), BROKEN)
def test_samples_that_make_no_sense_are_named(change: dict[str, Any], message: str) -> None:
    made = exactly([100, 100, 100])
    broken = replace(made, processes=[replace(made.processes[0], **change), *made.processes[1:]])
    with pytest.raises(UsageError, match=message):
        side_of_run(replace(run([made]), results=[broken]), label="x", file="x")


def test_a_row_with_a_time_of_zero_has_no_verdict_and_the_others_have_theirs() -> None:
    rows = [result("cudnn"), result("jit")]
    first = rows[0].processes[0]
    for phase in ("forward_ns", "backward_ns"):
        row = replace(rows[0], processes=[replace(first, **{phase: [0] * 17}), *rows[0].processes[1:]])
        other = "backward" if phase == "forward_ns" else "forward"
        after = run([result("cudnn", seed=1), result("jit", seed=1)])
        for before in (
            run([row, rows[1]]),
            [run([row, rows[1]]), run([result("cudnn", seed=2), result("jit", seed=2)])],
        ):
            found = compare(before, after)
            reasons = {f"{one.runner}/{one.phase}": one.reason for one in found.rows if one.baseline is None}
            assert reasons == {f"cudnn/{phase[:-3]}": "a process has a median of 0 ns (in the baseline)"}
            assert {one.phase for one in found.rows if one.runner == "cudnn" and one.ratio is not None} == {other}
            assert (len(found.rows), found.exit_code, found.geometric_mean is None) == (4, 0, False)
            assert "runner_failed" not in {one.code for one in found.warnings}
            assert type(found).from_dict(found.to_dict()) == found
            assert "a process has a median of 0 ns (in the baseline)" in " ".join(found.render().split())
    # Neither side has a time.
    nothing = [replace(row, processes=[replace(one, backward_ns=[0] * 17) for one in row.processes]) for row in rows]
    [both_reasons] = {one.reason for one in compare(run(nothing), run(nothing)).rows if one.phase == "backward"}
    assert both_reasons == "; ".join(
        f"a process has a median of 0 ns (in the {side})" for side in ("baseline", "candidate")
    )


def test_times_far_apart_are_still_numbers() -> None:
    huge = exactly([10**300 + one for one in (1, 2, 3)])
    found = compare(run([exactly([100, 101, 102])]), run([huge]))
    assert found.rows[0].verdict == "slower"
    assert math.isfinite(found.rows[0].ratio)


def test_a_run_compared_with_itself_is_told() -> None:
    made = [exactly(spread(10**6, sigma=0.001)), result("jit", processes=4)]
    found = compare(run(made), run(made))
    assert codes(found) == {"same_times"}
    assert found.rows[0].verdict == "equivalent"
    assert "same_times" not in codes(compare(run(made), run([made[0], result("jit", seed=1)])))


def test_a_run_is_not_changed_by_being_compared() -> None:
    made = run([result()])
    before = made.to_dict()
    compare(made, made)
    assert made.to_dict() == before
    assert isinstance(made, Run)
