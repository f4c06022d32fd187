"""Rows of several sessions: what is repeated, what earlier sessions tell, and what two sessions leave open."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
import scipy.stats
from run_files import ENVIRONMENT, PROBLEM, SESSION, both, exactly, run

import fastrnns_rs
from fastrnns_rs import compare, stats
from fastrnns_rs.documents.comparison import Comparison, Counts
from fastrnns_rs.documents.run_file import Result, Run, Stop, Warmup
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.compare.compared_sources import compare_sources
from fastrnns_rs.verbs.compare.run_side import side_of_run
from fastrnns_rs.verbs.compare.session_spread import PastSession, past_sessions, pool_spread

SOURCE = "a" * 64


def codes(comparison: Comparison) -> set[str]:
    return {one.code for one in comparison.warnings}


def medians(made: Result) -> list[float]:
    return [statistics.median(one.forward_ns[one.steady_from :]) for one in made.processes]


def at(session: str, values: list[int]) -> Result:
    row = exactly(values)
    return replace(row, processes=[replace(one, session=session) for one in row.processes])


def of_sessions(*named: tuple[str, list[int]]) -> list[Run]:
    known = [replace(SESSION, session_id=name) for name, _ in named]
    return [run([at(name, values)], sessions=known) for name, values in named]


def test_three_sessions_a_side_are_the_replicates() -> None:
    first = of_sessions(("a", [1000, 1010, 1020]), ("b", [1100, 1110]), ("c", [1050, 1060, 1070]))
    second = of_sessions(("d", [1200, 1210, 1220]), ("e", [1300, 1310]), ("f", [1250, 1260, 1270]))
    outcome = compare_sources(first, second)
    found = outcome.comparison
    row = found.rows[0]
    levels = [[statistics.geometric_mean(medians(one["cudnn"])) for one in side] for side in (first, second)]
    expected = stats.compare_samples(*levels)
    assert (row.basis, row.ratio) == ("sessions", pytest.approx(expected.ratio))
    assert row.p_value == pytest.approx(expected.p_value)
    assert (row.baseline.n_processes, row.additional_processes) == (8, None)
    assert row.label == "3 and 3 sessions are compared, not processes"
    assert row.candidate.estimate_ns / row.baseline.estimate_ns == pytest.approx(row.ratio)
    assert codes(found) == set()
    assert "Session means, µs (3 per side, sorted)" in outcome.explain("cudnn/forward")


def test_rows_of_the_same_sessions_are_not_independent() -> None:
    def side(names: str, level: int) -> list[Run]:
        return [
            replace(one, results=[replace(row, runner=f"r{n}") for row in one.results for n in range(8)])
            for one in of_sessions(*((name, [level + 10 * at, level + 10 * at + 5]) for at, name in enumerate(names)))
        ]

    found = compare(side("abc", 1000), side("def", 1200))
    row, mean = found.rows[0], found.geometric_mean
    assert (len(found.rows), mean.n) == (8, 8)
    assert (mean.ratio_ci_low, mean.ratio_ci_high) == pytest.approx((row.ratio_ci_low, row.ratio_ci_high))


def test_two_sessions_have_conditional_verdicts() -> None:
    first, second = of_sessions(("a", [1000, 1001, 1002]), ("b", [1200, 1201, 1202]))
    outcome = compare_sources([first], [second], fail_on=["regression"])
    found, row = outcome.comparison, outcome.comparison.rows[0]
    [warning] = found.warnings
    assert (row.basis, row.verdict, row.conditional_verdict) == ("two_sessions", None, "slower")
    assert (found.counts, found.conditional_counts) == (Counts(), Counts(slower=1))
    assert (warning.code, warning.hint) == (
        "one_session",
        "Measure each side in 3 sessions: fastrnns-rs bench --sessions 3",
    )
    assert "(0 of 8 sessions in the history)" in (warning.evidence or "")
    assert "(↑ slower)" in found.render("table")
    assert "1 slower, 0 faster, 0 equivalent, 0 inconclusive; 1 of these in parentheses" in found.render("markdown")
    assert "skipped" in found.render("junit")
    assert ", within these two sessions\n" in outcome.explain("cudnn/forward")
    assert Comparison.from_dict(found.to_dict()) == found
    again = compare(first, of_sessions(("a", [1200, 1201, 1202]))[0])
    assert (again.rows[0].basis, again.rows[0].verdict, again.warnings) == ("interleaved", "slower", [])


@pytest.mark.parametrize(
    ("level", "causes", "expected"),
    [
        (1200, ["regression"], 4),
        (1200, [], 0),
        (800, ["regression"], 0),
        (1000, ["regression"], 0),
        (1000, ["inconclusive"], 4),
    ],
)
def test_a_gate_does_not_pass_what_is_withheld(level: int, causes: list[str], expected: int) -> None:
    first, second = of_sessions(("a", [1000, 1001, 1002]), ("b", [level, level + 1, level + 2]))
    assert compare(first, second, fail_on=causes).exit_code == expected


def test_what_two_sessions_leave_open_is_open() -> None:
    first, second = of_sessions(("a", [1000, 1050, 1100]), ("b", [1010, 1060, 1120]))
    row = compare(first, second).rows[0]
    assert (row.verdict, row.conditional_verdict) == ("inconclusive", None)
    assert row.required_processes == 3 + (row.additional_processes or 0)


def test_a_file_of_an_older_build_is_a_session() -> None:
    old = [replace(one, sessions=[], results=[exactly([1000, 1001, 1002])]) for one in (run([]), run([]))]
    assert [one.basis for one in compare(*old).rows] == ["two_sessions"]
    ab = both(exactly([1000, 1001, 1002]), exactly([1200, 1201, 1202], side="b"))
    assert [one.basis for one in fastrnns_rs.compare(replace(ab, sessions=[])).rows] == ["interleaved"]


class Sessions:
    """The past as a list of rows."""

    def __init__(self, runs: Iterable[Run]) -> None:
        sides = [side_of_run(one, label="", file="") for one in runs]
        self.rows = [
            (series, row) for side in sides for series in side.series for row in past_sessions(*series.kinds, series)
        ]

    def equal(self, kinds: Iterable[str]) -> list[PastSession]:
        return [row for series, row in self.rows if {*kinds} & {*series.kinds}]

    def comparable(self, families: Iterable[str]) -> list[PastSession]:
        return [row for series, row in self.rows if {*families} & {*series.families}]


LEVELS = [1000, 1008, 991, 1012, 1003, 985, 1020, 997]


def past_run(name: str, level: int, **changes: Any) -> Run:
    [one] = of_sessions((name, [level, level + 2, level + 4]))
    return replace(one, results=[replace(row, source_sha256=SOURCE, **changes) for row in one.results])


def past_runs(levels: list[int] = LEVELS, **changes: Any) -> list[Run]:
    return [past_run(f"past {number}", level, **changes) for number, level in enumerate(levels)]


def test_earlier_sessions_tell_how_sessions_differ() -> None:
    first, second = past_run("now", 1001), past_run("then", 1090)
    outcome = compare_sources([first], [second], past=Sessions(past_runs()), fail_on=["regression"])
    found, row = outcome.comparison, outcome.comparison.rows[0]
    means = [statistics.fmean(math.log(one + more) for more in (0, 2, 4)) for one in LEVELS]
    error = math.sqrt(2 * statistics.variance(means))
    difference = statistics.fmean(math.log((1090 + more) / (1001 + more)) for more in (0, 2, 4))
    assert (row.basis, row.verdict, row.history_sessions, row.history_pooled) == ("history", "slower", 8, False)
    assert row.p_value == pytest.approx(2 * scipy.stats.t.sf(difference / error, 7))
    low = math.exp(difference - scipy.stats.t.ppf(0.975, 7) * error)
    assert row.ratio_ci_low == pytest.approx(low)
    within = statistics.fmean(statistics.variance(math.log(one + more) for more in (0, 2, 4)) for one in LEVELS)
    assert row.session_stddev == pytest.approx(math.sqrt(statistics.variance(means) - within / 3))
    assert (row.required_processes, found.exit_code, codes(found)) == (None, 3, set())
    assert "sessions: standard deviation 1.1 % between sessions, from 8 sessions" in found.render("table")
    assert "2. Standard error of log(ratio), from 8 sessions: " in outcome.explain("cudnn/forward")
    # The sessions that are compared are no evidence of how others differ.
    again = compare_sources([first], [second], past=Sessions([*past_runs(), first, second])).comparison
    assert again.rows == found.rows


def test_sessions_without_variation_are_no_evidence() -> None:
    """A clock with steps of 1024 ns gave `slower` with p = 0, but only with a history."""
    # Means of the logarithms of three and of seven equal times differ by a rounding error.
    times = [("then", [5120] * 5), *((f"past {number}", [4096] * (3 + number)) for number in range(9))]
    candidate, baseline, *past = (
        replace(one, results=[replace(row, source_sha256=SOURCE) for row in one.results]) for one in of_sessions(*times)
    )
    found = compare_sources([baseline], [candidate], past=Sessions(past)).comparison
    [row] = found.rows
    assert (row.basis, row.verdict, row.p_value) == ("history", None, None)
    assert row.reason == "neither side has any spread: no verdict"
    assert Comparison.from_dict(found.to_dict()) == found


def test_sessions_of_other_settings_are_no_history() -> None:
    first, second = past_run("now", 1001), past_run("then", 1090)

    def basis(**changes: Any) -> str | None:
        past = [replace(one, environment=replace(ENVIRONMENT, **changes)) for one in past_runs()]
        return compare_sources([first], [second], past=Sessions(past)).comparison.rows[0].basis

    # Our own variables say where things go; what they do to a run stands in its plan.
    for same in (
        {"variables": {"FASTRNNS_HISTORY": "elsewhere"}},
        {"load_average_1m": 3.0},
        {"python_executable": "x"},
    ):
        assert basis(**same) == "history"
    for other in (
        {"variables": {"OMP_NUM_THREADS": "1"}},
        {"torch_version": "2.16.0"},
        {"num_threads": 1},
        {"cpu_affinity": [0]},
        {"cpu_microcode": "0x2c"},
        {"aslr": 0},
        {"os": "Linux 6.2"},
    ):
        assert basis(**other) == "two_sessions"
    for plan, expected in (
        ({"threads": 1}, "two_sessions"),
        ({"warmup": Warmup(mode="fixed", iterations=0)}, "two_sessions"),
        ({"stop": Stop(rule="count", parameters={"nloops": 1})}, "two_sessions"),
        ({"turns": 20}, "two_sessions"),
        # The time of a process depends on the number of runners.
        ({"stop": Stop(rule="time", parameters={"process_seconds": 0.7})}, "history"),
    ):
        plans = [replace(one, plan=replace(one.plan, **plan)) for one in past_runs()]
        found = compare_sources([first], [second], past=Sessions(plans)).comparison.rows[0].basis
        assert found == expected, plan


def test_a_noisier_candidate_is_not_judged_by_the_past_alone() -> None:
    first, second = past_run("now", 1000), of_sessions(("then", [1000, 1200, 1440]))[0]
    second = replace(second, results=[replace(one, source_sha256=SOURCE) for one in second.results])
    row = compare_sources([first], [second], past=Sessions(past_runs())).comparison.rows[0]
    alone = stats.compare_samples([1000, 1002, 1004], [1000, 1200, 1440])
    assert (row.basis, row.p_value) == ("history", pytest.approx(alone.p_value))


def test_too_few_sessions_are_pooled_with_comparable_rows() -> None:
    first, second = past_run("now", 1001), past_run("then", 1090)
    others = [past_run(f"past {number}", 3 * level, runner="py") for number, level in enumerate(LEVELS)]
    past = Sessions([*past_runs(LEVELS[:3]), *others])
    found = compare_sources([first], [second], past=past).comparison
    assert (found.rows[0].basis, found.rows[0].history_pooled, found.rows[0].history_sessions) == ("history", True, 8)
    assert codes(found) == {"pooled_sessions"}
    elsewhere = replace(ENVIRONMENT, cpu_model="another processor")
    for strangers in (
        past_runs(LEVELS[:7]),
        [replace(one, environment=elsewhere) for one in past_runs()],
        [replace(one, results=[replace(row, timing_mode="cuda_events") for row in one.results]) for one in past_runs()],
    ):
        assert compare_sources([first], [second], past=Sessions(strangers)).comparison.rows[0].basis == "two_sessions"
    changed = past_runs(problem=replace(PROBLEM, hidden_size=65))
    assert compare_sources([first], [second], past=Sessions(changed)).comparison.rows[0].history_pooled


def test_a_baseline_of_many_sessions_is_its_own_history() -> None:
    baseline = past_runs()
    found = compare_sources(baseline, [past_run("then", 1050)]).comparison
    row = found.rows[0]
    assert (row.basis, row.verdict, row.history_sessions) == ("history", "slower", 8)
    # The error is that between sessions, so unequal numbers of processes cause no false alarms.
    assert (row.baseline.n_processes, row.candidate.n_processes, codes(found)) == (24, 3, set())
    noisy = replace(past_run("then", 1050), results=of_sessions(("then", [1000, 1200, 1440]))[0].results)
    assert codes(compare_sources(baseline, [noisy]).comparison) == {"unequal_processes"}
    # No text promises a history.
    warnings = compare_sources(baseline[:5], [past_run("then", 1050)]).comparison.warnings
    [few] = [one for one in warnings if one.code == "one_session"]
    assert few.evidence is not None
    assert few.evidence.endswith("(5 of 8 sessions known)")
    sentence = "those of the history, and those of a side that has several"
    assert sentence in " ".join(found.render("html").split())
    assert "earlier sessions" not in found.render("html") + found.render()


def test_rows_of_one_session_are_one_piece_of_evidence() -> None:
    rows = [
        PastSession(session=f"{session}", kind=f"{kind}", n_processes=5, mean=0.01 * session, variance=1e-4)
        for session in range(4)
        for kind in range(10)
    ]
    assert pool_spread(rows) is None
    eight = [replace(one, session=f"{int(one.session) + 4 * more}") for one in rows for more in (0, 1)]
    found = pool_spread(eight)
    assert found is not None
    assert (found.sessions, found.degrees_of_freedom, found.inverse_processes) == (8, 7, pytest.approx(0.2))
    assert found.process_variance == pytest.approx(1e-4)


def test_processes_that_are_missing_widen_the_interval() -> None:
    """History sessions of twenty processes tell too little of the spread of a session of two."""
    rows = [
        PastSession(session=f"{number}", kind="", n_processes=20, mean=0.001 * number, variance=1e-4)
        for number in range(8)
    ]
    found = pool_spread(rows)
    assert found is not None
    series = [side_of_run(past_run(name, 1000), label="", file="").series[0] for name in "ab"]
    error, degrees = found.error_between(*series)
    parts = (2 * statistics.variance(0.001 * number for number in range(8)), 1e-4 * (2 / 3 - 2 / 20))
    assert error**2 == pytest.approx(sum(parts))
    assert degrees == pytest.approx(sum(parts) ** 2 / (parts[0] ** 2 / 7 + parts[1] ** 2 / 152))


def hint(first: Run, second: Run) -> str:
    [warning] = [one for one in compare(first, second).warnings if one.code == "one_session"]
    return str(warning.hint).rpartition(": ")[2]


def test_sessions_that_a_run_does_not_list_are_one() -> None:
    """Three sessions of one process each gave a verdict that one session does not give."""
    first, second = (
        [replace(one, sessions=[]) for one in of_sessions(*zip(names, levels, strict=True))]
        for names, levels in (("abc", [[1000], [1010], [1020]]), ("def", [[1200], [1210], [1220]]))
    )
    joined = [
        replace(
            side[0],
            results=[
                replace(side[0].results[0], processes=[each for one in side for each in one.results[0].processes])
            ],
        )
        for side in (first, second)
    ]
    assert compare(*joined).rows[0].basis == "two_sessions"


@pytest.mark.parametrize("key", ["started_utc", "machine_id", "boot_id"])
def test_one_id_of_two_sessions_is_refused(key: str) -> None:
    """The copied ID of the baseline gave the candidate a verdict without a condition."""
    first, second = of_sessions(("one", [1000, 1010, 1020]), ("one", [1200, 1210, 1220]))
    assert compare(first, second).rows[0].basis == "interleaved"
    known = replace(first.sessions[0], machine_id="a", boot_id="b")
    first = replace(first, sessions=[known])
    # What a file does not record contradicts nothing.
    assert compare(first, second).rows[0].basis == "interleaved"
    other = replace(known, **{key: "2026-01-01T00:00:09Z"})
    changed = replace(second, sessions=[other])
    for sides in (([first], [changed]), ([first, changed], of_sessions(("two", [1000, 1010])))):
        with pytest.raises(UsageError, match="^different sessions have one ID: 'one': ") as raised:
            compare_sources(*sides, force=True)
        assert raised.value.reason == f"{key} is {getattr(known, key)!r} and '2026-01-01T00:00:09Z'"


@pytest.mark.parametrize(
    ("starts", "message"),
    [
        (["2026-01-01T00:00:00Z", "2020-01-01T00:00:00Z", "2026-01-01T00:00:00Z"], "the session after its own"),
        (["2030-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"], "its session"),
        # Clocks are set back, and other programs write other times.
        (["2026-01-01T14:00:00Z", "2026-01-01T00:00:00+14:00", "2026-01-01"], None),
        (["today", "", "9999-12-31T23:59:59-14:00"], None),
    ],
)
def test_a_process_of_another_session_is_refused(starts: list[str], message: str | None) -> None:
    """One session that was called three, of other years, gave a verdict without a condition."""
    known = [replace(SESSION, session_id=name, started_utc=start) for name, start in zip("abc", starts, strict=True)]
    row = exactly([1000, 1010, 1020])
    processes = [
        replace(one, session="aab"[place], started_utc="2026-01-01T00:00:09Z")
        for place, one in enumerate(row.processes)
    ]
    plain = run([replace(row, processes=processes)], sessions=known).to_dict()
    if message is None:
        assert Run.from_dict(plain).sessions == known
        return
    path = r"results\[0\]\.processes\[0\]\.started_utc is '2026-01-01T00:00:09Z'"
    with pytest.raises(UsageError, match=f"^{path}, and {message} started at '20[23]0-01-01T00:00:00Z'$"):
        Run.from_dict(plain)
