"""Stop rules of a bench: precision, a time limit and verdicts, with workers that measure nothing."""

from __future__ import annotations

from typing import Any

import pytest
from pretended_workers import each, measured
from test_bench_execution import Workers, begin

from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.verbs.bench import execution
from fastrnns_rs.verbs.bench.execution import Interrupted, execute
from fastrnns_rs.verbs.bench.resumption import resumed
from fastrnns_rs.views.run import run_screen


@pytest.fixture
def workers() -> Workers:
    return Workers()


def test_precision_ends_a_runner_and_never_before_five_processes(workers: Workers) -> None:
    run = execute(*begin(stop="precision:1%"), executor=each(workers))
    assert run.plan.stopped_by == "precision"
    assert run.plan.precision <= 0.01
    assert all(len(result.processes) >= 5 for result in run.results)
    assert run.plan.stop.parameters["half_width"] == 0.01
    assert run.plan.stop.parameters["limit_seconds"] == 600.0
    assert run.plan.stop.parameters["process_seconds"] == 0.2


def test_precision_asks_for_more_of_who_is_noisier() -> None:
    quiet, noisy = Workers(0.001), Workers(0.02)

    def workers(job: dict[str, Any]) -> Answer:
        return (noisy if job["runner"] == "py" else quiet)(job)

    run = execute(*begin(["cudnn", "py"], stop="precision:1%"), executor=each(workers))
    assert len(run["py"].processes) > 2 * len(run["cudnn"].processes)
    assert run.plan.precision <= 0.01
    # All of them are of one session: several would make up evidence of how sessions differ.
    assert len(run.sessions) == 1
    assert {one.session for result in run.results for one in result.processes} == {run.sessions[0].session_id}
    assert run["py"].forward.ci_method == "t_log_process_medians"


def test_a_limit_of_time_ends_a_run_by_precision(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(0, 10_000, 40))
    monkeypatch.setattr(execution.time, "monotonic", lambda: next(now))
    workers._spread = 0.5
    run = execute(*begin(["cudnn", "py"], stop="precision:0.1%"), executor=each(workers))
    assert (run.status, run.plan.stopped_by) == ("complete", "time")
    assert run.plan.precision > 0.1
    lines = [line.text for line in run_screen.end(run, 1.0, "", 120)]
    assert "hint: ±0.1% was not confirmed in time. Use --stop precision:0.1%:1200s." in lines


def test_precision_is_that_of_the_sessions_of_a_resumed_run(workers: Workers) -> None:
    """It said that every interval was narrow enough beside one of ±3 %."""
    effort = {"stop": "precision:1%:200ms"}
    plan, run = begin(["py"], **effort)
    levels = iter((1.0, 1.03, 0.99))

    def shifted(job: dict[str, Any]) -> Answer:
        found = workers(job)
        times = [round(one * level) for one in found.content["forward_ns"]]
        return measured(times, [2 * one for one in times], steady_from=5)

    for end in (3, 7):
        level = next(levels)
        workers.instead[end] = KeyboardInterrupt()
        with pytest.raises(Interrupted) as stopped:
            execute(plan, run, executor=each(shifted))
        plan, run = resumed(stopped.value.run, *begin(["py"], **effort))
    level = next(levels)
    run = execute(plan, run, executor=each(shifted))
    assert len(run.sessions) == 3
    forward = run["py"].forward
    assert forward.ci_method == "t_log_sessions"
    assert run.plan.precision == pytest.approx(forward.ci_high_ns / forward.estimate_ns - 1)
    assert run.plan.precision > 0.01
    assert run.plan.stopped_by == "time"


def test_a_verdict_that_others_withdraw_is_measured_again(workers: Workers) -> None:
    """It was ended with its first verdict, and the run said that every row has one."""
    rounds: list[set[str]] = [set(), {"cudnn"}, {"py"}, {"cudnn", "py"}]
    looks = iter(rounds)
    plan, run = begin(["cudnn", "py"], processes=9, until_decided=True)
    done = execute(plan, run, executor=each(workers), find_decided=lambda _run: next(looks))
    # Each waits in the round after its verdict.
    assert [len(result.processes) for result in done.results] == [3, 3]
    assert done.plan.stopped_by == "decided"
    # One that never has a verdict has the largest number of processes.
    plan, run = begin(["cudnn", "py"], processes=5, until_decided=True)
    done = execute(plan, run, executor=each(workers), find_decided=lambda _run: {"cudnn"})
    assert [len(result.processes) for result in done.results] == [1, 5]
    assert done.plan.stopped_by == "count"
    # Without a row that was measured to its end, none has a verdict.
    plan, run = begin(["cudnn"], processes=5, until_decided=True)
    workers.instead[len(workers.started)] = Answer({}, "died", "it broke", "")
    assert execute(plan, run, executor=each(workers), find_decided=lambda _run: set()).plan.stopped_by != "decided"
    # The last process may give the last verdict.
    plan, run = begin(["cudnn", "py"], processes=3, until_decided=True)
    looks = iter([set[str](), set[str](), {"cudnn", "py"}])
    assert (
        execute(plan, run, executor=each(workers), find_decided=lambda _run: next(looks)).plan.stopped_by == "decided"
    )
