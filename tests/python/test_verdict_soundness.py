"""A comparison of runs is refused where it contradicts the processes that it records."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import history_runs
import pytest
from run_files import PROBLEM, both, exactly, of_other_session, result, run

from fastrnns_rs import Comparison, UsageError, compare
from fastrnns_rs.documents.run_file import Run, Stop

Change = Callable[[Any], object]
#: Medians of ten processes in ns, the same 5 % slower, and nearly the same.
BASELINE = [1_000_000, 1_003_000, 998_000, 1_001_000, 1_004_500, 997_000, 999_500, 1_002_000, 1_000_500, 1_005_000]
SLOWER = [round(1.05 * time) + 700 * (place % 3) for place, time in enumerate(BASELINE)]
EQUAL = [time + 900 * (place % 3) - 1000 for place, time in enumerate(BASELINE)]


def two_sessions() -> dict[str, Any]:
    """Rows that are slower, equivalent, and alone; without a history."""
    names = ("cudnn", "jit")
    first = run([exactly(BASELINE, name) for name in names])
    second = run([exactly(times, name) for name, times in zip(names, (SLOWER, EQUAL), strict=True)])
    return compare(first, of_other_session(second), history=False).to_dict()


def one_session() -> dict[str, Any]:
    """Rows that are slower and equivalent, in one session but not of `ab`."""
    first = run([exactly(BASELINE), exactly(BASELINE, "jit")])
    return compare(first, run([exactly(SLOWER), exactly(EQUAL, "jit")]), history=False).to_dict()


def two_phases() -> dict[str, Any]:
    sides = (run([result(seed=seed, peak_memory_bytes=64)]) for seed in (0, 1))
    return compare(*sides, history=False).to_dict()


def open_row() -> dict[str, Any]:
    """A row that some fifty processes more would decide."""
    times = [round(time * (0.97 + 0.02 * (place % 4))) for place, time in enumerate(EQUAL)]
    found = compare(run([exactly(BASELINE)]), run([exactly(times)]), history=False).to_dict()
    assert found["rows"][0]["required_processes"] == found["rows"][0]["additional_processes"] + 10
    return found


def pairs() -> dict[str, Any]:
    return compare(both(exactly(BASELINE), exactly(SLOWER))).to_dict()


def fewer_pairs() -> dict[str, Any]:
    """Pairs of a run with a precision, which one side reached earlier."""
    made = both(exactly(BASELINE), exactly(SLOWER[:-1]))
    made = replace(made, plan=replace(made.plan, stop=Stop(rule="precision", parameters={})))
    return compare(made).to_dict()


def of_sessions(levels: list[int]) -> list[Run]:
    """Runs of three sessions, each with two processes around a level."""
    return [of_other_session(run([exactly([level, level + 40])]), f"of {level}") for level in levels]


def six_sessions() -> dict[str, Any]:
    first, second = of_sessions([10_000, 10_100, 9_950]), of_sessions([10_700, 10_500, 10_600])
    return compare(first, second, history=False, statistic="mean").to_dict()


def with_history() -> dict[str, Any]:
    """Two sessions, each with ten processes; earlier ones show how sessions differ."""
    first, second = run([exactly(BASELINE)]), of_other_session(run([exactly(SLOWER)]))
    with tempfile.TemporaryDirectory() as folder:
        history_runs.keep_past(Path(folder), 1_000_000)
        found = compare(first, second, history=folder).to_dict()
    assert found["rows"][0]["basis"] == "history"
    return found


def of_means() -> dict[str, Any]:
    return compare(both(exactly(BASELINE), exactly(SLOWER)), statistic="mean").to_dict()


def setting(row: int = 0, part: str | None = None, **changes: Any) -> Change:
    """Changes keys of a row, or of a part of it."""

    def change(found: Any) -> None:
        owner = found["rows"][row]
        (owner if part is None else owner[part]).update(changes)

    return change


def counting(**counts: int) -> Change:
    return lambda found: found["counts"].update(counts)


def called_slower(basis: str) -> list[Change]:
    """Changes that make the first row slower without condition."""
    return [
        setting(basis=basis, verdict="slower", conditional_verdict=None),
        counting(slower=1),
        lambda found: found["conditional_counts"].update(slower=0),
    ]


LIES: dict[str, tuple[Callable[[], dict[str, Any]], list[Change], str]] = {
    "slower, called open": (
        one_session,
        [
            setting(verdict="inconclusive", p_value=0.5, p_value_adjusted=0.5, ratio_ci_low=0.9),
            counting(slower=0, inconclusive=1),
        ],
        "rows[0].ratio_ci_low is 0.9, and that of the processes is 1.0",
    ),
    "slower, called equivalent": (
        one_session,
        [setting(1, verdict="inconclusive"), counting(equivalent=0, inconclusive=1)],
        "rows[1] is inconclusive, and its interval from 0.9974",
    ),
    "a p-value by itself": (one_session, [setting(p_value=1e-3, p_value_adjusted=2e-3)], "rows[0].p_value is 0.001, "),
    "a p-value that was adjusted for more rows": (
        one_session,
        [setting(p_value_adjusted=0.04)],
        "rows[0].p_value_adjusted is 0.04, and that of all rows is ",
    ),
    "a shift of another sign": (one_session, [setting(shift_ns=-50_000.0)], "rows[0].shift_ns is -50000, and that "),
    "a delta of another sign": (one_session, [setting(cliffs_delta=-1.0)], "rows[0].cliffs_delta is -1, and that "),
    "a verdict, certain for two sessions": (
        two_sessions,
        [
            setting(verdict="slower", conditional_verdict=None),
            lambda found: found["counts"].update(slower=1) or found["conditional_counts"].update(slower=0),
        ],
        "rows[0].verdict is slower, and its basis, two_sessions, gives a conditional_verdict",
    ),
    "an interval of half the certainty": (
        one_session,
        [lambda found: found["method"].update(confidence_level=0.55)],
        "rows[0].ratio_ci_low is 1.0",
    ),
    "a margin that every row is in": (
        one_session,
        [lambda found: found["method"].update(margin=0.0531)],
        "rows[0].verdict is 'slower', and that of the processes is 'equivalent'",
    ),
    "a mean of all rows, without doubt": (
        one_session,
        [lambda found: found["geometric_mean"].update(ratio_ci_low=found["geometric_mean"]["ratio"])],
        "geometric_mean.ratio_ci_low is 1.0",
    ),
    "no mean": (
        one_session,
        [lambda found: found.update(geometric_mean=None)],
        "geometric_mean is null, and rows have p-values",
    ),
    "fewer samples than processes": (
        one_session,
        [setting(part="baseline", n_samples=1)],
        "rows[0].baseline.n_samples is 1, and n_processes is 10",
    ),
    "pairs with other noise": (pairs, [setting(ratio_ci_high=1.2)], "rows[0].ratio_ci_high is 1.2, and that of the "),
    "pairs of a side with fewer processes": (
        fewer_pairs,
        [setting(ratio_ci_low=1.0506)],
        "rows[0].ratio_ci_low is 1.0506, and that of the processes is 1.0",
    ),
    "pairs in another order": (
        pairs,
        [lambda found: found["rows"][0]["candidate"]["process_medians_ns"].reverse()],
        "rows[0].ratio_ci_low is 1.0501",
    ),
    "medians beside means": (
        of_means,
        [setting(part="median", p_value=0.9, p_value_adjusted=0.9)],
        "rows[0].median.p_value is 0.9, and its interval from ",
    ),
    "sessions, called open": (
        six_sessions,
        [
            setting(verdict="inconclusive", p_value=0.5, p_value_adjusted=0.5, ratio_ci_low=0.9),
            counting(slower=0, inconclusive=1),
        ],
        "rows[0].ratio_ci_low is 0.9, and that of the processes is 1.0",
    ),
    "processes of other sessions": (
        six_sessions,
        [setting(part="baseline", process_sessions=[0, 1, 2, 0, 1, 2])],
        "rows[0].baseline.ci_low_ns is ",
    ),
    "a session before the first": (
        six_sessions,
        [setting(part="baseline", process_sessions=[-1, -1, 1, 1, 2, 2])],
        "rows[0].baseline.process_sessions[0] is -1, not a count",
    ),
    "sessions of no processes": (
        six_sessions,
        [setting(part="baseline", process_medians_ns=[], process_levels_ns=[]), setting(ratio=1.0)],
        "rows[0].ratio is 1, ",
    ),
    "sessions of fewer processes": (
        six_sessions,
        [setting(part="baseline", process_sessions=[0, 1, 2])],
        "rows[0].baseline.process_sessions has 3 numbers, not n_processes, 6",
    ),
    "medians of sessions": (
        six_sessions,
        [setting(part="median", p_value=0.9, p_value_adjusted=0.9)],
        "rows[0].median.p_value is 0.9, and its interval from ",
    ),
    "a history without noise": (
        with_history,
        [setting(session_stderr=1e-6)],
        "rows[0].session_stderr is 1e-06, and session_stddev gives 0.00161978 or more",
    ),
    "a history with less noise": (
        with_history,
        [setting(session_stderr=0.002)],
        "rows[0].ratio_ci_low is ",
    ),
    "a history of one session": (
        with_history,
        [setting(history_sessions=1)],
        "rows[0] has a session_stddev, and history_sessions is 1",
    ),
    "more noise of a history than in the interval": (
        with_history,
        [setting(session_stddev=10.0)],
        ", and session_stddev gives 14.1421 or more",
    ),
    "a history of another margin": (
        with_history,
        [lambda found: found["method"].update(margin=0.0538)],
        "rows[0].verdict is 'slower', and that of the processes is 'equivalent'",
    ),
    "two sessions, called one": (
        two_sessions,
        [
            lambda found: [row.update(basis="interleaved") for row in found["rows"]],
            setting(verdict="slower", conditional_verdict=None),
            setting(1, verdict="equivalent", conditional_verdict=None),
            counting(slower=1, equivalent=1),
            lambda found: found["conditional_counts"].update(slower=0, equivalent=0),
        ],
        "warnings contain one_session, and no row is of two sessions",
    ),
    "a row of two sessions, called one": (
        two_sessions,
        called_slower("interleaved"),
        "rows of one session per side are interleaved, and others are not",
    ),
    "two sessions, called one in every row": (
        two_sessions,
        [
            *called_slower("interleaved"),
            setting(1, basis="interleaved", verdict="equivalent", conditional_verdict=None),
            counting(equivalent=1),
            lambda found: found["conditional_counts"].update(equivalent=0),
            lambda found: found["candidate"].update(created_utc="2026-01-02T03:04:05+00:00"),
        ],
        "rows of one session per side are interleaved, and the sides began at different times",
    ),
    "two sessions, called none": (
        two_sessions,
        [setting(basis=None)],
        "rows[0] has a conditional_verdict, and its basis is None, not two_sessions",
    ),
    "one session, called none": (one_session, [setting(basis=None)], "rows[0].basis is null, and both sides have "),
    "one session, called a history": (
        one_session,
        [setting(basis="history")],
        "rows[0].basis is a history, and session_stddev is missing",
    ),
    "noise of a history that is not named": (
        one_session,
        [setting(session_stderr=0.1, session_degrees_of_freedom=5.0)],
        "rows[0] has session_stderr, and its basis is 'interleaved', not a history",
    ),
    "processes, called sessions": (
        one_session,
        [
            setting(basis="sessions"),
            setting(part="baseline", process_sessions=[*range(10)]),
            setting(part="candidate", process_sessions=[*range(10)]),
        ],
        "rows[0].basis is sessions, and baseline has 10 of 1 sessions",
    ),
    "two sessions, called replicates": (
        two_sessions,
        called_slower("sessions"),
        "rows[0].basis is sessions, and baseline has 0 of 1 sessions",
    ),
    "sessions of pairs": (
        pairs,
        [setting(part="candidate", process_sessions=[0] * 10)],
        "rows[0].candidate has process_sessions, and its basis is 'interleaved', not sessions",
    ),
    "medians, called means": (
        one_session,
        [lambda found: found["method"].update(statistic="mean", name="welch_log_process_means")],
        "rows[0].mean is a change that is not judged, and method.statistic is the same",
    ),
    "medians without changes, called means": (
        one_session,
        [
            lambda found: found["method"].update(statistic="mean", name="welch_log_process_means"),
            setting(mean=None),
        ],
        "rows[0].baseline has no process_levels_ns, and method.statistic is mean",
    ),
    "a row without its processes": (
        one_session,
        [setting(part="baseline", process_medians_ns=[])],
        "rows[0].baseline.process_medians_ns has 0 numbers, not n_processes, 10",
    ),
    "a mean of rows that were forced": (
        one_session,
        [
            lambda found: found["method"].update(forced=True),
            lambda found: found["geometric_mean"].update(ratio_ci_high=found["geometric_mean"]["ratio"]),
        ],
        "geometric_mean.ratio_ci_high is 1.0",
    ),
    "a mean with another p-value": (
        one_session,
        [setting(part="mean", p_value=0.9, p_value_adjusted=0.9)],
        "rows[0].mean.p_value is 0.9, and its interval from ",
    ),
    "ten times the processes for a verdict": (
        open_row,
        [lambda found: found["rows"][0].update(required_processes=10 * found["rows"][0]["required_processes"])],
        "rows[0].required_processes is ",
    ),
    "no other processes for a verdict": (
        open_row,
        [setting(additional_processes=None)],
        "and additional_processes is None",
    ),
    "more processes for a verdict than they vary": (
        open_row,
        [setting(additional_processes=900, required_processes=910)],
        "rows[0].additional_processes is 900, and that of the processes is ",
    ),
    "more sessions than processes": (
        one_session,
        [lambda found: found["baseline"].update(sessions=21)],
        "baseline.sessions is 21, and the rows have 20 processes",
    ),
    "another peak in the other phase": (
        two_phases,
        [setting(1, "candidate", peak_memory_bytes=640)],
        "rows[1].candidate.peak_memory_bytes is 640, and the other phase of the runner has 64",
    ),
    "an open row that no number of processes decides": (
        open_row,
        [setting(additional_processes=None, required_processes=None)],
        "rows[0].additional_processes is null, and that of the processes is ",
    ),
    "a process without time": (
        lambda: compare(run([exactly(BASELINE[:1])]), run([exactly(SLOWER[:1])]), history=False).to_dict(),
        [setting(part="baseline", process_medians_ns=[0.0], estimate_ns=0.0), setting(ratio=None)],
        "rows[0] has processes that cannot be compared",
    ),
}


@pytest.mark.parametrize("name", LIES)
def test_what_the_processes_do_not_give_is_refused(name: str) -> None:
    make, changes, message = LIES[name]
    found = make()
    Comparison.from_dict(found)
    for change in changes:
        change(found)
    with pytest.raises(UsageError) as raised:
        Comparison.from_dict(found)
    assert message in raised.value.message


def test_the_mean_of_conflicting_rows_is_not_recomputed() -> None:
    """It leaves out the rows that conflict, which the document does not name."""
    other = replace(PROBLEM, hidden_size=128)
    sides = (
        run([exactly(BASELINE), exactly(BASELINE, "jit")]),
        run([exactly(SLOWER, problem=other), exactly(EQUAL, "jit")]),
    )
    found = compare(*sides, force=True, history=False)
    assert Comparison.from_dict(found.to_dict()) == found
