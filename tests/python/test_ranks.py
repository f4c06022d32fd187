"""Ranks of `torchrun`, pretended and without torch: what they are told, what they agree on, and who is to blame."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
import pytest
from conftest import FACTS, run_cli
from pretended_workers import measured

from fastrnns_rs.cli import bench
from fastrnns_rs.cli.options import PAGE
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.errors import FastrnnsError, MissingError, UsageError
from fastrnns_rs.machine import environment
from fastrnns_rs.processes.launcher import Start
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.runners.plan import Choice, Options
from fastrnns_rs.verbs.bench import rank_group
from fastrnns_rs.verbs.bench.bench_plan import BenchPlan, plan_bench
from fastrnns_rs.verbs.bench.effort import Effort
from fastrnns_rs.verbs.bench.execution import Interrupted, execute
from fastrnns_rs.verbs.bench.plan_sync import agreed
from fastrnns_rs.verbs.bench.rank_group import RankGroup
from fastrnns_rs.verbs.bench.run_init import new_run
from fastrnns_rs.verbs.bench.torchrun import World, world
from fastrnns_rs.views import output_stream
from fastrnns_rs.worker import rank_channel

VARIABLES = {
    "TORCHELASTIC_RUN_ID": "none",
    "RANK": "1",
    "WORLD_SIZE": "2",
    "LOCAL_RANK": "1",
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "29500",
    "TORCHELASTIC_USE_AGENT_STORE": "True",
}
FIRST = World(rank=0, size=2, local_rank=0, node=0, address="127.0.0.1", port=29500, attempt=0, hosted=True)
GOOD = measured([1_000_000] * 20, None, steady_from=5)
FAILED = Answer({"status": "failed", "reason": "it broke"}, "answered", "it broke", "")


def begin(names: tuple[str, ...] = ("cudnn", "aten"), **effort: Any) -> tuple[BenchPlan, Run]:
    options = Options(choice=Choice(groups=(), names=names), quick=True, device="cpu")
    plan = plan_bench(options, Effort(**{"processes": 3, **effort}), FACTS, Setting())
    return plan, new_run(plan, environment.describe(FACTS, Setting()), ["test"])


def test_names_of_a_rank_are_no_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each start has a random folder, so that no run had earlier sessions."""
    for name, value in {**VARIABLES, "TORCHELASTIC_ERROR_FILE": "/tmp/x/error.json", "TRITON_INTERPRET": "1"}.items():
        monkeypatch.setenv(name, value)
    found = environment.describe(FACTS, Setting()).variables
    assert not [name for name in found if name.startswith("TORCHELASTIC_")]
    assert found["TRITON_INTERPRET"] == "1"


class Pretended(RankGroup):
    """Rank 0, and others that tell what a test says."""

    def __init__(self, others: list[Any]) -> None:
        self.world = replace(FIRST, size=1 + len(others))
        self.others = others
        self.encode_job: list[str] = []
        self._measured = 0
        self._place = "1"
        self._clock = 0.0

    def exchange(self, name: str, mine: Any, timeout_s: float = 0.0) -> list[Any]:  # noqa: ARG002
        self.encode_job.append(name)
        self._clock += 1.0
        others = [other(mine) if callable(other) else other for other in self.others]
        return [mine, *({"task": mine.get("task"), **one} for one in others)]


def tells(one: Answer, *, waited: bool = False) -> dict[str, Any]:
    return {"answer": asdict(one), "waited": waited, "well": one is GOOD}


def test_what_torchrun_tells() -> None:
    found = world(VARIABLES)
    assert found == replace(FIRST, rank=1, local_rank=1)
    assert not found.leads
    assert world({"RANK": "1", "WORLD_SIZE": "2"}) is None
    assert replace(FIRST, attempt=2).meeting("process/3")["name"] == "fastrnns-rs/2/process/3"
    assert replace(FIRST, hosted=False).meeting()["hosts"] is True


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RANK", "-1"),
        ("RANK", "one"),
        ("WORLD_SIZE", "9" * 5000),
        ("MASTER_ADDR", ""),
        ("LOCAL_RANK", ""),
    ],
)
def test_variables_that_make_no_sense(name: str, value: str) -> None:
    told = re.escape(f"{value!r} ({name})") if value else f"missing variable: {name}"
    with pytest.raises(UsageError, match=told) as raised:
        world({**VARIABLES, name: value})
    assert "torchrun" in raised.value.hint


@pytest.mark.parametrize(
    ("name", "value", "limits"), [("RANK", 2, "0 to 1"), ("WORLD_SIZE", 0, "1"), ("MASTER_PORT", 65536, "1 to 65535")]
)
def test_numbers_out_of_range_name_the_range(name: str, value: int, limits: str) -> None:
    with pytest.raises(UsageError) as raised:
        world({**VARIABLES, name: str(value)})
    assert raised.value.what == f"out of range: {value}"
    assert raised.value.where == name
    assert raised.value.reason.endswith(f" {limits}")


def test_what_ranks_have_no_use_for_is_refused(tmp_path: Path) -> None:
    begin()[1].save(tmp_path / "run.json")
    for words, what in (
        (["ab", "cudnn", "aten"], "ab"),
        (["bench", "--devices", "cpu"], "--devices"),
        (["bench", "--quick", "--resume", tmp_path / "run.json"], "--resume"),
    ):
        done = run_cli(*words, **VARIABLES)
        assert (done.status, done.stdout) == (2, "")
        assert f"{what} does not work under torchrun" in done.stderr


def test_ranks_that_do_not_lead_print_errors_only_and_open_no_page(
    anywhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (anywhere / "page.html").write_text("<p>An earlier page.</p>")
    (anywhere / "pyproject.toml").write_text('[tool.fastrnns-rs.bench]\nrun-file = "run.json"\nquiet = true\n')
    opens: list[bool] = []

    def keep(*_: object, **__: object) -> int:
        opens.append(PAGE in click.get_current_context().meta)
        return 0

    monkeypatch.setattr(bench, "_keep_and_measure", keep)
    words = ["bench", "cudnn", "--output", "page.html", "--open", "--device", "cpu"]
    for rank in ("0", "1"):
        done = run_cli(*words, **{**VARIABLES, "RANK": rank}, BROWSER="/bin/false")
        assert (done.status, done.stdout, bool(done.stderr)) == (0, "", rank == "0")
    assert opens == [True, False]


@pytest.mark.usefixtures("anywhere")
def test_a_rank_that_does_not_lead_needs_no_file_for_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "_keep_and_measure", lambda *_, **__: 0)
    monkeypatch.setattr(output_stream, "is_terminal", lambda _stream: True)
    words = ["bench", "cudnn", "--format", "html", "--device", "cpu"]
    assert run_cli(*words, "--open", **VARIABLES).status == 0
    assert run_cli(*words, **{**VARIABLES, "RANK": "0"}).status == 2


def test_a_rank_has_the_device_of_its_number() -> None:
    gpus = replace(FACTS, device="cuda", cuda_device_count=2)
    second = Pretended([])
    second.world = replace(FIRST, rank=1, local_rank=1)
    assert second.own_device(gpus, "auto").device == "cuda:1"
    assert second.own_device(replace(gpus, device="cuda:0"), "cuda:0").device == "cuda:0"
    assert second.own_device(FACTS, "auto").device == "cpu"
    with pytest.raises(MissingError, match=r"'cuda:1' \(rank 1\): this machine has 1 CUDA device\.") as caught:
        second.own_device(replace(gpus, cuda_device_count=1), "cuda")
    # Its script or module, and its other options, are not known here.
    assert caught.value.hint == "Start torchrun again with --nproc-per-node 1."


def test_ranks_take_order_and_time_of_rank_0() -> None:
    mine: list[dict[str, Any]] = []

    def leader(told: dict[str, Any]) -> dict[str, Any]:
        mine.append(told)
        return {**told, "order_seed": 77, "seconds": 1.25, "rank": {**told["rank"], "rank": 1}}

    crowd = Pretended([leader])
    plan, run = begin(processes=None)
    # As the second of the two sees it: what the other tells comes first.
    crowd.exchange = lambda _name, told, **_more: [leader(told), told]  # type: ignore[method-assign]
    agreed_plan, agreed_run = agreed(crowd, plan, run)
    assert (agreed_plan.order_seed, agreed_plan.loop.seconds) == (77, 1.25)
    assert (agreed_run.plan.order_seed, len(agreed_run.ranks)) == (77, 2)
    assert not {"ranks_differ", "several_machines"} & {one.code for one in agreed_run.warnings}


def test_ranks_that_were_asked_for_different_things_are_refused() -> None:
    def other(told: dict[str, Any]) -> dict[str, Any]:
        return {**told, "plan": {**told["plan"], "plan.processes": 9}}

    with pytest.raises(UsageError, match=r"plan\.processes is 3 at rank 0 and 9 at rank 1"):
        agreed(Pretended([other]), *begin())


def test_other_software_and_machines_are_warnings() -> None:
    def other(sent: dict[str, Any]) -> dict[str, Any]:
        return {**sent, "environment": {**sent["environment"], "environment.torch_version": "2.11"}, "host": "b"}

    _plan, run = agreed(Pretended([other]), *begin())
    warnings = {one.code: one.evidence for one in run.warnings}
    assert warnings["ranks_differ"] == f"rank 1: environment.torch_version 2.11, not {FACTS.torch_version}"
    assert warnings["several_machines"] == "2 machines"


def test_another_file_of_a_rank_is_a_warning() -> None:
    def other(sent: dict[str, Any]) -> dict[str, Any]:
        return {**sent, "environment": {**sent["environment"], "source of aten": "another"}}

    _plan, run = agreed(Pretended([other]), *begin())
    assert [one.evidence.partition("another")[0] for one in run.warnings if one.code == "ranks_differ"] == [
        "rank 1: source of aten "
    ]


@pytest.mark.parametrize("change", ["runner", "problem"])
def test_ranks_that_measure_different_things_end(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rank gives a runner up by itself, if its file has changed there."""
    monkeypatch.setattr(rank_group, "launch", lambda _start: GOOD)

    def other(mine: dict[str, Any]) -> dict[str, Any]:
        name, problem = mine["task"]
        return {
            **tells(GOOD),
            "task": ["aten", problem] if change == "runner" else [name, {**problem, "seq_length": 9}],
        }

    with pytest.raises(FastrnnsError, match="different runners of ranks: 'cudnn' at rank 0"):
        execute(*begin(("cudnn",)), rank_group=Pretended([other]))


def test_a_run_of_ranks_counts_indices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_group, "launch", lambda _start: GOOD)
    slow = measured([4_000_000] * 20, None, steady_from=5)
    # Its machine may have another torch.
    slow.content["torch_version"] = "9.9"
    crowd = Pretended([{**tells(slow), "well": True}])
    run = execute(*begin(("cudnn",)), rank_group=crowd)
    row = run["cudnn"]
    assert [(one.index, one.rank, one.order) for one in row.processes] == [
        (index, rank, 2 * index + rank) for index in range(3) for rank in (0, 1)
    ]
    assert (row.forward.n_processes, row.forward.estimate_ns) == (3, pytest.approx(2_000_000))
    # Each index meets under a name of its own: keys of the one before are stale.
    assert crowd.encode_job == ["process/0", "process/1", "process/2"]


def test_ranks_stop_by_precision_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_group, "launch", lambda _start: GOOD)
    run = execute(*begin(("cudnn",), stop="precision:1%"), rank_group=Pretended([tells(GOOD)]))
    assert run.plan.stopped_by == "precision"
    assert len(run["cudnn"].processes) == 2 * run["cudnn"].forward.n_processes >= 2 * 5
    # The time is that of rank 0: the clock moves by a second with each exchange, and the limit is three.
    wobbly = iter(range(1000))

    def launched(_start: object) -> Answer:
        return measured([1_000_000 * (1 + next(wobbly) % 3)] * 20, None, steady_from=5)

    monkeypatch.setattr(rank_group, "launch", launched)
    run = execute(*begin(("cudnn",), stop="precision:1%:3s"), rank_group=Pretended([tells(GOOD)]))
    assert (run.plan.stopped_by, run["cudnn"].forward.n_processes) == ("time", 5)


@pytest.mark.parametrize("last", ["wait", "measure"])
def test_a_rank_that_waited_is_not_to_blame(last: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def launched(start: Start) -> Answer:
        start.terms.on_phase(last)
        return Answer({}, "timed_out", "no result after 5 s", "")

    monkeypatch.setattr(rank_group, "launch", launched)
    hung = Answer({}, "timed_out", "no result after 5 s", "")
    row = execute(*begin(("cudnn",)), rank_group=Pretended([tells(hung)]))["cudnn"]
    blamed = 1 if last == "wait" else 0
    assert (row.status, row.reason) == ("timed_out", f"rank {blamed}: no result after 5 s")
    assert row.processes[0].status == ("interrupted" if last == "wait" else "timed_out")
    # Where all wait, for a store that is not there, it is their failure: it would be tried again without end.
    row = execute(*begin(("cudnn",)), rank_group=Pretended([tells(hung, waited=True)]))["cudnn"]
    assert row.status == "timed_out"


def test_a_rank_that_failed_ends_its_runner_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_group, "launch", lambda _start: GOOD)
    fates = iter([tells(FAILED), *[tells(GOOD)] * 3])
    run = execute(*begin(order_seed=1), rank_group=Pretended([lambda _mine: next(fates)]))
    assert sorted(one.status for one in run.results) == ["failed", "ok"]
    assert next(one for one in run.results if one.status == "failed").reason == "rank 1: it broke"


@pytest.mark.parametrize("during", ["launch", "exchange"])
def test_ctrl_c_keeps_what_this_rank_measured(during: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = iter(range(10))
    crowd = Pretended([tells(GOOD)])

    def launched(_start: object) -> Answer:
        second = next(calls) == 1
        return replace(GOOD, ended="interrupted", reason="interrupted") if second and during == "launch" else GOOD

    def exchanged(mine: object) -> object:
        if len(crowd.encode_job) == 2:
            raise KeyboardInterrupt
        return tells(GOOD)

    monkeypatch.setattr(rank_group, "launch", launched)
    crowd.others = [exchanged]
    with pytest.raises(Interrupted) as stopped:
        execute(*begin(("cudnn",)), rank_group=crowd)
    row = stopped.value.run["cudnn"]
    found = [(one.index, one.rank, one.status) for one in row.processes]
    assert found == [(0, 0, "ok"), (0, 1, "ok"), (1, 0, "interrupted")]
    assert row.forward.n_processes == 1


def test_a_channel_that_ends_is_an_error_that_names_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_group, "_CHANNEL_MODULE", "fastrnns_rs.no_such_module")
    crowd = RankGroup(FIRST)
    try:
        with pytest.raises(FastrnnsError, match=r"rank 0 .*: 127\.0\.0\.1:29500"):
            crowd.exchange("hello", 1)
    finally:
        crowd.close()


@pytest.mark.parametrize("printed", ["hello", '{"messages": 1', "[1]", '{"kind": "phase"}'])
def test_lines_that_are_no_replies_are_skipped(printed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Startup code of the interpreter, such as `sitecustomize`, may print."""

    class Channel:
        ended = False

        def write(self, _line: bytes) -> None:
            """Takes the message."""

        def read_lines(self, _timeout: float) -> bytes:
            chunks = [f"{printed}\n", f'{printed}\n{{"messages": [{{"clock": 3.0, "value": 7}}], "place": "1"}}\n']
            self.read = getattr(self, "read", -1) + 1
            return chunks[self.read].encode()

    monkeypatch.setattr(rank_group, "started", lambda _command, _environment: Channel())
    assert RankGroup(FIRST).exchange("hello", 1) == [7]


def test_each_command_has_a_part_of_the_store() -> None:
    torch = pytest.importorskip("torch")
    shared = torch.distributed.HashStore()
    (first, one), (second, two) = (rank_channel.own_part(shared, rank=1) for _ in range(2))
    assert (one, two) == ("1", "2")
    assert rank_channel.own_part(shared, rank=0)[1] == "1"
    first.set("answer", "of the first command")
    assert not second.check(["answer"])
