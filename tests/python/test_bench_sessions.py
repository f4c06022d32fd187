"""`bench --sessions`: parts of a run that begin one after the other, and are compared as sessions."""

from __future__ import annotations

import json
import statistics
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from commands import run_cli, run_pretended
from conftest import TINY
from run_files import restated, summarised

from fastrnns_rs import UsageError, stats
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.machine import environment, session
from fastrnns_rs.verbs.bench import execution
from fastrnns_rs.verbs.bench.effort import Effort

BENCH = ["bench", "--group", "rnns", "--rnns", "cudnn", "aten", *TINY]


def sessions_of(run: Run) -> list[list[str | None]]:
    """The sessions of each row's processes, in order."""
    return [[one.session for one in row.processes] for row in run.results]


def test_each_session_has_its_processes(anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(execution.time, "sleep", waited.append)
    done = run_pretended(*BENCH, "--processes", "2", "--sessions", "3", "--every", "1h", "--output", "run.json")
    assert done.status == 0, done.stderr
    run = Run.load("run.json")
    ids = [one.session_id for one in run.sessions]
    assert len(set(ids)) == 3
    assert sessions_of(run) == [[one for one in ids for _ in range(2)]] * 2
    assert (run.plan.processes, run.plan.sessions, run.plan.session_interval_s) == (6, 3, 3600.0)
    # Whoever waits for a child sleeps too, for milliseconds.
    long = [seconds for seconds in waited if seconds > 60]
    assert len(long) == 2
    assert all(3500 < seconds <= 3600 for seconds in long)
    assert "3 sessions of 2 processes per runner, every 1 h" in " ".join(done.stdout.split())
    assert "bench: session 2 begins in " in done.stderr
    # The interval is that of the sessions.
    row = run.results[0]
    medians = [stats.quantiles(one.forward_ns[one.steady_from :], [0.5])[0] for one in row.processes]
    means = [statistics.geometric_mean(medians[at : at + 2]) for at in (0, 2, 4)]
    assert row.forward is not None
    assert row.forward.ci_method == "t_log_sessions"
    assert row.forward.n_processes == 6
    assert row.forward.ci_low_ns == pytest.approx(stats.process_ci(means).ci_low)
    # A session is measured before the next one begins.
    orders = [{one.order for row in run.results for one in row.processes if one.session == session} for session in ids]
    assert all(max(one) < min(other) for one, other in pairwise(orders))


def test_three_sessions_a_side_are_compared_as_sessions(anywhere: Path) -> None:
    for name in ("before", "after"):
        words = ["--processes", "1", "--sessions", "3", "--every", "1ms", "--output", f"{name}.json"]
        assert run_pretended(*BENCH, *words).status == 0
    rows = run_cli("compare", "before.json", "after.json", "--json").json()["rows"]
    assert {one["basis"] for one in rows} == {"sessions"}


def test_sessions_go_on_where_they_were_interrupted(anywhere: Path) -> None:
    words = ["--processes", "2", "--sessions", "3", "--every", "1ms"]
    assert run_pretended(*BENCH, *words, "--output", "run.json").status == 0
    plain = json.loads(Path("run.json").read_text())
    first = plain["sessions"][:2]
    known = {one["session_id"] for one in first}
    for row in plain["results"]:
        processes = [one for one in row["processes"] if one["session"] in known][:3]
        row.update(restated({**row, "processes": processes}))
    Path("run.json").write_text(json.dumps({**plain, "sessions": first, "status": "interrupted"}))
    # Other options stay as they were.
    refused = run_pretended("bench", "--resume", "run.json", "--timeout", "9")
    assert refused.status == 2
    assert "error: cannot resume the run: plan.timeout_s was 1800.0 and is 9.0 now" in refused.stderr
    done = run_pretended("bench", "--resume", "run.json", "--processes", "2")
    assert done.status == 0, done.stderr
    run = Run.load("run.json")
    ids = [one.session_id for one in run.sessions]
    # The rest of the second session is a session of its own.
    assert len(ids) == 4
    assert sessions_of(run) == [[ids[0], ids[0], ids[1], ids[2], ids[3], ids[3]]] * 2


def interrupted_at(monkeypatch: pytest.MonkeyPatch, at: int, *words: str) -> tuple[Run, list[float]]:
    """A run of the command that Ctrl-C ends in long wait number `at`, and its long waits."""
    waited: list[float] = []

    def wait(seconds: float) -> None:
        # Whoever waits for a child sleeps too, for milliseconds.
        if seconds > 60:
            waited.append(seconds)
            if len(waited) == at:
                raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(execution.time, "sleep", wait)
        done = run_pretended(*words)
    assert done.status == (130 if len(waited) == at else 0), done.stderr
    return Run.load("run.json"), waited


@pytest.mark.parametrize(("ago_s", "left"), [(0, [3600]), (1200, [2400]), (4000, []), (-9000, [3600])])
def test_a_run_that_was_interrupted_between_two_sessions_waits(
    ago_s: int, left: list[float], anywhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["--processes", "2", "--sessions", "3", "--every", "1h", "--output", "run.json"]
    run, _ = interrupted_at(monkeypatch, 1, *BENCH, *words)
    [first] = run.sessions
    started = datetime.fromisoformat(first.started_utc) - timedelta(seconds=ago_s)
    replace(run, sessions=[replace(first, started_utc=started.isoformat())]).save("run.json")
    # Ctrl-C in the wait does not restart it.
    _, waited = interrupted_at(monkeypatch, 1, "bench", "--resume", "run.json")
    run, again = interrupted_at(monkeypatch, 9, "bench", "--resume", "run.json")
    expected = [pytest.approx(one, abs=60) for one in [*left, 3600]]
    assert (waited, again) == (expected[:1], expected)
    assert run.status == "complete"
    ids = sessions_of(run)[0]
    assert sessions_of(run) == [ids] * 2
    assert [len({*ids[at : at + 2]}) for at in (0, 2, 4)] == [1, 1, 1]
    assert len({*ids}) == 3


@pytest.mark.parametrize("until", ["the first process", "the second session"])
def test_a_clock_that_is_set_back_by_years_costs_no_run(
    until: str, anywhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run was measured to its end, and then refused by every reader."""
    ahead, now = "2099-01-01T00:00:00Z", session.utc_now
    times = [ahead] if until == "the first process" else [ahead] * 5

    def utc_now() -> str:
        return times.pop(0) if times else now()

    for module in (session, execution):
        monkeypatch.setattr(module, "utc_now", utc_now)
    monkeypatch.setattr(execution.time, "sleep", lambda seconds: seconds > 60 and times.clear())
    done = run_pretended(*BENCH, "--processes", "2", "--sessions", "2", "--every", "1h", "--output", "run.json")
    assert done.status == 0, done.stderr
    run = Run.load("run.json")
    assert run.sessions[0].started_utc == ahead
    assert [[one.started_utc is None for one in row.processes] for row in run.results] == [
        [True, True, False, False]
    ] * 2


def test_a_run_is_resumed_with_a_clock_that_was_lost(anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a clock that was ahead, and is right now."""
    words = ["--processes", "2", "--sessions", "2", "--every", "1h", "--output", "run.json"]
    interrupted_at(monkeypatch, 1, *BENCH, *words)
    for module in (session, execution):
        monkeypatch.setattr(module, "utc_now", lambda: "1970-01-01T00:00:07Z")
    run, _ = interrupted_at(monkeypatch, 9, "bench", "--resume", "run.json")
    assert run.status == "complete"
    assert [[one.started_utc is None for one in row.processes] for row in run.results] == [
        [True, True, False, False]
    ] * 2


def test_a_filtered_file_of_an_interrupted_run_is_resumed(anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run was measured to its end, and then refused by every reader."""
    words = ["--processes", "2", "--sessions", "2", "--every", "1h", "--output", "run.json"]
    run, _ = interrupted_at(monkeypatch, 1, *BENCH, *words)
    replace(run, results=run.results[1:]).save("run.json")
    run, _ = interrupted_at(monkeypatch, 9, "bench", "--resume", "run.json")
    assert [len(row.processes) for row in run.results] == [4, 4]
    orders = [one.order for row in run.results for one in row.processes]
    assert len(orders) == len({*orders})


def test_a_session_that_was_interrupted_goes_on_at_once(anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["--processes", "2", "--sessions", "3", "--every", "1h", "--output", "run.json"]
    run, _ = interrupted_at(monkeypatch, 2, *BENCH, *words)
    # Of the second session there is one process.
    results = [
        summarised(replace(row, processes=row.processes[:3], forward=None, backward=None)) for row in run.results
    ]
    replace(run, results=results).save("run.json")
    run, waited = interrupted_at(monkeypatch, 9, "bench", "--resume", "run.json")
    assert waited == [pytest.approx(3600, abs=60)]
    assert [len(row.processes) for row in run.results] == [6, 6]


def test_the_machine_is_checked_before_each_session(anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other programs may begin while a run waits."""
    loads = iter([0.0, 1000.0, 0.0])
    monkeypatch.setattr(environment.os, "getloadavg", lambda: (next(loads), 0.0, 0.0))
    words = ["--processes", "2", "--sessions", "3", "--every", "1h", "--output", "run.json"]
    run, _ = interrupted_at(monkeypatch, 9, *BENCH, *words)
    [found] = [one.evidence for one in run.warnings if one.code == "machine_busy"]
    assert str(found).startswith("session 2: load average 1000.0 on ")
    # The load of a session that has just ended is its own.
    loads = iter([0.0, 1000.0, 1000.0])
    assert run_pretended(*BENCH, "--sessions", "3", "--every", "1ms", "--output", "run.json").status == 0
    assert not [one for one in Run.load("run.json").warnings if one.code == "machine_busy"]


def test_a_resumed_run_has_the_warnings_of_both_parts(anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["--processes", "2", "--sessions", "3", "--every", "1h", "--output", "run.json"]
    loads = iter([1000.0, 2000.0, 0.0, 0.0])
    monkeypatch.setattr(environment.os, "getloadavg", lambda: (next(loads), 0.0, 0.0))
    interrupted_at(monkeypatch, 1, *BENCH, *words)
    run, _ = interrupted_at(monkeypatch, 9, "bench", "--resume", "run.json")
    found = [str(one.evidence) for one in run.warnings if one.code == "machine_busy"]
    assert [one.partition(" on ")[0] for one in found] == ["load average 1000.0", "load average 2000.0"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--every", "20m"], "--every needs 2 sessions"),
        (["--sessions", "2", "--every", "soon"], "'soon' (--every)"),
        (["--sessions", "2", "--every", "-5m"], "'-5m' (--every)"),
        (["--sessions", "2", "--stop", "precision:1%"], "--sessions needs a fixed number of processes"),
        (["--sessions", "0"], "0 (--sessions)"),
        (["--sessions", "1001"], "1001 (--sessions)"),
    ],
)
def test_what_makes_no_sense_is_refused(words: list[str], message: str) -> None:
    done = run_pretended(*BENCH, *words)
    assert (done.status, message in done.stderr) == (2, True), done.stderr


def test_a_session_begins_ten_minutes_after_the_one_before() -> None:
    assert Effort(sessions=2).every_s() == 600
    with pytest.raises(UsageError):
        Effort(sessions=2, every="10")
