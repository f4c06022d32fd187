"""Which process checks which runner, and what is said of those that end theirs: with pretended workers."""

from __future__ import annotations

import errno
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from commands import run_with_facts
from conftest import FACTS
from verb_documents import verified

from fastrnns_rs import ModelDef, Problem
from fastrnns_rs.cli.exit_codes import ExitCode
from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.documents.verification import Verification
from fastrnns_rs.errors import RunnerError, UsageError
from fastrnns_rs.machine import environment
from fastrnns_rs.problem.problem import Sizes
from fastrnns_rs.processes.launcher import Start
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.plan import Choice, Options
from fastrnns_rs.verbs.verify import verification_run
from fastrnns_rs.verbs.verify.verification_plan import VerifyOptions, make_verification_plan
from fastrnns_rs.worker.jobs import verify as verify_job
from fastrnns_rs.worker.verification.references import find_reference
from fastrnns_rs.worker.verification.references.peer import compute_peer

Worker = Callable[[dict[str, Any], Callable[[dict[str, Any]], None]], Answer]
DONE = Answer({"status": "ok"}, "answered", None, "")


def row(name: str) -> dict[str, Any]:
    plain: dict[str, Any] = to_plain(verified(name))
    return plain


def verify(monkeypatch: pytest.MonkeyPatch, names: list[str], worker: Worker) -> tuple[Verification, list[list[str]]]:
    """A verification by a pretended worker, and which runners each of its processes was given."""
    given = []

    def launch(start: Start) -> Answer:
        given.append([one["runner"] for one in start.job["tasks"]])
        return worker(start.job, start.terms.on_part)

    monkeypatch.setattr(verification_run, "launch", launch)
    monkeypatch.setattr(environment, "probe", lambda *_, **__: FACTS)
    options = Options(choice=Choice(groups=[], names=names))
    return verification_run.verify(VerifyOptions(options=options)), given


def test_one_process_checks_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def worker(job: dict[str, Any], on_part: Callable[[dict[str, Any]], None]) -> Answer:
        on_part({})
        for one in job["tasks"]:
            on_part({"index": one["index"], "row": row(one["runner"])})
        return DONE

    found, given = verify(monkeypatch, ["cudnn", "py", "jit"], worker)
    assert found.ok
    assert given == [["cudnn", "py", "jit"]]
    assert found["py"].status == "ok"
    with pytest.raises(KeyError):
        found["nothing"]
    assert Verification.from_dict(found.to_dict()) == found


def test_the_next_process_goes_on_behind_the_runner_that_ended_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def worker(job: dict[str, Any], on_part: Callable[[dict[str, Any]], None]) -> Answer:
        for one in job["tasks"]:
            if one["runner"] == "py":
                return Answer({}, "timed_out", "no result after 5 s", "")
            on_part({"index": one["index"], "row": row(one["runner"])})
        return DONE

    found, given = verify(monkeypatch, ["cudnn", "py", "jit", "aten"], worker)
    assert given == [["cudnn", "py", "jit", "aten"], ["jit", "aten"]]
    assert [one.status for one in found.results] == ["ok", "failed", "ok", "ok"]
    assert found["py"].reason == "no result after 5 s"
    assert not found.ok
    table = found.render(view="checks")
    assert "no result after 5 s" in table
    assert "3 ok, 1 failed" in table
    with pytest.raises(UsageError, match=r"'tabel' \(format\)"):
        found.render("tabel")


def test_a_process_that_cannot_be_started_costs_its_own_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def worker(job: dict[str, Any], on_part: Callable[[dict[str, Any]], None]) -> Answer:
        one = job["tasks"][0]
        on_part({"index": one["index"], "row": row(one["runner"])})
        if len(job["tasks"]) > 1:
            raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
        return DONE

    found, _ = verify(monkeypatch, ["cudnn", "py", "jit"], worker)
    assert [one.status for one in found.results] == ["ok", "failed", "ok"]
    assert "Resource temporarily unavailable" in str(found["py"].reason)


def test_what_a_runner_writes_into_our_pipe_is_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def worker(job: dict[str, Any], on_part: Callable[[dict[str, Any]], None]) -> Answer:
        for content in ({"index": 7, "row": row("py")}, {"index": 0, "row": {"no": 1}}, {"row": 1}, {"index": 0}):
            on_part(content)
        for index in (0.0, False, [0], "0"):
            on_part({"index": index, "row": row("py")})
        on_part({"index": 0, "row": row("cudnn")})
        return DONE

    found, _ = verify(monkeypatch, ["py"], worker)
    assert [(one.runner, one.status, one.reason) for one in found.results] == [("py", "failed", "it was not checked")]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ok": False}, "result is ok, and result.checks[0] is not"),
        ({"max_absolute": float("inf")}, "checks[0].max_absolute is inf, not a number of at most 64 bits"),
        ({"tolerance_absolute": -1.0}, "result.checks[0].tolerance_absolute is -1, below 0"),
    ],
)
def test_a_row_that_no_document_may_have_is_a_failure_of_its_runner(
    changes: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound: dict[str, Any] = {"name": "output", "ok": True, "max_absolute": 0.0, "shape": [1], "expected_shape": [1]}
    sound |= {"max_relative": 0.0, "tolerance_absolute": 1.0, "tolerance_relative": 0.0, "worst_index": [0]}

    def worker(job: dict[str, Any], on_part: Callable[[dict[str, Any]], None]) -> Answer:
        for one in job["tasks"]:
            check = sound | (changes if one["runner"] == "py" else {})
            on_part({"index": one["index"], "row": row(one["runner"]) | {"checks": [check]}})
        return DONE

    found, _ = verify(monkeypatch, ["cudnn", "py", "jit"], worker)
    assert [one.status for one in found.results] == ["ok", "failed", "ok"]
    assert found["py"].reason == f"invalid result from its process: {message}"
    assert Verification.from_dict(json.loads(found.render("json"))) == found


def test_sizes_are_small_and_unlike_one_another_unless_given() -> None:
    def problem(sizes: Sizes, name: str) -> Any:
        return (
            make_verification_plan(Options(choice=Choice(groups=[], names=[name]), sizes=sizes), FACTS).tasks[0].problem
        )

    sizes = problem(Sizes(), "py").sizes()
    assert len({*sizes}) == len(sizes)
    assert problem(Sizes(), "py").num_layers == 2
    assert problem(Sizes(), "jit_simple").num_layers == 1
    assert problem(Sizes(num_layers=1, hidden_size=99), "py").sizes() == (12, 1, 10, 99, 3)
    assert problem(Sizes(), "resnet18").image_size == 33


def test_what_was_checked_before_ctrl_c_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def worker(job: dict[str, Any], part: Callable[[dict[str, Any]], None]) -> Answer:
        part({"index": job["tasks"][0]["index"], "row": row(job["tasks"][0]["runner"])})
        return Answer({}, "interrupted", "interrupted", "")

    with pytest.raises(verification_run.Interrupted) as stopped:
        verify(monkeypatch, ["py", "jit"], worker)
    assert isinstance(stopped.value, KeyboardInterrupt)
    found = stopped.value.verification
    assert [(one.runner, one.status) for one in found.results] == [("py", "ok"), ("jit", "interrupted")]
    # What was not checked is not right.
    assert not found.ok
    found.check()


def test_an_earlier_file_stays_if_nothing_was_checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(verification_run, "launch", lambda _: Answer({}, "interrupted", "interrupted", ""))
    output = tmp_path / "v.json"
    output.write_text("earlier")
    done = run_with_facts("verify", "py", "--json", "--output", output)
    assert (done.status, done.stdout, output.read_text()) == (ExitCode.INTERRUPTED, "", "earlier")
    done = run_with_facts("verify", "py", "--json")
    assert (done.status, [one["status"] for one in done.json()["results"]]) == (ExitCode.INTERRUPTED, ["interrupted"])


def test_references_among_our_runners_load_no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_plugins_wanted", True)
    monkeypatch.setattr(registry, "_load_plugins", Mock(side_effect=AssertionError("plug-ins are loaded")))
    assert find_reference(registry.find("resnet18_jit"))
    assert find_reference(replace(registry.find("py"), name="mine", reference="cudnn"))
    assert find_reference(replace(registry.find("py"), name="mine", reference="resnet18_jit"))


def test_a_reference_that_leads_back_is_none() -> None:
    first = replace(registry.find("py"), name="first", reference="second")
    second = replace(first, name="second", reference="first")
    known = {"first": first, "second": second}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "find", known.__getitem__)
        patch.setattr(registry, "all_runners", lambda: known)
        with pytest.raises(RunnerError, match="first → second → first"):
            find_reference(first)


@pytest.mark.parametrize("devices", [("cuda",), ("cpu", "cuda")])
def test_a_reference_for_cuda_only_is_built_there(devices: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []

    def creator(problem: Problem) -> ModelDef:
        built.append(problem.device)
        raise NotImplementedError

    other = replace(registry.find("py"), name="other", devices=devices, creator=creator)
    with pytest.raises(NotImplementedError):
        compute_peer(other, Problem(mini_batch=1, device="cuda"))
    assert built == ["cuda" if devices == ("cuda",) else "cpu"]


def test_a_backward_may_start_from_the_gradient_of_its_reference_in_its_own_dtype() -> None:
    """With `--amp` a module computes in bfloat16 what a function computes in float32."""
    weight = torch.ones(3, requires_grad=True)
    gradient = torch.tensor([0.1, 0.2, 0.3])

    def creator(_problem: Problem) -> ModelDef:
        return ModelDef(
            [], [weight], lambda: weight * 2, lambda result: (result, gradient), lambda one, start: one.backward(start)
        )

    expected = compute_peer(replace(registry.find("py"), creator=creator), Problem(mini_batch=1, amp=True))
    for dtype in (torch.float64, torch.bfloat16):
        assert expected.gradients(gradient.to(dtype)).keys() == {"0"}
    with pytest.raises(RunnerError, match="another gradient"):
        expected.gradients(gradient.bfloat16() * 2)


DOUBLED = """
import fastrnns_rs
@fastrnns_rs.runner({name!r}, reference={reference!r})
def create(problem):
    import torch
    weight = torch.ones(3, requires_grad=True)
    return fastrnns_rs.ModelDef(
        [weight], [weight], lambda x: x * 2, lambda y: (y, torch.ones(3)), lambda y, start: y.backward(start)
    )
"""


@pytest.mark.parametrize(("name", "reference"), [("mine_jit", "other"), ("other_jit", "eager")])
def test_a_reference_may_be_in_another_runner_file(
    name: str, reference: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text(DOUBLED.format(name="other", reference=None))
    (tmp_path / "b.py").write_text(DOUBLED.format(name=name, reference=reference))
    jobs: list[dict[str, Any]] = []
    monkeypatch.setattr(verification_run, "launch", lambda start: jobs.append(start.job) or DONE)
    run_with_facts("verify", "--runner-file", tmp_path / "a.py", "--runner-file", tmp_path / "b.py", "--rnns", name)
    # The command is over, and has left no runner in this process.
    assert not registry.is_known("other")
    monkeypatch.setattr(registry, "_runners", dict(registry.all_runners()))
    monkeypatch.setattr(sys, "path", [*sys.path])
    channel = Mock()
    verify_job.answer(jobs[0], channel, Mock())
    found = channel.part.call_args.args[0]["row"]
    assert (found["status"], found["reason"]) == ("ok", None)


def test_a_process_answers_for_no_runner_of_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other runner was right without a check: its process was never started."""
    for name in ("evil", "victim"):
        (tmp_path / f"{name}.py").write_text(DOUBLED.format(name=name, reference="cudnn"))
    started: list[str] = []

    def launch(start: Start) -> Answer:
        [task] = start.job["tasks"]
        started.append(task["runner"])
        if task["runner"] == "victim":
            return Answer({}, "died", "victim is broken", "")
        for index, name in enumerate(["evil", "victim"]):
            start.terms.on_part({"index": index, "row": row(name)})
        return DONE

    monkeypatch.setattr(verification_run, "launch", launch)
    files = [word for name in ("evil", "victim") for word in ("--runner-file", tmp_path / f"{name}.py")]
    done = run_with_facts("verify", *files, "--json", "--rnns", "evil", "victim")
    assert started == ["evil", "victim"]
    rows = [(one["runner"], one["status"], one["reason"]) for one in done.json()["results"]]
    assert rows == [("evil", "ok", None), ("victim", "failed", "victim is broken")]
    assert done.status == ExitCode.FAILED
