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
from fastrnns_rs.errors import RunnerError
from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.plan import Options, make_plan
from fastrnns_rs.runners.profile_request import ProfileRequest, choice
from fastrnns_rs.worker.jobs import profile
from fastrnns_rs.worker.profile.answer import Answer
from fastrnns_rs.worker.timed_loop import Measurement, exactly, measure
from fastrnns_rs.worker.torch_settings import torch_modes, usual_modes
from fastrnns_rs.worker.torch_switches import switches_restored


@pytest.fixture(autouse=True)
def modes_restored() -> Iterator[None]:
    """Modes of torch are the same after a test."""
    with usual_modes("cpu"):
        yield


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


def test_modes_are_the_usual_ones_whatever_a_file_sets_as_it_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They neither fail the check of the dtype nor count as the runners are built."""
    monkeypatch.setattr(registry, "_runners", dict(registry.all_runners()))
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "own.py").write_text(
        "import fastrnns_rs, torch\n"
        "entered = torch.inference_mode()\n"
        "entered.__enter__()\n"
        "torch.set_autocast_enabled('cpu', True)\n"
        "torch.set_autocast_dtype('cpu', torch.float16)\n"
        "torch.set_default_dtype(torch.float64)\n"
        "torch.set_default_device('meta')\n"
        "torch.autograd.set_detect_anomaly(True)\n"
        "@fastrnns_rs.runner('own')\n"
        "def own(problem):\n"
        "    modes = torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_autocast_enabled('cpu')\n"
        "    modes += torch.get_autocast_dtype('cpu'), torch.get_default_dtype(), torch.get_default_device().type\n"
        "    raise ValueError(f'{modes} {torch.is_anomaly_enabled()}')\n"
    )
    flags = ["--internal-run", "--answer", str(tmp_path / "answer"), "--device", "cpu", "--nloops", "1"]
    done = run_cli("profile", "own", "--runner-file", str(tmp_path / "own.py"), *flags)
    modes = "(True, False, False, torch.bfloat16, torch.float32, 'cpu') False"
    assert f"the runner own failed: ValueError: {modes}" in done.stderr


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


#: Changes of modes of torch, each with the name of the mode.
MODES: list[tuple[Callable[[], object], str]] = [
    (lambda: torch.set_grad_enabled(False), "autograd"),
    (lambda: torch.set_autocast_enabled("cpu", enabled=True), "autocast"),
    (lambda: torch.set_autocast_dtype("cpu", torch.float16), "the dtype of autocast"),
    (lambda: torch.set_default_dtype(torch.float64), "the default dtype"),
    (lambda: torch.set_default_device("meta"), "the default device"),
    (lambda: torch.autograd.set_detect_anomaly(True), "anomaly detection"),
]


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
        [read() for _, read, _ in torch_modes("cpu").values()],
    ]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda: torch.set_num_threads(torch.get_num_threads() + 2), "the number of torch's threads"),
        (lambda: torch.use_deterministic_algorithms(mode=True), "deterministic algorithms"),
        (lambda: setattr(torch.backends.mkldnn.matmul, "fp32_precision", "bf16"), "the precision of float32 on CPUs"),
        *MODES,
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
        given = torch.ones(3)
        count(given)
        return ModelDef(inputs=[given], params=[], forward=count)

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


@pytest.mark.parametrize(("change", "name"), MODES)
def test_bench_sees_a_mode_of_torch_that_a_runner_changes(change: Callable[[], object], name: str) -> None:
    """The row would be of another dtype, or of forward without the graph for backward."""

    def forward(given: torch.Tensor) -> torch.Tensor:
        change()
        return given

    def creator(_problem: Problem) -> ModelDef:
        return ModelDef(inputs=[torch.ones(3)], params=[], forward=forward)

    problem = Problem(mini_batch=1, device="cpu")
    with (
        usual_modes("cpu"),
        pytest.raises(RunnerError, match=f"^the runner changed {name} from .*: restore it, as a `w"),
    ):
        measure(creator, problem, JitSettings(), Measurement(3), exactly(3))


def test_a_runner_may_have_modes_of_torch_in_blocks_and_in_its_context(tmp_path: Path) -> None:
    options = Options(choice=choice(rnns=("py", "cudnn")), quick=True, nloops=2, warmup=2, timeout=60.0, device="cpu")
    seen: list[bool] = []

    def forward(given: torch.Tensor) -> torch.Tensor:
        seen.append(torch.is_grad_enabled())
        with torch.autocast("cpu"), torch.device("meta"):
            return given @ given

    def own(_problem: Problem) -> ModelDef:
        with torch.no_grad():
            return ModelDef(inputs=[torch.ones(3, 3)], params=[], forward=forward, context=torch.no_grad)

    answer = _run_both(options, (own, own), tmp_path)
    assert [one.status for one in answer.runners] == ["ok", "ok"]
    measure(own, Problem(mini_batch=1, device="cpu"), JitSettings(), Measurement(3), exactly(3))
    assert set(seen) == {False}


def _switches() -> list[object]:
    cuda = torch.backends.cuda
    nested = torch.autocast_increment_nesting()
    torch.autocast_decrement_nesting()
    return [
        torch.backends.cudnn.enabled,
        torch.backends.mkldnn.enabled,
        [cuda.flash_sdp_enabled(), cuda.mem_efficient_sdp_enabled(), cuda.math_sdp_enabled(), cuda.cudnn_sdp_enabled()],
        torch.is_autocast_cache_enabled(),
        bool((torch.tensor([1e-310], dtype=torch.float64) * 1 == 0).item()),
        nested,
    ]


def _change_switches() -> None:
    cuda = torch.backends.cuda
    torch.backends.cudnn.enabled = torch.backends.mkldnn.enabled = False
    for switch in (cuda.enable_flash_sdp, cuda.enable_mem_efficient_sdp, cuda.enable_cudnn_sdp):
        switch(enabled=False)
    torch.set_autocast_cache_enabled(False)
    torch.set_flush_denormal(True)


def test_a_runner_keeps_its_own_switches_of_torch(tmp_path: Path) -> None:
    """The next runner has the usual ones: it computed without oneDNN, and kept rounded weights."""
    options = Options(choice=choice(rnns=("py", "cudnn")), quick=True, nloops=2, warmup=2, timeout=60.0, device="cpu")
    seen: dict[str, list[list[object]]] = {"own": [], "next": []}

    def look(name: str) -> Callable[[torch.Tensor], torch.Tensor]:
        def forward(given: torch.Tensor) -> torch.Tensor:
            seen[name].append(_switches())
            return given + 1

        return forward

    def own(_problem: Problem) -> ModelDef:
        _change_switches()
        torch.autocast("cpu", enabled=False).__enter__()
        return ModelDef(inputs=[torch.ones(3)], params=[], forward=look("own"))

    def sound(_problem: Problem) -> ModelDef:
        return ModelDef(inputs=[torch.ones(3)], params=[], forward=look("next"))

    before = _switches()
    with switches_restored():
        _change_switches()
        *changed, _ = _switches()
    assert _switches() == before
    answer = _run_both(options, (own, sound), tmp_path)
    assert [one.status for one in answer.runners] == ["ok", "ok"]
    assert [one[:-1] for one in seen["own"]] == [changed] * 4
    assert seen["next"] == [before] * 4
    assert _switches() == before


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
