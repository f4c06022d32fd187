"""A run's processes: their order, what ends them, what a failure or Ctrl-C leaves, and how a run is resumed.

Workers are pretended: what they answer is made up here, so that a run takes no time.
"""

from __future__ import annotations

import errno
import math
import random
from dataclasses import replace
from typing import Any

import pytest
from conftest import FACTS
from pretended_workers import each, measured

from fastrnns_rs import stats
from fastrnns_rs.documents.codec import RunWarning
from fastrnns_rs.documents.run_file import Result, Run
from fastrnns_rs.errors import FastrnnsError, UsageError
from fastrnns_rs.machine import environment
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.runners.plan import Choice, Options
from fastrnns_rs.verbs.bench.bench_plan import BenchPlan, plan_bench
from fastrnns_rs.verbs.bench.effort import Effort
from fastrnns_rs.verbs.bench.execution import Interrupted, Silent, execute
from fastrnns_rs.verbs.bench.resumption import resumed
from fastrnns_rs.verbs.bench.run_init import new_run
from fastrnns_rs.views.run import run_head

NAMES = ["cudnn", "py", "jit"]


class Workers:
    """Answers as workers would: process medians with a spread of their own, around a millisecond."""

    def __init__(self, spread: float = 0.002, seed: int = 1) -> None:
        self._chance = random.Random(seed)
        self._spread = spread
        self.started: list[str] = []
        self.instead: dict[int, Answer | BaseException] = {}

    def __call__(self, job: dict[str, Any]) -> Answer:
        number = len(self.started)
        self.started.append(job["runner"])
        special = self.instead.get(number)
        if isinstance(special, BaseException):
            raise special
        if special is not None:
            return special
        level = 1e6 * math.exp(self._chance.gauss(0, self._spread))
        forward = [round(level * math.exp(self._chance.gauss(0, 0.001))) for _ in range(20)]
        return measured(forward, [2 * one for one in forward], steady_from=5)


@pytest.fixture
def workers() -> Workers:
    return Workers()


def begin(names: list[str] = NAMES, **effort: Any) -> tuple[BenchPlan, Run]:
    options = Options(choice=Choice(groups=(), names=names), quick=True, device="cpu")
    setting = Setting()
    plan = plan_bench(options, Effort(**{"order_seed": 5, **effort}), FACTS, setting)
    return plan, new_run(plan, environment.describe(FACTS, setting), ["test"])


def interrupted(workers: Workers, at: int, run: Run | None = None) -> Run:
    """What is left of a run of three processes each, into whose process `at` Ctrl-C came."""
    plan, fresh = begin(processes=3)
    workers.instead[at] = KeyboardInterrupt()
    with pytest.raises(Interrupted) as stopped:
        execute(plan, run or fresh, executor=each(workers))
    workers.instead.clear()
    return stopped.value.run


def test_runners_take_turns_in_the_order_of_the_seed(workers: Workers) -> None:
    run = execute(*begin(processes=4), executor=each(workers))
    assert run.status == "complete"
    for first in range(0, 12, 3):
        assert sorted(workers.started[first : first + 3]) == sorted(NAMES)
    assert len({tuple(workers.started[first : first + 3]) for first in range(0, 12, 3)}) > 1
    by_order = {one.order: result.runner for result in run.results for one in result.processes}
    assert [by_order[order] for order in range(12)] == workers.started
    again = workers.started.copy()
    workers.started.clear()
    execute(*begin(processes=4), executor=each(workers))
    assert workers.started == again


def test_the_estimate_comes_from_process_medians_of_timed_samples(workers: Workers) -> None:
    run = execute(*begin(["py"], processes=5), executor=each(workers))
    medians = [stats.quantiles(one.forward_ns[5:], [0.5])[0] for one in run["py"].processes]
    expected = stats.process_ci(medians)
    found = run["py"].forward
    assert (found.n_processes, found.n_samples) == (5, 75)
    assert found.estimate_ns == pytest.approx(math.exp(sum(map(math.log, medians)) / 5))
    assert (found.ci_low_ns, found.ci_high_ns, found.ci_method) == (
        *(expected.ci_low, expected.ci_high, "t_log_process_medians"),
    )
    assert run.plan.precision == pytest.approx(max(expected.half_width, 0), rel=1e-9)
    assert run["py"].backward.estimate_ns == pytest.approx(2 * found.estimate_ns)


def test_two_processes_give_their_range_and_one_its_own_interval(workers: Workers) -> None:
    two = execute(*begin(["py"], processes=2), executor=each(workers))["py"].forward
    assert (two.ci_method, two.confidence_level) == ("range", 0.5)
    assert two.ci_low_ns < two.estimate_ns < two.ci_high_ns
    one = execute(*begin(["py"], processes=1), executor=each(workers))
    within = stats.median_ci(one["py"].processes[0].forward_ns[5:])
    assert (one["py"].forward.ci_low_ns, one["py"].forward.ci_method) == (within.ci_low, within.ci_method)
    assert one.plan.precision is None


def test_a_runner_that_fails_is_not_started_again_and_the_others_are(workers: Workers) -> None:
    plan, run = begin(processes=3)
    workers.instead[4] = Answer({}, "died", "the process was killed by signal 11 (SIGSEGV)", "")
    run = execute(plan, run, executor=each(workers))
    failed = workers.started[4]
    assert run.status == "failed"
    assert run[failed].status == "failed"
    assert run[failed].reason == "process 2, after 1 that did not: the process was killed by signal 11 (SIGSEGV)"
    assert run[failed].forward is None
    assert [one.status for one in run[failed].processes] == ["ok", "failed"]
    for other in set(NAMES) - {failed}:
        assert run[other].forward.n_processes == 3


def test_interrupted_and_resumed_it_is_the_run_that_it_would_have_been(workers: Workers) -> None:
    whole = execute(*begin(processes=3), executor=each(workers))
    order = workers.started.copy()
    workers.started.clear()
    part = interrupted(workers, 4)
    assert (part.status, part.plan.stopped_by) == ("interrupted", "interrupt")
    assert sum(len(result.processes) for result in part.results) == 4
    workers.started.clear()
    # The seed of the order is the file's, whatever the new plan drew.
    fresh_plan, fresh = begin(processes=3, order_seed=99)
    done = execute(*resumed(Run.from_dict(part.to_dict()), fresh_plan, fresh), executor=each(workers))
    assert workers.started == order[4:]
    assert done.run_id == part.run_id
    assert (done.status, done.plan.stopped_by) == ("complete", whole.plan.stopped_by)
    assert [one.session_id for one in done.sessions] == [run.sessions[0].session_id for run in (part, fresh)]
    ordered = sorted((one for result in done.results for one in result.processes), key=lambda one: one.order)
    names = [one.session_id for one in done.sessions]
    assert [one.session for one in ordered] == [names[0]] * 4 + [names[1]] * 5
    assert [len(result.processes) for result in done.results] == [3, 3, 3]
    assert sorted(one.order for result in done.results for one in result.processes) == list(range(9))


def test_a_process_that_was_interrupted_stays_in_the_file_and_is_measured_again(workers: Workers) -> None:
    plan, run = begin(["py"], processes=3)
    workers.instead[1] = replace(measured([7, 8], None), ended="interrupted", reason="interrupted")
    with pytest.raises(Interrupted) as stopped:
        execute(plan, run, executor=each(workers))
    assert stopped.value.run["py"].status == "ok"
    assert stopped.value.run["py"].forward.n_processes == 1
    done = execute(*resumed(stopped.value.run, *begin(["py"], processes=3)), executor=each(workers))
    assert [one.status for one in done["py"].processes] == ["ok", "interrupted", "ok", "ok"]
    assert done["py"].processes[1].forward_ns == [7, 8]
    assert done["py"].forward.n_processes == 3


def test_the_first_call_is_a_figure_of_its_own(workers: Workers) -> None:
    run = execute(*begin(["py"], processes=3), executor=each(workers))
    firsts = sorted(one.forward_ns[0] + one.backward_ns[0] for one in run["py"].processes)
    assert run["py"].first_call_ns() == firsts[1]


@pytest.mark.parametrize(
    ("effort", "amount"),
    [
        ({"processes": 2}, "2 processes per runner, interleaved"),
        ({"processes": 1, "stop": "count:1"}, "1 process per runner"),
        ({"sessions": 3, "processes": 2, "every": "20m"}, "3 sessions of 2 processes per runner, every 20 min"),
        ({"stop": "precision:1%"}, "at least 5 processes per runner until ±1 %"),
    ],
)
def test_the_context_has_the_amount(effort: dict[str, Any], amount: str) -> None:
    _plan, run = begin(**effort)
    assert amount in run_head.lines(run, {}, 200)[-1].text


def test_a_timer_that_sees_nothing_gives_no_interval_and_no_error() -> None:
    def workers(_job: dict[str, Any]) -> Answer:
        return measured([0] * 20, [3] * 20, steady_from=5)

    run = execute(*begin(["py"], stop="precision:1%:1ms"), executor=each(workers))
    assert (run["py"].forward.estimate_ns, run["py"].forward.ci_low_ns, run["py"].forward.ci_method) == (0, None, None)
    assert run["py"].backward.estimate_ns == pytest.approx(3)
    assert (run.plan.precision, run.plan.stopped_by) == (None, "time")


def test_a_process_without_the_phases_of_the_others_is_a_failure(workers: Workers) -> None:
    plan, run = begin(["py"], processes=3)
    workers.instead[1] = measured([5] * 20, None, steady_from=5)
    run = execute(plan, run, executor=each(workers))
    assert run["py"].reason == "process 2, after 1 that did not: it has no backward, unlike process 1"
    assert (run.plan.stopped_by, [one.status for one in run["py"].processes]) == (None, ["ok", "failed"])


@pytest.mark.parametrize("version", ["9.9", ["9.9"], None])
def test_a_process_with_another_torch_is_a_failure(workers: Workers, version: object) -> None:
    plan, run = begin(["py"], processes=2)
    answer = measured([5] * 20, [5] * 20, steady_from=5)
    workers.instead[1] = replace(answer, content={**answer.content, "torch_version": version})
    run = execute(plan, run, executor=each(workers))
    if isinstance(version, str):
        known = FACTS.torch_version
        assert run["py"].reason == f"process 2, after 1 that did not: it has torch 9.9, and the run began with {known}"
    else:
        # An answer that a runner has made itself.
        assert run["py"].reason is None


def test_a_process_with_another_torchvision_is_a_failure(workers: Workers) -> None:
    plan, run = begin(["py"], processes=3)
    answer = measured([5] * 20, [5] * 20, steady_from=5)
    for index, version in enumerate(["0.1", "0.1", "0.2"]):
        workers.instead[index] = replace(answer, content={**answer.content, "torchvision_version": version})
    run = execute(plan, run, executor=each(workers))
    reason = "process 3, after 2 that did not: it has torchvision 0.2, and the row began with 0.1"
    assert run["py"].reason == reason


@pytest.mark.parametrize(
    ("times", "added", "why"),
    [
        ([5], {"slices": [0, 3, 9]}, "slices has 3 turns, and plan.turns is None"),
        ([5], {"status": "failed", "slices": [0, 3, 9]}, "slices has 3 turns, and plan.turns is None"),
        # As a float, it is the limit itself.
        ([2**62 - 1], {}, "forward.estimate_ns is 4.611686018427388e+18, not a time of less than 2⁶² ns"),
        ([1, 5, 2**61], {}, "forward.ci_high_ns is"),
    ],
    ids=["turns", "turns of a failure", "time", "interval"],
)
def test_an_answer_that_no_reader_would_accept_is_a_failure(times: list[int], added: dict[str, Any], why: str) -> None:
    """The run file would be damaged for all rows."""
    plan, run = begin(["cudnn", "py"], processes=3)
    forged = (measured([5] + [one] * 19, [5] * 20) for one in times)

    def workers(job: dict[str, Any]) -> Answer:
        if job["runner"] != "py":
            return measured([7] * 20, [7] * 20)
        answer = next(forged)
        return replace(answer, content={**answer.content, "timed_loop_ns": None, **added})

    done = execute(plan, run, executor=each(workers))
    run = Run.from_text(done.to_json(), "run.json")
    assert (run["cudnn"].status, run["py"].status, run["py"].forward) == ("ok", "failed", None)
    failed = run["py"].processes[-1]
    assert failed.reason.startswith(f"the result of its worker is damaged: {why}")
    assert (failed.index, failed.forward_ns, failed.slices) == (len(times) - 1, [], None)
    assert failed.session == run.sessions[-1].session_id
    assert failed.started_utc is not None


def test_time_that_does_not_fit_into_the_timeout_is_refused() -> None:
    with pytest.raises(UsageError, match=r"1800 s \(timeout\)|1800 s, and a process measures for up to 1800 s"):
        begin(stop="time:30m", processes=2)


REFUSED = {
    "steady_from": "steady_from is 99, and forward_ns has ",
    "empty": "steady_from is 5, and forward_ns has 0 samples",
    "short": "backward_ns has ",
    "negative": "forward_ns[0] is -1, not a time from 0 to 2⁶² ns",
    "huge": "forward_ns[0] is 1180591620717411303424, not a time",
}


def test_a_changed_file_is_not_resumed(workers: Workers) -> None:
    part, now = interrupted(workers, 4), begin(processes=3)
    (first, *others), process = part.results, part.results[0].processes[0]
    changed = {
        "steady_from": replace(process, steady_from=99),
        "empty": replace(process, forward_ns=[], backward_ns=[]),
        "short": replace(process, backward_ns=process.backward_ns[1:]),
        "negative": replace(process, forward_ns=[-1, *process.forward_ns[1:]]),
        "huge": replace(process, forward_ns=[1 << 70, *process.forward_ns[1:]]),
    }
    for name, other in changed.items():
        results = [replace(first, processes=[other, *first.processes[1:]]), *others]
        with pytest.raises(UsageError) as raised:
            resumed(replace(part, results=results), *now)
        assert f"results[0].processes[0].{REFUSED[name]}" in raised.value.message
    for results in ([first, first], [replace(first, runner="aten"), *others]):
        with pytest.raises(UsageError, match=r"results\[[01]\]"):
            resumed(replace(part, results=results), *now)


def test_what_was_said_of_the_first_part_stays(workers: Workers) -> None:
    busy = RunWarning(code="machine_busy", message="busy then", evidence="9", hint=None)
    _, run = begin(processes=3)
    part = interrupted(workers, 4, run=replace(run, warnings=[busy, *run.warnings]))
    done = execute(*resumed(part, *begin(processes=3)), executor=each(workers))
    assert busy in done.warnings
    assert len({(one.code, one.message) for one in done.warnings}) == len(done.warnings)


def test_warnings_about_samples_in_other_words_are_replaced(workers: Workers) -> None:
    """Another build may have worded the warnings of the first part."""
    part = interrupted(workers, 4, run=begin(processes=3)[1])
    stored = [replace(one, message="other words") for one in part.warnings]
    assert {one.code for one in stored} & {"one_process", "two_processes"}
    done = execute(*resumed(replace(part, warnings=stored), *begin(processes=3)), executor=each(workers))
    assert not {"one_process", "two_processes"} & {one.code for one in done.warnings}


def test_rows_are_told_when_a_run_is_cut_short(workers: Workers) -> None:
    told: list[str] = []

    class Listener(Silent):
        def runner_ends(self, result: Result) -> None:
            told.append(result.runner)

    plan, run = begin(processes=3)
    workers.instead[5] = KeyboardInterrupt()
    with pytest.raises(Interrupted):
        execute(plan, run, observer=Listener(), executor=each(workers))
    assert sorted(told) == sorted(NAMES)


def test_one_side_of_two_is_not_measured_alone(workers: Workers) -> None:
    plan, run = begin(["cudnn", "py"], processes=10)
    sides = [replace(task, side=side) for task, side in zip(plan.tasks, "ab", strict=True)]
    workers.instead[2] = Answer({}, "died", "gone", "")
    run = execute(replace(plan, tasks=sides, design="pairs"), run, executor=each(workers))
    assert len(workers.started) <= 4
    assert run.status == "failed"


def test_every_process_is_saved_before_the_next_begins(workers: Workers) -> None:
    plan, run = begin(processes=2)
    saved: list[int] = []

    def save(one: Run) -> None:
        saved.append(sum(len(result.processes) for result in one.results))

    execute(plan, run, save=save, executor=each(workers))
    assert saved == [0, 1, 2, 3, 4, 5, 6, 6]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"processes": 4}, "plan.processes was 3 and is 4 now"),
        ({"stop": "count:7"}, "plan.stop.parameters"),
    ],
)
def test_another_plan_is_not_resumed(workers: Workers, change: dict[str, Any], named: str) -> None:
    part = interrupted(workers, 1)
    with pytest.raises(UsageError, match=named):
        resumed(part, *begin(**{"processes": 3, **change}))


def test_another_machine_torch_or_program_does_not_go_on(workers: Workers) -> None:
    part, (plan, fresh) = interrupted(workers, 1), begin(processes=3)
    busy = replace(fresh.environment, load_average_1m=31.0)
    assert resumed(part, plan, replace(fresh, environment=busy))
    for key, value in {"torch_version": "9.9", "cpu_model": "another", "num_threads": 7}.items():
        other = replace(fresh, environment=replace(fresh.environment, **{key: value}))
        with pytest.raises(UsageError, match=f"environment.{key} was"):
            resumed(part, plan, other)
    with pytest.raises(UsageError, match=r"tool.version was"):
        resumed(part, plan, replace(fresh, tool=replace(fresh.tool, version="0")))
    # Machines of one model have equal environments.
    here = replace(part, sessions=[replace(one, machine_id="here") for one in part.sessions])
    for machine in ("here", None):
        assert resumed(here, plan, replace(fresh, sessions=[replace(fresh.sessions[0], machine_id=machine)]))
    with pytest.raises(UsageError, match="it began on another machine"):
        resumed(here, plan, replace(fresh, sessions=[replace(fresh.sessions[0], machine_id="there")]))
    with pytest.raises(UsageError, match="'complete'"):
        resumed(replace(part, status="complete"), plan, fresh)


@pytest.mark.parametrize(
    "error",
    [BlockingIOError(errno.EAGAIN, "no process"), FastrnnsError("cannot create temporary folder", "Set TMPDIR.")],
)
def test_a_worker_that_cannot_be_started_costs_its_own_row(workers: Workers, error: Exception) -> None:
    plan, fresh = begin(processes=3)
    workers.instead[1] = error
    run = execute(plan, fresh, executor=each(workers))
    failed = [one for one in run.results if one.status == "failed"]
    assert [one.runner for one in failed] == [workers.started[1]]
    assert str(failed[0].reason).startswith(("the system has no more processes", "cannot create temporary folder"))
    assert sorted(len(one.processes) for one in run.results) == [1, 3, 3]
