"""Faults of PyTorch's fastrnns in its models, each by its number in the migration page.

A check is a function that a test calls twice: on ours, which must pass, and on a planted copy of the fault, which must
not.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
import torch
from models_under_test import problem_of, run_once

from fastrnns_rs.errors import RunnerError
from fastrnns_rs.models.definition import ModelDef
from fastrnns_rs.models.inputs import lstm_inputs
from fastrnns_rs.problem.problem import PRESETS, Problem, Sizes
from fastrnns_rs.runners.registry import all_runners, find
from fastrnns_rs.runners.runner import Runner
from fastrnns_rs.worker import timed_loop
from fastrnns_rs.worker.gradients import Gradients

Creator = Callable[[Problem], Any]


class UpstreamModelDef(NamedTuple):
    """Upstream's contract: whatever was given as `params` is kept as it is."""

    inputs: Any
    params: Any
    forward: Any
    backward_setup: Any
    backward: Any


def loop(model: Any, iterations: int = 3) -> None:
    watch = timed_loop.stopwatch("cpu", iterations, has_backward=model.backward is not None)
    timed_loop.run_exactly(model, watch, iterations)


# 3. A generator of parameters is used up by the first iteration.


def check_03(model: Any, weights: list[torch.Tensor]) -> None:
    for _ in range(3):
        gradients = Gradients(model.params)
        model.backward(*model.backward_setup(model.forward(*model.inputs)))
        gradients.zero()
        assert all(not weight.grad.any() for weight in weights), "gradients pile up"


def test_fault_03_gradients_are_zeroed_after_every_iteration() -> None:
    for name in ("jit_layernorm", "jit_layernorm_decom", "jit_dropout"):
        model = find(name).creator(problem_of(name))
        check_03(model, list(model.params))
    model = find("cudnn").creator(problem_of("cudnn"))
    weights = list(model.params)
    planted = UpstreamModelDef(model.inputs, iter(weights), model.forward, model.backward_setup, model.backward)
    with pytest.raises(AssertionError, match="pile up"):
        check_03(planted, weights)
    # The same generator through our contract is read once and kept.
    check_03(ModelDef(model.inputs, iter(weights), model.forward, model.backward_setup, model.backward), weights)


# 4. More layers than one break runners that know one.


def check_04(creator: Creator, problem: Problem) -> None:
    loop(creator(problem))


def test_fault_04_every_layer_has_a_part_in_the_result() -> None:
    for name in ("jit", "jit_premul", "jit_premul_bias", "py", "vl_jit", "vl_py"):
        check_04(find(name).creator, problem_of(name, num_layers=2))
    assert "1 layer" in (find("jit_simple").refusal(problem_of("jit_simple", num_layers=2)) or "")

    def planted(problem: Problem) -> ModelDef:
        inputs = lstm_inputs(problem)
        first = find("jit").creator(replace(problem, num_layers=1))
        return replace(first, params=inputs.flat_weights())

    with pytest.raises(RunnerError, match="have no gradient"):
        check_04(planted, problem_of("jit", num_layers=2))


# 5. The multi-layer runner fails at its second iteration, and returns the last layer's state only.


def check_05(model: Any, layers: int) -> None:
    loop(model, 5)
    _, (h, c) = model.forward(*model.inputs)
    assert len(h) == len(c) == layers, "a layer's state is missing"


@pytest.mark.parametrize("executor", ["profiling", "legacy", "simple"])
def test_fault_05_the_multilayer_runner_lives_through_iterations(executor: str) -> None:
    run_once("jit_multilayer", num_layers=2, times=5, executor=executor)
    model = find("jit_multilayer").creator(problem_of("jit_multilayer", num_layers=2))
    check_05(model, 2)

    def last_state_only(*inputs: Any) -> Any:
        y, (h, c) = model.forward(*inputs)
        return y, (h[-1:], c[-1:])

    with pytest.raises(AssertionError, match="state is missing"):
        check_05(replace(model, forward=last_state_only), 2)


# 6. One runner differentiates a single step, and nothing says so.


def check_06(runner: Runner) -> None:
    problem = problem_of(runner.name)
    model = runner.creator(problem)
    output, _ = model.forward(*model.inputs)
    assert isinstance(output, torch.Tensor)
    whole = output.shape[0] == problem.seq_length
    assert whole or "do not compare" in (runner.note(problem) or ""), "an odd row looks like the others"


def test_fault_06_a_row_that_cannot_be_compared_says_so() -> None:
    for runner in all_runners().values():
        if runner.group == "rnns":
            check_06(runner)
    with pytest.raises(AssertionError, match="looks like the others"):
        check_06(replace(find("jit_simple"), note=lambda _problem: None))


# 7. Dropout runners with one layer drop nothing.


def check_07(runner: Runner) -> None:
    preset = PRESETS["upstream"]
    settings = {"dtype": "float32", "device": "cpu", "seed": 0, "allow_tf32": False}
    by_default = runner.problem(Sizes(), preset, **settings)
    assert by_default.num_layers is not None
    assert by_default.num_layers >= 2, "by default nothing is dropped"
    assert runner.refusal(runner.problem(Sizes(num_layers=1), preset, **settings)), "one layer is taken in silence"


def test_fault_07_dropout_has_layers_to_act_between() -> None:
    for name in ("cudnn_dropout", "jit_dropout"):
        check_07(find(name))
    with pytest.raises(AssertionError, match="nothing is dropped"):
        check_07(replace(find("jit_dropout"), layers=(1, None)))


# 8. Device, seed and layers are ignored.


def check_08(creator: Creator, name: str) -> None:
    def output(seed: int) -> torch.Tensor:
        model = creator(problem_of(name, seed=seed, num_layers=2))
        torch.manual_seed(0)
        return model.forward(*model.inputs)[0]

    torch.manual_seed(1)
    first = output(5)
    torch.manual_seed(2)
    assert torch.equal(first, output(5)), "the seed is ignored"
    assert not torch.equal(first, output(6)), "the seed is ignored"
    model = creator(problem_of(name, num_layers=2))
    _, (h, _) = model.forward(*model.inputs)
    assert len(h) == 2, "numLayers is ignored"
    assert all(param.device.type == "cpu" for param in model.params)


def test_fault_08_device_seed_and_layers_are_honoured() -> None:
    for name in ("cudnn_layernorm", "jit_layernorm", "jit_layernorm_decom", "jit_dropout", "cudnn_dropout"):
        check_08(find(name).creator, name)

    def one_layer(problem: Problem) -> ModelDef:
        return find("jit_layernorm").creator(replace(problem, num_layers=1))

    with pytest.raises(AssertionError, match="numLayers is ignored"):
        check_08(one_layer, "jit_layernorm")


# 9. A backward that does nothing is shown as a time.


def check_09(measure: Callable[[ModelDef], tuple[list[int], list[int] | None]]) -> None:
    forward, backward_ns = measure(find("cudnn_layernorm").creator(problem_of("cudnn_layernorm")))
    assert len(forward) == 3
    assert backward_ns is None, "a backward that does not exist has a time"


def test_fault_09_no_backward_is_no_number() -> None:
    def ours(model: ModelDef) -> tuple[list[int], list[int] | None]:
        measurement = timed_loop.Measurement(3)
        watch = measurement.begin("cpu", has_backward=model.backward is not None)
        timed_loop.run_exactly(model, watch, 3)
        found = measurement.samples()
        return found["forward_ns"], found["backward_ns"]

    def planted(model: ModelDef) -> tuple[list[int], list[int] | None]:
        return ours(replace(model, params=[], backward=lambda *_: None))

    check_09(ours)
    with pytest.raises(AssertionError, match="does not exist"):
        check_09(planted)
    # And one that says it has a backward, but runs none, is found out by its missing gradients.
    with pytest.raises(RunnerError, match="no gradient"):
        loop(replace(find("cudnn_layernorm").creator(problem_of("cudnn_layernorm")), backward=lambda *_: None))


# 15. Networks for images are imported for recurrent runs, and ignore batch and seed.


def check_15(module: str) -> None:
    code = f"""
import sys
sys.modules["torchvision"] = None
import {module}
from fastrnns_rs.problem.problem import PRESETS, Sizes
from fastrnns_rs.runners.registry import find
problem = find("jit").problem(Sizes(), PRESETS["quick"], dtype="float32", device="cpu", seed=0, allow_tf32=False)
model = find("jit").creator(problem)
model.forward(*model.inputs)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.long("bench")
def test_fault_15_recurrent_runs_need_no_torchvision() -> None:
    check_15("fastrnns_rs.api.measurement")
    with pytest.raises(AssertionError, match="torchvision"):
        check_15("torchvision.models")


def test_fault_15_image_networks_take_batch_and_seed() -> None:
    for name in ("resnet18", "resnet18_jit"):
        model, again = (find(name).creator(problem_of("resnet18", mini_batch=3, seed=0)) for _ in range(2))
        assert model.inputs[0].shape[0] == 3, "miniBatch is ignored"
        assert torch.equal(model.inputs[0], again.inputs[0]), "the seed is ignored"
        assert torch.equal(model.params[0], again.params[0]), "the seed is ignored"


# 26. Importing a module compiles and runs models.


def check_26(statement: str) -> None:
    code = f"""
import torch
def refuse(*_, **__):
    raise SystemExit("compiled at import")
torch.jit.script = torch.jit.trace = torch.nn.Module.__call__ = refuse
{statement}
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.long("models")
def test_fault_26_importing_every_module_runs_no_model() -> None:
    check_26(
        "import importlib, pkgutil, fastrnns_rs\n"
        "for one in pkgutil.walk_packages(fastrnns_rs.__path__, 'fastrnns_rs.'):\n"
        "    if not one.name.endswith('__main__'):\n"
        "        importlib.import_module(one.name)\n"
    )
    with pytest.raises(AssertionError, match="compiled at import"):
        check_26("torch.nn.LSTM(1, 1)(torch.ones(1, 1, 1))")
