"""`scripts/gpu-check` on an emulated device, and what it does when something fails."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import Done, finished
from conftest import ROOT
from emulated_cuda import building
from emulated_cuda.machine import Machine
from gpu_check import children, command, iteration_counts, traces
from gpu_check.items import FAILED, NOT_RUN, OK, Item, NotRunError, Step
from gpu_check.session import Options, Session
from gpu_check.steps import STEPS, acceptance, comparison, gpu_tests

FEW = ("--quick", "--nloops", "2")


def checked(folder: Path, *arguments: str, machine: Machine | None = None) -> tuple[Done, dict[str, Any], str]:
    """Runs the script on an emulated device; returns its figures and its page."""
    variables = (machine or Machine(clock="real")).environment(folder / "machine")
    words = [sys.executable, str(ROOT / "scripts" / "gpu-check"), "--output", str(folder / "found"), *arguments]
    # The script ends at its own limit of 15 minutes.
    done = finished(words, cwd=folder, timeout_s=1200, **variables)
    figures = json.loads((folder / "found" / "gpu-check.json").read_text())
    return done, figures, (folder / "found" / "gpu-check.md").read_text()


def items(figures: dict[str, Any], title: str) -> dict[str, dict[str, Any]]:
    """The items of a section by name."""
    [section] = [one for one in figures["sections"] if one["title"] == title]
    return {one["name"]: one for one in section["items"]}


@pytest.mark.long("emulated")
def test_a_few_steps_on_an_emulated_device(tmp_path: Path) -> None:
    words = ("--steps", "comparison", "acceptance", "--models", "sleeping", "--runners", "cudnn", *FEW)
    done, figures, page = checked(tmp_path, *words)
    assert done.status == 0, done.stderr
    assert done.stdout == f"{tmp_path}/found/gpu-check.md\n"
    assert [one["status"] for one in figures["sections"]] == ["ok"] * 3
    assert figures["emulated"]
    assert figures["facts"]["devices"][0]["capability"] == "9.0"
    sleeping = items(figures, "Structure: real and emulated device")["sleeping"]["figures"]
    log = tmp_path / "found" / "logs" / "emulated-sleeping.log"
    assert sleeping["emulated"] == {kind: sleeping[kind] for kind in iteration_counts.KINDS}, log.read_text()
    assert (sleeping["events"], sleeping["synchronisations"]) == (4, 1)
    assert sleeping["backward_ns"] >= 4.5e6
    cudnn = items(figures, "Acceptance table")["cudnn"]
    assert (cudnn["status"], cudnn["figures"]["timing_mode"]) == ("ok", "cuda_events")
    assert "The device is **emulated**" in page
    assert "| `cudnn` | ok |" in page


@pytest.mark.long("emulated")
def test_everything_on_an_emulated_device(tmp_path: Path) -> None:
    """Within its budget; what needs a real device is not run, and named."""
    # Torch compiles nothing while operators are computed, so that tests of values are not run either.
    done, figures, _page = checked(tmp_path, *FEW, "--minutes", "15")
    statuses = {(one["title"], item["name"]): item for one in figures["sections"] for item in one["items"]}
    failed = {name: item["reason"] for name, item in statuses.items() if item["status"] == "failed"}
    assert (done.status, failed) == (0, {})
    assert figures["seconds"] < 15 * 60
    for name in ("nsys", "nvprof", "ncu"):
        assert statuses["Captures", name]["reason"] == "the device is emulated"


def test_without_a_device_nothing_else_is_run(tmp_path: Path) -> None:
    done, figures, page = checked(tmp_path, machine=Machine(clock="real", devices=0))
    assert done.status == 1
    assert [one["status"] for one in figures["sections"]] == ["failed"] + ["not run"] * (len(STEPS) - 1)
    assert items(figures, "Device and software")["torch"]["reason"] == "torch.cuda.is_available() is False"
    assert "no CUDA device that works" in page


def step(name: str, *found: Item | Exception) -> Step:
    def run(session: Session) -> Iterator[Item]:
        for one in found:
            if isinstance(one, Exception):
                raise one
            yield one

    return Step(name=name, title=name, needs_device=False, run=run)


def sections(folder: Path, *steps: Step, status: int) -> list[dict[str, Any]]:
    assert command.check(Options(budget_s=60, folder=folder), steps) == status
    found: list[dict[str, Any]] = json.loads((folder / "gpu-check.json").read_text())["sections"]
    return found


def test_a_step_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    fine = Item(name="fine", status=OK)
    broken = Item(name="a|b\x1b[31m", status=FAILED, reason="line <one>\nline `two", log="```\n\x1b[31mred\x07")
    steps = (step("first", fine, ValueError("odd")), step("second", broken), step("third", fine))
    first, second, third = sections(tmp_path, *steps, status=1)
    assert [one["status"] for one in (first, second, third)] == [FAILED, FAILED, OK]
    assert first["items"][1]["reason"] == "the check itself failed: ValueError: odd"
    page = (tmp_path / "gpu-check.md").read_text()
    assert "| `a\\|b` | failed |  |  | ``line <one> line `two`` |" in page
    # The output of a program closes no block and moves no cursor.
    assert "````text\n```\nred\\x07\n````" in page
    assert "\x1b" not in page


def test_what_is_not_run_is_no_failure(tmp_path: Path) -> None:
    [only] = sections(tmp_path, step("only", Item(name="late", status=NOT_RUN, reason="no time")), status=0)
    assert only["status"] == NOT_RUN


def test_ctrl_c_leaves_a_page(tmp_path: Path) -> None:
    def run(session: Session) -> Iterator[Item]:
        yield Item(name="fine", status=OK)
        raise KeyboardInterrupt

    steps = (Step(name="a", title="a", needs_device=False, run=run), step("b", Item(name="never", status=OK)))
    first, second = sections(tmp_path, *steps, status=130)
    assert [one["reason"] for one in (*first["items"], *second["items"])] == [None, "interrupted", "interrupted"]


def session(folder: Path, budget_s: float = 60, **options: Any) -> Session:
    return Session(Options(budget_s=budget_s, folder=folder, **options))


def test_a_child_that_hangs_is_ended_with_what_it_wrote(tmp_path: Path) -> None:
    code = "import subprocess, time; print('begun', flush=True); subprocess.run(['sleep', '600']); time.sleep(600)"
    ended = session(tmp_path).python("hangs", "-c", code, limit_s=1.5)
    assert (ended.status, ended.reason.startswith("time limit: ended after ")) == (None, True)
    assert ended.excerpt.startswith("begun")
    assert ended.seconds < 30


def test_a_spent_budget_starts_nothing(tmp_path: Path) -> None:
    with pytest.raises(NotRunError, match=r"the time budget of 0\.1 min is spent"):
        session(tmp_path, budget_s=6).python("late", "-c", "pass", limit_s=60)
    found = [*comparison.run(session(tmp_path, budget_s=6, models=["sleeping"]))]
    assert [(one.status, one.reason) for one in found] == [(NOT_RUN, "the time budget of 0.1 min is spent")]
    [tests] = gpu_tests.run(session(tmp_path, budget_s=6, test_names=["test_cuda_events"]))
    assert (tests.status, tests.reason) == (NOT_RUN, "the time budget of 0.1 min is spent")


def test_rows_of_a_bench_that_was_ended_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = {"runner": "cudnn", "status": "ok", "reason": None, "forward": {"estimate_ns": 5.0}, "backward": None}
    failed = {**done, "runner": "jit", "status": "failed", "reason": "out of memory"}
    ended = {**done, "runner": "py", "status": "failed", "reason": "interrupted"}
    log = tmp_path / "log"
    log.write_text(
        json.dumps({"runners": [{"name": one, "compiles": False} for one in ("cudnn", "jit", "py", "aten")]})
    )

    def fastrnns(self: Session, name: str, *_words: str, **_options: Any) -> Any:
        self.path("acceptance", "eager.json").write_text(json.dumps({"results": [done, failed, ended]}))
        return children.Ended(status=0 if name == "list" else None, seconds=150.0, log=log)

    monkeypatch.setattr(Session, "fastrnns", fastrnns)
    found = [(one.name, one.status, one.reason) for one in acceptance.run(session(tmp_path))]
    reason = "not measured when bench ended (time limit: ended after 150 s)"
    rest = [("py", NOT_RUN, reason), ("aten", NOT_RUN, reason)]
    assert found == [("cudnn", OK, None), ("jit", FAILED, "out of memory"), *rest]


def test_the_table_leaves_time_for_the_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    runners = [{"name": one, "compiles": "compile" in one} for one in ("compile_unrolled", "compile_cell", "cudnn")]
    log.write_text(json.dumps({"runners": runners}))
    limits: dict[str, float] = {}

    def fastrnns(self: Session, name: str, *_words: str, limit_s: float) -> Any:
        limits[name] = round(limit_s)
        row = {"runner": name.removeprefix("acceptance-"), "status": "timed_out", "reason": "compiling took long"}
        self.path("acceptance", f"{row['runner']}.json").write_text(json.dumps({"results": [row]}))
        return children.Ended(status=0, seconds=1.0, log=log)

    monkeypatch.setattr(Session, "fastrnns", fastrnns)
    names = ["compile_unrolled", "compile_cell", "cudnn"]
    found = [*acceptance.run(session(tmp_path, budget_s=610, runners=names))]
    # Those that compile come last; what ran into a limit of the check is no failure.
    assert [(one.name, one.status) for one in found[1:]] == [("compile_cell", NOT_RUN), ("compile_unrolled", NOT_RUN)]
    assert {name: limits[name] for name in limits if name != "list"} == {
        "acceptance-eager": 200,
        "acceptance-compile_cell": 350,
        "acceptance-compile_unrolled": 350,
    }
    limits.clear()
    found = [*acceptance.run(session(tmp_path, budget_s=300, runners=names))]
    assert limits == {"list": 60, "acceptance-eager": 150}
    assert {one.reason for one in found[1:]} == {"the time that is left is for the tests"}


def test_tests_that_fail_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "python" / "test_planted.py"
    file.parent.mkdir()
    text = (
        "import pytest\n@pytest.mark.gpu\n@pytest.mark.parametrize('n', [0, 1])\ndef test_one(n):\n    assert n == 0\n"
    )
    file.write_text(text + "@pytest.mark.gpu\ndef test_two():\n    pytest.skip('no second device')\n")
    monkeypatch.setattr(gpu_tests, "TESTS", tmp_path)
    [found] = gpu_tests.run(session(tmp_path / "found", budget_s=900))
    assert found.status == FAILED
    assert found.reason.startswith("test_one[1]: ")
    assert found.figures == {"passed": 1, "failed": 1, "skipped": 1}
    assert "assert 1 == 0" in found.log


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Compares a model whose trace and times are given, without a C++ compiler."""

    def compare(calls: list[str], *times: float) -> Item:
        def python(_self: Session, _name: str, *words: str, **_options: Any) -> Any:
            names = ("forward_ns", "backward_ns")
            Path(words[4]).write_text(json.dumps(dict(zip(names, times, strict=True))))
            names = ["cudaStreamQuery", *calls] * 6
            events = [
                {"cat": "cuda_runtime", "name": name, "ts": at, "tid": 1, "args": {"correlation": at}}
                for at, name in enumerate(names)
            ]
            Path(words[5]).write_text(json.dumps({"traceEvents": events}))
            return children.Ended(status=0, seconds=1.0, log=tmp_path / "log")

        monkeypatch.setattr(Session, "python", python)
        monkeypatch.setattr(building, "compiler", lambda: None)
        [item] = comparison.run(session(tmp_path, models=["sleeping"]))
        return item

    return compare


USUAL = ["cudaEventRecord", "cudaLaunchKernel"] * 2 + ["cudaEventRecordWithFlags"] * 2 + ["cudaStreamSynchronize"]


@pytest.mark.parametrize(
    ("calls", "times", "reason"),
    [
        (USUAL, (4e6, 5e6), None),
        (USUAL[1:], (4e6, 5e6), "events: 3, expected 4"),
        ([*USUAL, "cudaDeviceSynchronize"], (4e6, 5e6), "synchronisations: 2, expected 1"),
        (USUAL, (9e3, 5e6), "forward_ns: 9000, expected at least 3600000"),
    ],
)
def test_a_device_that_differs_fails(calls: list[str], times: Any, reason: str | None, measured: Any) -> None:
    item = measured(calls, *times)
    assert (item.status, item.reason) == (FAILED if reason else OK, reason)
    assert item.figures["emulated"] == "comparison not done: no C++ compiler on the path"


def test_a_trace_without_calls_has_no_counts(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"traceEvents": [{"cat": "cpu_op", "name": "aten::add"}]}))
    assert iteration_counts.of_iteration(traces.read(trace)) is None
