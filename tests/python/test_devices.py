"""`--devices`, with pretended devices and workers: which rows there are, in which turns they run, what is refused."""

from __future__ import annotations

import signal
import sys
import threading
import time
from dataclasses import replace
from typing import Any

import pytest
from conftest import FACTS, run_cli
from pretended_workers import measured
from processes import left_of

from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.errors import MissingError, UsageError
from fastrnns_rs.machine import environment
from fastrnns_rs.machine.facts import Facts
from fastrnns_rs.processes import launcher
from fastrnns_rs.processes.launcher import Start, launch_together
from fastrnns_rs.processes.listener import Answer, Terms
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.runners.plan import Choice, Options
from fastrnns_rs.verbs.bench import preparation
from fastrnns_rs.verbs.bench.bench_plan import BenchPlan, plan_bench
from fastrnns_rs.verbs.bench.effort import Effort
from fastrnns_rs.verbs.bench.execution import Interrupted, execute
from fastrnns_rs.verbs.bench.resumption import resumed
from fastrnns_rs.verbs.bench.run_init import new_run
from fastrnns_rs.verbs.compare.conditions import hash_setting
from fastrnns_rs.views.run import run_head

GPU = {"name": "a card", "uuid": "GPU-0", "compute_capability": "9.0", "memory_total_bytes": 1 << 30}
GPUS = replace(
    FACTS,
    cuda_device_count=2,
    device="cuda:0",
    no_cuda_reason=None,
    gpus=[{**GPU, "index": 0}, {**GPU, "index": 1, "uuid": "GPU-1"}],
)
BOTH = ("cuda:0", "cuda:1")


class Turns:
    """Answers for the workers of a turn, and keeps who ran with whom."""

    def __init__(self) -> None:
        self.turns: list[list[tuple[str, str]]] = []
        self.failing: set[tuple[str, str]] = set()
        self.interrupt_at: int | None = None

    def together(self, starts: list[Start]) -> list[Answer]:
        turn = [(start.job["runner"], start.job["problem"]["device"]) for start in starts]
        self.turns.append(turn)
        if len(self.turns) - 1 == self.interrupt_at:
            return [measured([1000] * 20, None, steady_from=5), Answer({}, "interrupted", "interrupted", "")]
        return [self._one(one) for one in turn]

    def _one(self, what: tuple[str, str]) -> Answer:
        if what in self.failing:
            return Answer({"status": "failed"}, "answered", "it broke", "")
        slow = 2 if what[1] == "cuda:1" else 1
        return measured([slow * (1_000_000 + len(self.turns))] * 20, None, steady_from=5)


@pytest.fixture
def turns() -> Turns:
    return Turns()


def begin(names: tuple[str, ...] = ("cudnn", "aten"), **effort: Any) -> tuple[BenchPlan, Run]:
    options = Options(choice=Choice(groups=(), names=names), quick=True)
    asked = Effort(**{"order_seed": 3, "devices": BOTH, "processes": 3, **effort})
    plan = plan_bench(options, asked, GPUS, Setting(), [replace(GPUS, device="cuda:1")])
    return plan, new_run(plan, environment.describe(GPUS, Setting()), ["test"])


@pytest.mark.parametrize("side_by_side", [False, True])
def test_each_runner_has_a_row_on_each_device(turns: Turns, *, side_by_side: bool) -> None:
    run = execute(*begin(side_by_side=side_by_side), executor=turns.together)
    assert [one.title for one in run.results] == [f"{name} on {one}" for name in ("cudnn", "aten") for one in BOTH]
    assert {one.forward.n_processes for one in run.results} == {3}
    # Each round has each of them once; side by side a turn is one runner on every device.
    devices, count = ([*BOTH], 6) if side_by_side else (None, 12)
    assert len(turns.turns) == count
    assert all(devices in (None, [device for _, device in turn]) for turn in turns.turns)
    assert all(len({name for name, _ in turn}) == 1 and (side_by_side or len(turn) == 1) for turn in turns.turns)
    for first in range(0, count, count // 3):
        assert len({tuple(turn) for turn in turns.turns[first : first + count // 3]}) == count // 3
    assert (run.status, run.plan.devices, run.plan.side_by_side) == ("complete", list(BOTH), side_by_side)
    assert sorted(process.order for one in run.results for process in one.processes) == list(range(12))
    on_first, on_second = (one.forward.estimate_ns for one in run.results[:2])
    assert on_second == pytest.approx(2 * on_first, rel=1e-4)


def test_tables_and_words_tell_devices_apart(turns: Turns) -> None:
    plan, run = begin()
    assert run_head.lines(run, {}, 200)[-1].text.startswith("cuda:0, cuda:1")
    done = execute(plan, run, executor=turns.together)
    assert [task.label for task in plan.tasks][:2] == ["cudnn on cuda:0", "cudnn on cuda:1"]
    for name in ("cudnn on cuda:1", "aten on cuda:0"):
        assert all(name in done.render(form) for form in ("table", "markdown", "oss", "pep"))
    assert Run.from_dict(done.to_dict()) == done


def test_a_device_that_fails_drops_out(turns: Turns) -> None:
    turns.failing = {("cudnn", "cuda:1")}
    run = execute(*begin(("cudnn",), side_by_side=True), executor=turns.together)
    assert [len(turn) for turn in turns.turns] == [2, 1, 1]
    assert [(one.status, one.reason) for one in run.results] == [("ok", None), ("failed", "it broke")]


def test_by_precision_no_device_goes_on_alone(turns: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    levels = iter(range(1000))

    def one(what: tuple[str, str]) -> Answer:
        # The second device is never as precise as is asked for, until its tenth process.
        wobble = 1 + 0.05 * (next(levels) % 4) if what[1] == "cuda:1" and len(turns.turns) < 10 else 1
        return measured([round(1_000_000 * wobble)] * 20, None, steady_from=5)

    monkeypatch.setattr(turns, "_one", one)
    execute(*begin(("cudnn",), side_by_side=True, stop="precision:1%"), executor=turns.together)
    assert len(turns.turns) > 5
    assert all(len(turn) == 2 for turn in turns.turns)


def test_an_interrupted_turn_is_kept_and_gone_on_with(turns: Turns) -> None:
    turns.interrupt_at = 1
    plan, fresh = begin(("cudnn",), side_by_side=True)
    with pytest.raises(Interrupted) as stopped:
        execute(plan, fresh, executor=turns.together)
    run = stopped.value.run
    assert run.status == "interrupted"
    statuses = [[process.status for process in one.processes] for one in run.results]
    assert statuses == [["ok", "ok"], ["ok", "interrupted"]]
    turns.interrupt_at = None
    again, new = begin(("cudnn",), side_by_side=True)
    done = execute(*resumed(run, again, new), executor=turns.together)
    assert [one.forward.n_processes >= 3 for one in done.results] == [True, True]
    with pytest.raises(UsageError, match=r"plan.side_by_side was True and is False now"):
        resumed(run, *begin(("cudnn",)))


@pytest.mark.parametrize(
    ("given", "message"),
    [([], "missing value: `devices`"), ("cuda:0", "'cuda:0' .devices"), ([1], "1 .device")],
)
def test_lists_that_make_no_sense(given: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Effort(devices=given)


def test_a_device_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "probe", lambda *_, **__: GPUS)
    found = preparation.collect_facts(Options(), ["cuda:0", "cuda:7"], Setting())
    assert [one.device for one in found] == ["cuda:0", None]
    with pytest.raises(MissingError, match="'cuda:7' .device.: this machine has 2 CUDA devices"):
        plan_bench(Options(), Effort(devices=["cuda:0", "cuda:7"]), found[0], Setting(), found[1:])


def test_devices_of_one_kind_are_asked_about_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def probe(device: str, *_more: object, **_settings: object) -> Facts:
        asked.append(device)
        other = [{**GPU, "name": "another", "index": 2}]
        return replace(GPUS, device=device, cuda_device_count=3, gpus=[*GPUS.gpus, *other])

    monkeypatch.setattr(environment, "probe", probe)
    found = preparation.collect_facts(Options(), ["cuda:0", "cuda:1", "cuda:2"], Setting())
    assert [one.device for one in found] == ["cuda:0", "cuda:1", "cuda:2"]
    assert asked == ["cuda:0", "cuda:2"]


def test_presets_of_a_cpu_and_a_gpu_do_not_mix() -> None:
    effort, further = Effort(devices=["cuda:0", "cpu"]), [replace(FACTS)]
    with pytest.raises(UsageError, match="different presets: .*upstream and cpu"):
        plan_bench(Options(), effort, GPUS, Setting(), further)
    plan = plan_bench(Options(quick=True), effort, GPUS, Setting(), further)
    assert plan.devices == ("cuda:0", "cpu")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--devices", "cpu,cpu"], "'cpu' (--devices)"),
        (["--devices", "cuda,cuda:0"], "'cuda:0' (--devices)"),
        (["--devices", "auto,cpu"], "'auto' (--devices)"),
        (["--devices", "coda"], "'coda' (--devices)"),
        (["--device", "cpu", "--devices", "cpu"], "--device and --devices exclude each other"),
        (["--side-by-side"], "--side-by-side needs 2 devices or more"),
        (["--side-by-side", "--devices", "cpu"], "--side-by-side needs 2 devices or more"),
    ],
)
def test_the_command_refuses_before_torch_is_asked(arguments: list[str], message: str) -> None:
    done = run_cli("bench", "--quick", *arguments)
    assert (done.status, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


#: Says when it began and when it ended, as a worker would; `hang` never does.
SCRIPT = """
import json, sys, time
job = json.loads(sys.stdin.readline())
begun = time.monotonic()
print(json.dumps({"kind": "phase", "name": "measure"}), flush=True)
if job["hang"]:
    assert sys.stdin.readline().strip() == "stop"
    print(json.dumps({"kind": "result", "status": "interrupted", "forward_ns": [7]}), flush=True)
    time.sleep(3600)
time.sleep(0.5)
print(json.dumps({"kind": "result", "status": "ok", "times": [begun, time.monotonic()]}), flush=True)
"""


def test_sessions_beside_another_number_of_devices_are_no_history() -> None:
    """A device beside one other counted as equal to the same device beside seven."""
    _, run = begin(side_by_side=True)
    eight = replace(run, plan=replace(run.plan, devices=[f"cuda:{number}" for number in range(8)]))
    alone = [replace(one, plan=replace(one.plan, side_by_side=False)) for one in (run, eight)]
    assert len({hash_setting(one, None) for one in (run, eight, *alone)}) == 3


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "_command", lambda _setting: [sys.executable, "-S", "-c", SCRIPT])


def started(mark: str, *kinds: str, timeout: float = 60.0) -> list[Answer]:
    setting = Setting(variables={"MARK": mark})
    terms = Terms(timeout=timeout)
    return launch_together([Start(job={"hang": one == "hangs"}, terms=terms, setting=setting) for one in kinds])


@pytest.mark.usefixtures("scripted")
def test_workers_run_at_the_same_time_and_only_the_late_one_times_out(mark: str) -> None:
    answers = started(mark, "answers", "answers", "hangs", timeout=4.0)
    assert [one.ended for one in answers] == ["answered", "answered", "timed_out"]
    (begun, ended), (other_begun, other_ended) = (one.content["times"] for one in answers[:2])
    assert max(begun, other_begun) < min(ended, other_ended)
    assert answers[2].content["forward_ns"] == [7]
    assert not left_of(mark)


@pytest.mark.usefixtures("scripted")
def test_ctrl_c_ends_all_workers_at_once(mark: str) -> None:
    threading.Timer(2.0, signal.raise_signal, (signal.SIGINT,)).start()
    begun = time.monotonic()
    answers = started(mark, "answers", "hangs", "hangs")
    assert time.monotonic() - begun < 2.0 + 10
    assert [one.ended for one in answers] == ["answered", "interrupted", "interrupted"]
    assert not left_of(mark)


@pytest.mark.usefixtures("scripted")
def test_ctrl_c_while_a_worker_has_its_last_moment_is_heard(mark: str) -> None:
    """The worker is late and told to stop: its answer says so, and not that somebody wants all to end."""
    threading.Timer(2.2, signal.raise_signal, (signal.SIGINT,)).start()
    with pytest.raises(KeyboardInterrupt):
        started(mark, "hangs", timeout=2.0)
