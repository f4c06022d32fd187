"""Plans: presets, and what is refused before anything runs. Devices are fakes, so that every case can be tested."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import pytest
from facts import FACTS

from fastrnns_rs.cli.exit_codes import find_exit_code
from fastrnns_rs.errors import MissingError, UsageError
from fastrnns_rs.machine.facts import Facts
from fastrnns_rs.problem.problem import Sizes
from fastrnns_rs.runners.plan import Choice, Options, Plan, make_plan

CPU = replace(
    FACTS,
    cuda_version="13.2",
    no_cuda_reason="no NVIDIA GPU was found: no driver is loaded",
    tf32_problem="TF32 is a mode of CUDA devices",
)
GPU = replace(CPU, device="cuda", cuda_device_count=2, no_cuda_reason=None, tf32_problem=None, cudnn_version="92600")


def plan(facts: Facts, **options: Any) -> Plan:
    return make_plan(Options(**options), facts)


def test_defaults_are_upstreams_on_cuda() -> None:
    made = plan(GPU)
    assert made.preset.name == "upstream"
    assert (made.warmup, made.nloops) == (10, 100)
    lstm, resnet = made.tasks[0].problem, made.tasks[-1].problem
    assert lstm.sizes() == (100, 1, 512, 512, 64)
    assert (resnet.mini_batch, resnet.image_size) == (32, 224)
    assert resnet.seq_length is resnet.num_layers is resnet.hidden_size is None
    assert lstm.image_size is None
    assert {task.problem.device for task in made.tasks} == {"cuda"}


def test_a_cpu_has_a_preset_of_its_own_and_given_sizes_win() -> None:
    assert plan(CPU).preset.name == "cpu"
    assert plan(CPU, quick=True).preset.name == plan(GPU, quick=True).preset.name == "quick"
    made = plan(CPU, sizes=Sizes(mini_batch=7, hidden_size=9, image_size=100), warmup=0, nloops=3)
    assert (made.warmup, made.nloops) == (0, 3)
    lstm, resnet = made.tasks[0].problem, made.tasks[-1].problem
    assert (lstm.mini_batch, lstm.hidden_size, resnet.mini_batch, resnet.image_size) == (7, 9, 7, 100)


@pytest.mark.parametrize("reason", ["no driver is loaded", "the NVIDIA driver is too old for torch 2.15.0"])
def test_a_missing_device_tells_why(reason: str) -> None:
    with pytest.raises(MissingError, match=reason) as raised:
        plan(replace(CPU, device=None, no_cuda_reason=reason), device="cuda")
    assert find_exit_code(raised.value) == 5
    assert "'cpu'" in raised.value.hint


def test_a_device_beyond_the_last_is_missing() -> None:
    with pytest.raises(MissingError, match="this machine has 2 CUDA devices") as raised:
        plan(replace(GPU, device=None), device="cuda:99")
    assert "'cuda:0'" in raised.value.hint


def test_a_dtype_that_the_device_lacks_is_refused() -> None:
    with pytest.raises(UsageError, match="'bfloat16' .dtype."):
        plan(replace(GPU, dtype_problem="the GPU computes bfloat16 by emulation only"), dtype="bfloat16")


def test_tf32_is_refused_where_it_is_not() -> None:
    with pytest.raises(UsageError, match="TF32 needs compute capability 8.0"):
        plan(replace(GPU, tf32_problem="TF32 needs compute capability 8.0; cuda has 7.5"), allow_tf32=True)
    with pytest.raises(UsageError, match="TF32 is a mode of CUDA devices"):
        plan(CPU, allow_tf32=True)
    with pytest.raises(UsageError, match="`allow_tf32` needs float32, and `dtype` is float64"):
        plan(GPU, allow_tf32=True, dtype="float64")
    assert all(task.problem.allow_tf32 for task in plan(GPU, allow_tf32=True).tasks)


def test_a_missing_package_skips_a_group_and_refuses_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    monkeypatch.delitem(sys.modules, "torchvision", raising=False)
    refusals = {task.runner.name: task.refusal for task in plan(CPU).tasks}
    assert refusals["cudnn"] is None
    assert refusals["resnet18"] == "needs the package torchvision, which is not installed"
    with pytest.raises(UsageError, match="runner: .resnet50. "):
        plan(CPU, choice=Choice(groups=["cnns"], cnns=["resnet50"]))


@pytest.mark.parametrize(
    "options",
    [
        {"nloops": 0},
        {"nloops": 2.5},
        {"nloops": True},
        {"warmup": -1},
        {"threads": 0},
        {"seed": -1},
        {"timeout": 0},
        {"timeout": float("nan")},
        {"device": "tpu"},
        {"dtype": "int8"},
    ],
)
def test_options_from_python_are_checked_like_flags(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(options))) as raised:
        Options(**options)
    assert raised.value.hint
    with pytest.raises(UsageError, match="0 .mini_batch."):
        Sizes(mini_batch=0)


def test_nothing_to_do_is_an_error() -> None:
    with pytest.raises(UsageError, match="no runners to measure"):
        plan(CPU, choice=Choice(groups=[]))
