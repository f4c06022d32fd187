"""How runners are compiled to modules: with a pretended worker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import FACTS
from test_inductor_finding import module

from fastrnns_rs.processes.launcher import Start
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.processes.phases import COMPILE
from fastrnns_rs.runners.plan import Choice, Options
from fastrnns_rs.verbs.inductor import compiled_runners


def modules_of(
    monkeypatch: pytest.MonkeyPatch, *answers: Answer, kernels: bool = False, **more: Any
) -> tuple[Any, list[Start]]:
    starts: list[Start] = []
    following = iter(answers)

    def launch(start: Start) -> Answer:
        starts.append(start)
        return next(following)

    monkeypatch.setattr(compiled_runners, "launch", launch)
    names = ["compile_cell", "compile_scan"][: len(answers)]
    options = Options(choice=Choice(groups=(), names=names), quick=True, threads=3, compile_timeout=7.0)
    return compiled_runners.modules_of(options, FACTS, kernels=kernels, **more), starts


def done(*paths: Path) -> Answer:
    return Answer({"status": "ok", "modules": [str(one) for one in paths]}, "answered", None, "")


@pytest.mark.parametrize("kernels", [False, True])
def test_kernels_are_compiled_with_benchmarks_where_they_are_to_be_timed(
    kernels: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    paths = [module(tmp_path / "a.py"), module(tmp_path / "b.py", "['0_backward']")]
    (modules, failed), [start] = modules_of(monkeypatch, done(*paths), kernels=kernels)
    assert ([one.path for one in modules], failed) == (paths, [])
    assert {one.runner for one in modules} == {"compile_cell"}
    assert start.setting.variables == ({"TORCHINDUCTOR_BENCHMARK_KERNEL": "1"} if kernels else {})
    assert (start.setting.threads, start.job["threads"]) == (3, 3)
    assert start.terms.limits[COMPILE].seconds == 7.0
    assert (start.job["kind"], start.job["runner"]) == ("compile", "compile_cell")
    assert start.job["problem"]["hidden_size"] > 0


def test_a_runner_that_fails_leaves_the_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = module(tmp_path / "a.py")
    broken = Answer({"status": "failed"}, "answered", "RuntimeError: boom", "")
    begun: list[tuple[str, int, int]] = []
    (modules, failed), _ = modules_of(monkeypatch, broken, done(path), on_runner=lambda *said: begun.append(said))
    assert begun == [("compile_cell", 0, 2), ("compile_scan", 1, 2)]
    assert [(one.runner, one.path) for one in modules] == [("compile_scan", path)]
    assert [(one.code, one.message) for one in failed] == [
        ("runner_failed", "compile_cell was not compiled: RuntimeError: boom")
    ]
    (modules, failed), _ = modules_of(monkeypatch, done())
    assert modules == []
    assert [one.message for one in failed] == ["compile_cell left no generated module"]


def test_ctrl_c_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyboardInterrupt):
        modules_of(monkeypatch, Answer({}, "interrupted", "interrupted", ""))
