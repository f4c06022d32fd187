"""Faults of PyTorch's fastrnns in its timing and its output, each by its number in the migration page.

A check is a function that a test calls twice: on ours, which must pass, and on a planted copy of the fault, which must
not.
"""

from __future__ import annotations

import gc
import json
import math
import re
import statistics
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import planted_runners
import pytest
import torch
from commands import run_with_facts
from conftest import PLANTED, TINY, Done, run_cli
from models_under_test import problem_of, run_once

import fastrnns_rs
from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.models.definition import ModelDef
from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.problem.problem import Problem
from fastrnns_rs.runners.registry import find
from fastrnns_rs.views.run.fastrnns_table import fastrnns_table
from fastrnns_rs.worker import stopwatch, timed_loop
from fastrnns_rs.worker.torch_settings import jit_settings

PLANTED_RUN = ["bench", "--group", "rnns", "--runner-file", PLANTED, "--device", "cpu", "--processes", "1", *TINY]


def benched(name: str, *flags: str) -> Done:
    """A bench of one runner on a CPU, in one process; stdout is the run."""
    sizes = ["--device", "cpu", "--processes", "1", *TINY]
    return run_with_facts("bench", "--group", "rnns", "--rnns", name, *sizes, *flags, "--json")


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    """The run file of a runner in one process, from a command in a process of its own."""
    flags = ["--nloops", "7", "--warmup", "2", "--threads", "1", "--seed", "5", "--json"]
    words = ["--group", "rnns", "--rnns", "cudnn", "--device", "cpu", "--processes", "1", *TINY, *flags]
    run: dict[str, Any] = run_cli("bench", *words).json()
    return run


# 1. Seconds on a CPU, milliseconds on CUDA, and no unit anywhere.


def test_fault_01_every_output_names_the_unit_or_is_in_it(measured: dict[str, Any]) -> None:
    run = Run.from_dict(measured)
    mean_ns = run["cudnn"].forward.mean_ns
    assert re.search(r"^runner +(ns|µs|ms|s) ", run.render("table"), re.MULTILINE)
    assert "ms" in run.render("markdown")
    assert json.loads(run.render("oss"))["lstm"]["cudnn"] == pytest.approx(mean_ns / 1e6)
    observed = [json.loads(line.removeprefix("Caffe2Observer ")) for line in run.render("pep").splitlines()]
    values = [float(one["value"]) for one in observed if one["metric"] == "lstm-cudnn"]
    assert statistics.mean(values) == pytest.approx(mean_ns / 1e6)


# 2. A device is compared as a string.


def check_02(choose: Callable[[str], str]) -> None:
    assert choose("cpu") == "cpu"
    assert choose("cuda") == "cuda"
    assert choose("cuda:1") == "cuda", "a CUDA device is timed by the CPU's clock"


def test_fault_02_a_numbered_device_is_timed_on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopwatch, "CudaEvents", lambda *_: "cuda")
    monkeypatch.setattr(stopwatch, "CpuWallClock", lambda *_: "cpu")
    check_02(lambda device: str(stopwatch.stopwatch(device, 1, has_backward=True)))
    with pytest.raises(AssertionError, match="by the CPU's clock"):
        check_02(lambda device: "cuda" if device == "cuda" else "cpu")


# 10. One failure ends the run or is swallowed.


@pytest.mark.long("bench")
def test_fault_10_upstream_formats_leave_the_failure_out_and_say_so() -> None:
    done = run_with_facts(*PLANTED_RUN, "--rnns", "sound", "raises", "--print-json")
    assert done.status == 1
    assert list(done.json()["custom"]) == ["sound"]
    assert re.search(r"^raises +failed: RuntimeError: the model could not be built$", done.stderr, re.MULTILINE)


# 11. One loop gives NaN, none gives a traceback; nothing but mean and deviation is kept.


def check_11(describe: Callable[[list[float]], dict[str, Any]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = describe([5.0])
    assert not any(isinstance(value, float) and math.isnan(value) for value in one.values()), "one loop gives NaN"
    assert {"median", "q1", "q3", "p95", "p99", "min", "max", "ci_low", "ci_high"} <= set(one)


def test_fault_11_one_loop_has_no_deviation_and_no_nan() -> None:
    check_11(lambda samples: fastrnns_rs.stats.summarize(samples).to_dict())

    def planted(samples: list[float]) -> dict[str, Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return {"avg": torch.tensor(samples).mean().item(), "std": torch.tensor(samples).std().item()}

    with pytest.raises(AssertionError, match="NaN"):
        check_11(planted)
    result = fastrnns_rs.trainbench("sound", planted_runners.sound, nloops=1, warmup=0, device="cpu")
    assert result.std_fwd is None
    for loops in ("0", "-1", "x"):
        done = run_cli("bench", "--nloops", loops)
        assert (done.status, done.stderr.count("\n")) == (2, 2)
        assert "(--nloops)" in done.stderr


def test_fault_11_every_sample_is_kept(measured: dict[str, Any]) -> None:
    process = measured["results"][0]["processes"][0]
    assert len(process["forward_ns"]) == len(process["backward_ns"]) == 9
    assert process["steady_from"] == 2
    assert process["first_call"] == {"forward_ns": process["forward_ns"][0], "backward_ns": process["backward_ns"][0]}


# 12. No seed, other data for each runner, the collector inside the loop, two names for one thing.


def test_fault_12_runners_compute_on_the_same_data() -> None:
    def data(name: str) -> torch.Tensor:
        model = find(name).creator(Problem(**to_plain(problem_of(name))))
        return torch.cat([model.inputs[0].flatten(), *(param.detach().flatten() for param in model.params)])

    assert torch.equal(data("cudnn"), data("jit_premul"))


def check_12_collector(loop: Callable[[ModelDef, int], None]) -> None:
    collections: list[str] = []
    model = find("cudnn").creator(problem_of("cudnn"))
    gc.callbacks.append(lambda phase, _info: collections.append(phase))
    try:
        loop(model, 50)
    finally:
        gc.callbacks.pop()
    # One comes before the loop, and an automatic one may follow it.
    assert collections.count("start") <= 2, "garbage is collected inside the loop"
    assert gc.isenabled(), "the collector stays off"


def test_fault_12_no_garbage_is_collected_inside_the_loop() -> None:
    def ours(model: ModelDef, iterations: int) -> None:
        timed_loop.run_exactly(model, timed_loop.stopwatch("cpu", iterations, has_backward=True), iterations)

    def planted(model: ModelDef, iterations: int) -> None:
        for _ in range(iterations):
            gc.collect()
            model.forward(*model.inputs)

    check_12_collector(ours)
    with pytest.raises(AssertionError, match="inside the loop"):
        check_12_collector(planted)


def test_fault_12_one_code_path_under_two_names_is_said() -> None:
    for name in ("cudnn", "aten"):
        assert "same code path" in (find(name).note(problem_of(name)) or "")
        assert find(name).note(problem_of(name, device="cuda")) is None


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({}, "oneDNN"),
        ({"dtype": "bfloat16"}, "oneDNN if it supports bfloat16 on this CPU, otherwise torch's own"),
        ({"amp": True}, "oneDNN"),
        ({"dtype": "float64"}, "torch's own: oneDNN has no LSTM in float64"),
        ({"dtype": "float16"}, "torch's own: oneDNN trains no LSTM in float16"),
        (
            {"dtype": "float16", "mode": "inference"},
            "oneDNN if it supports float16 on this CPU, otherwise torch's own",
        ),
        ({"proj_size": 2}, "torch's own: oneDNN has no projection"),
    ],
)
def test_fault_12_the_code_path_of_lstms_on_a_cpu_is_that_of_the_dtype(changes: dict[str, Any], path: str) -> None:
    problem = problem_of("cudnn", **changes)
    assert find("cudnn").note(problem) == f"cudnn and aten are the same code path on a CPU ({path})"
    # The note is that of torch's dispatch, and torch alone knows the CPU.
    runs = path.startswith("oneDNN")
    if " if " in path:
        runs = getattr(torch.ops.mkldnn, f"_is_mkldnn_{'bf16' if problem.dtype == 'bfloat16' else 'fp16'}_supported")()
    if problem.amp and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        return  # autocast gives oneDNN a dtype that it does not support, and the LSTM fails
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        run_once("cudnn", **changes)
    assert any("mkldnn_rnn_layer" in one.key for one in profile.key_averages()) is runs


# 13. Columns that always say None, and names that are cut off.


def check_13(line: str, name: str) -> None:
    assert name in line, "the name is cut off"
    assert "None" not in line, "a column says None"


def test_fault_13_names_are_whole_and_no_column_is_empty() -> None:
    name = "jit_layernorm_decom"
    done = benched(name, "--nloops", "2")
    check_13(fastrnns_table(Run.from_dict(done.json())).splitlines()[1], name)
    assert any(name in line for line in done.stderr.splitlines())

    # Upstream's row: every field cut to sixteen characters, and two of them always None.
    with pytest.raises(AssertionError, match="cut off"):
        check_13(f"{name[:16]} 0.1 0.2 None 0.1 0.2 None", name)
    with pytest.raises(AssertionError, match="says None"):
        check_13("jit 0.1 0.2 None 0.1 0.2 None", "jit")


# 14. Settings of TorchScript leak, and are recorded nowhere.


def switches() -> tuple[bool, ...]:
    c: Any = torch._C
    executor = c._jit_set_profiling_executor(True)  # noqa: FBT003
    c._jit_set_profiling_executor(executor)
    optimize = c._get_graph_executor_optimize(True)  # noqa: FBT003
    c._get_graph_executor_optimize(optimize)
    fusion = (c._jit_can_fuse_on_cpu(), c._jit_can_fuse_on_gpu(), c._jit_texpr_fuser_enabled())
    pointwise = tuple(
        getattr(c, f"_jit_get_te_cuda_pointwise_{name}")() for name in ("loop_levels", "block_count", "block_size")
    )
    return (executor, optimize, *fusion, *pointwise)


def check_14(context: Callable[[JitSettings], Any]) -> None:
    before = switches()
    settings = JitSettings(fuser="none", executor="legacy", cuda_pointwise_block_size=96)
    with pytest.raises(KeyError), context(settings):
        assert switches() != before
        raise KeyError
    assert switches() == before, "settings leak"


def test_fault_14_settings_are_put_back_and_recorded() -> None:
    check_14(jit_settings)

    @contextmanager
    def planted(_settings: JitSettings) -> Iterator[None]:
        torch._C._jit_override_can_fuse_on_gpu(not torch._C._jit_can_fuse_on_gpu())
        yield

    with jit_settings(JitSettings(fuser="none")), pytest.raises(AssertionError, match="settings leak"):
        check_14(planted)
    done = run_with_facts(
        "bench", "--rnns", "jit", "--group", "rnns", "--quick", "--fuser", "old", "--executor", "simple", "--json"
    )
    assert done.json()["plan"]["jit"] == {
        "fuser": "old",
        "executor": "simple",
        "cuda_pointwise_loop_level": None,
        "cuda_pointwise_block_count": None,
        "cuda_pointwise_block_size": None,
    }
    done = run_cli("bench", "--fuser", "nvfuser")
    assert (done.status, "Traceback" in done.stderr) == (2, False)


@pytest.mark.parametrize("fuser", ["te", "old", "none", "default"])
@pytest.mark.parametrize("executor", ["profiling", "simple", "legacy", "default", None])
def test_settings_mean_what_they_mean_upstream(fuser: str, executor: str | None) -> None:
    """Upstream's table, written out: executor, optimize, CPU fusion, GPU fusion, expressions; None leaves it."""
    expected: list[bool | None] = {
        "te": [True, True, False, True, True],
        "old": [False, False, None, True, False],
        "none": [False, False, False, False, False],
        "default": [None] * 5,
    }[fuser]
    expected[:2] = {"profiling": [True, True], "simple": [expected[0], False], "legacy": [False, True]}.get(
        executor or "default", expected[:2]
    )
    before = switches()
    with jit_settings(JitSettings(fuser=fuser, executor=executor)):
        inside = switches()
    for was, now, wanted in zip(before, inside, expected, strict=False):
        assert now is (was if wanted is None else wanted)


# 16. Nothing tells on what machine, or in what mode, a number was measured.


def check_16(run: dict[str, Any]) -> None:
    assert {"torch_version", "cpu_model", "num_threads", "load_average_1m", "gpus", "git"} <= set(
        run.get("environment", {})
    )
    assert {"dtype", "allow_tf32", "amp", "device"} <= set(run["results"][0]["problem"])
    assert run["results"][0]["processes"][0]["peak_memory_bytes"] > 0


def test_fault_16_and_12_the_machine_the_mode_threads_and_seed_are_recorded(measured: dict[str, Any]) -> None:
    check_16(measured)
    with pytest.raises(AssertionError):
        check_16({**measured, "environment": {}})
    assert measured["environment"]["num_threads"] == 1
    assert measured["results"][0]["problem"]["seed"] == 5
