"""Runners that attack the profiled process: all others are still profiled."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import run_cli
from facts import FACTS

from fastrnns_rs import ModelDef, Problem
from fastrnns_rs.cli import internal_run
from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.plan import Options, make_plan
from fastrnns_rs.runners.profile_request import ProfileRequest, choice
from fastrnns_rs.worker.jobs import profile
from fastrnns_rs.worker.profile.answer import Answer


class _MuteError(Exception):
    def __str__(self) -> str:
        raise SystemExit(7)

    __repr__ = __str__


def _raises(error: BaseException) -> Callable[[torch.Tensor], Any]:
    def forward(_given: torch.Tensor) -> None:
        raise error

    return forward


def _closes_stderr(given: torch.Tensor) -> torch.Tensor:
    sys.stderr = io.StringIO()
    sys.stderr.close()
    return given + 1


def _closes_stderr_and_raises(given: torch.Tensor) -> torch.Tensor:
    _closes_stderr(given)
    raise ValueError("the reason")


def test_threads_are_those_of_bench_whatever_a_file_sets_as_it_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_runners", dict(registry.all_runners()))
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = torch.get_num_threads()
    (tmp_path / "own.py").write_text(
        "import fastrnns_rs, torch\n"
        f"torch.set_num_threads({before + 2})\n"
        "@fastrnns_rs.runner('own')\n"
        "def own(problem):\n"
        "    raise ValueError(f'{torch.get_num_threads()} threads')\n"
    )
    flags = ["--internal-run", "--answer", str(tmp_path / "answer"), "--device", "cpu", "--nloops", "1"]
    done = run_cli("profile", "own", "--runner-file", str(tmp_path / "own.py"), *flags)
    assert f"the runner own failed: ValueError: {before} threads" in done.stderr


@pytest.mark.parametrize(
    ("forward", "context", "reason"),
    [
        (_raises(_MuteError()), contextlib.nullcontext, "_MuteError: its message cannot be shown: SystemExit"),
        (_raises(GeneratorExit()), contextlib.nullcontext, "GeneratorExit: "),
        (_closes_stderr, contextlib.nullcontext, None),
        (_closes_stderr_and_raises, contextlib.nullcontext, "ValueError: the reason"),
        (_raises(ValueError("hidden")), lambda: contextlib.suppress(Exception), "ValueError: hidden"),
    ],
)
@pytest.mark.parametrize("warmup", [0, 1])
def test_the_next_runner_is_profiled(
    forward: Callable[..., Any],
    context: Callable[[], Any],
    reason: str | None,
    warmup: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    options = Options(
        choice=choice(rnns=("py", "cudnn")), quick=True, nloops=2, warmup=warmup, timeout=60.0, device="cpu"
    )

    def hostile(_problem: Problem) -> ModelDef:
        return ModelDef(inputs=[torch.ones(3)], params=[], forward=forward, context=context)

    def sound(_problem: Problem) -> ModelDef:
        return ModelDef(inputs=[torch.ones(3)], params=[], forward=torch.neg)

    answer = _run_both(options, (hostile, sound), tmp_path)
    assert answer.finished
    found = [(one.status, one.reason and one.reason.strip()) for one in answer.runners]
    assert found == [("failed" if reason else "ok", reason and reason.strip()), ("ok", None)]


def _run_both(options: Options, creators: tuple[Callable[[Problem], ModelDef], ...], folder: Path) -> Answer:
    plan = make_plan(options, FACTS)
    both = zip(plan.tasks, creators, strict=True)
    plan = replace(plan, tasks=[replace(one, runner=replace(one.runner, creator=creator)) for one, creator in both])
    request = ProfileRequest(options=options, sleep_between_seconds=0.0)
    return profile.run(request, plan, stem=folder / "a", answer_path=folder / "answer", say=internal_run._say)


def _pin() -> None:
    """Takes one CPU for this thread and for one that starts now, as torch's do."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    threading.Thread(target=time.sleep, args=(5,), daemon=True).start()


def _settings() -> list[object]:
    precision = torch.backends.mkldnn.matmul.fp32_precision  # type: ignore[attr-defined]
    return [
        torch.get_num_threads(),
        torch.are_deterministic_algorithms_enabled(),
        {frozenset(os.sched_getaffinity(int(thread.name))) for thread in Path("/proc/self/task").iterdir()},
        precision in {"none", "ieee"},
    ]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda: torch.set_num_threads(torch.get_num_threads() + 2), "the number of torch's threads"),
        (lambda: torch.use_deterministic_algorithms(mode=True), "deterministic algorithms"),
        (lambda: setattr(torch.backends.mkldnn.matmul, "fp32_precision", "bf16"), "the precision of float32 on CPUs"),
        pytest.param(
            _pin,
            "the CPUs of the process",
            marks=pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs"),
        ),
    ],
)
@pytest.mark.parametrize("call", [0, 1, 3])
def test_the_next_runner_has_its_own_settings(
    change: Callable[[], object], reason: str, call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are changed as the first runner is built (0), in its warm-up (1) or in the capture (3)."""
    for name in ("OMP_PROC_BIND", "OMP_PLACES", "KMP_AFFINITY", "GOMP_CPU_AFFINITY"):
        monkeypatch.delenv(name, raising=False)
    options = Options(choice=choice(rnns=("py", "cudnn")), quick=True, nloops=2, warmup=2, timeout=60.0, device="cpu")
    calls, before, seen = iter(range(10)), _settings(), []

    def count(given: torch.Tensor) -> torch.Tensor:
        if next(calls) == call:
            change()
        return given + 1

    def changing(_problem: Problem) -> ModelDef:
        count(torch.ones(3))
        return ModelDef(inputs=[torch.ones(3)], params=[], forward=count)

    def looking(given: torch.Tensor) -> torch.Tensor:
        seen.append(_settings())
        return given + 1

    def sound(_problem: Problem) -> ModelDef:
        return ModelDef(inputs=[torch.ones(3)], params=[], forward=looking)

    try:
        answer = _run_both(options, (changing, sound), tmp_path)
    finally:
        torch.backends.mkldnn.matmul.fp32_precision = "none"  # type: ignore[attr-defined]
    assert [one.status for one in answer.runners] == ["failed", "ok"]
    assert f"{reason} " in str(answer.runners[0].reason)
    assert seen == [before] * 4


@pytest.mark.parametrize("in_context", [False, True])
def test_a_runner_keeps_its_own_settings_of_torchscript(in_context: bool, tmp_path: Path) -> None:
    """No run records them. Its warm-up and its capture have the same, and the next runner has those of the options."""
    options = Options(choice=choice(rnns=("py", "cudnn")), quick=True, nloops=2, warmup=2, timeout=60.0, device="cpu")
    seen: dict[str, list[bool]] = {"own": [], "next": []}

    def look(name: str) -> Callable[[torch.Tensor], torch.Tensor]:
        def forward(given: torch.Tensor) -> torch.Tensor:
            seen[name].append(torch._C._jit_texpr_fuser_enabled())
            return given + 1

        return forward

    before, wanted = torch._C._jit_texpr_fuser_enabled(), True

    @contextlib.contextmanager
    def chosen() -> Iterator[None]:
        torch._C._jit_set_texpr_fuser_enabled(not wanted)
        yield
        torch._C._jit_set_texpr_fuser_enabled(wanted)

    def own(_problem: Problem) -> ModelDef:
        if in_context:
            return ModelDef(inputs=[torch.ones(3)], params=[], forward=look("own"), context=chosen)
        torch._C._jit_set_texpr_fuser_enabled(not wanted)
        return ModelDef(inputs=[torch.ones(3)], params=[], forward=look("own"))

    def sound(_problem: Problem) -> ModelDef:
        return ModelDef(inputs=[torch.ones(3)], params=[], forward=look("next"))

    answer = _run_both(replace(options, jit=JitSettings(fuser="te")), (own, sound), tmp_path)
    assert [one.status for one in answer.runners] == ["ok", "ok"]
    assert (set(seen["own"]), set(seen["next"])) == ({not wanted}, {wanted})
    assert torch._C._jit_texpr_fuser_enabled() == before
