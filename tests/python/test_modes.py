"""How models are run: each mode does what it says, is recorded, or is refused by name."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
import torch
from models_under_test import problem_of
from test_planning import CPU, GPU, plan

from fastrnns_rs.errors import UsageError
from fastrnns_rs.models.definition import ModelDef, backward, from_sequence
from fastrnns_rs.problem.modes import Modes
from fastrnns_rs.problem.problem import Problem, Sizes
from fastrnns_rs.problem.sweep.axes import parse_axes
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.plan import Choice
from fastrnns_rs.worker import timed_loop
from fastrnns_rs.worker.torch_settings import (
    cudnn_benchmark,
    cudnn_disabled,
    deterministic,
    driver_warnings_silenced,
    problem_settings,
)

SIZES = Sizes(seq_length=4, num_layers=1, input_size=3, hidden_size=5, mini_batch=2, image_size=33)


def refusal(name: str, **modes: Any) -> str:
    return registry.find(name).refusal(problem_of(name, **modes)) or ""


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mode": "infer"}, "'infer' .mode."),
        ({"mode": None}, "None .mode."),
        ({"proj_size": 0}, "0 .proj_size."),
        ({"proj_size": True}, "True .proj_size."),
        ({"amp": 1}, "1 .amp."),
        ({"bidirectional": "no"}, "'no' .bidirectional."),
    ],
)
def test_what_is_no_mode_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Modes(**given)


@pytest.mark.parametrize(
    ("runner", "mode", "message"),
    [
        ("resnet18", {"bidirectional": True}, "does not support bidirectional"),
        ("resnet18", {"proj_size": 2}, "does not support proj-size"),
        ("py", {"channels_last": True}, "does not support channels-last"),
        ("py", {"cudnn_benchmark": True}, "does not support cudnn-benchmark"),
        ("jit_simple", {"bidirectional": True}, "does not support bidirectional"),
    ],
)
def test_a_runner_refuses_by_name_what_it_cannot_honour(runner: str, mode: dict[str, Any], message: str) -> None:
    assert message in refusal(runner, **mode)
    # Named by hand it is a mistake; as one of a group it is left out, with a note.
    with pytest.raises(UsageError, match=f"runner: .{runner}."):
        plan(GPU, modes=Modes(**mode), sizes=SIZES, choice=Choice(groups=(), names=[runner]))
    skipped = plan(GPU, modes=Modes(**mode), sizes=SIZES, choice=Choice(groups=["rnns", "cnns"]))
    wanted = "jit_simple" if runner == "jit_simple" else "resnet18" if runner == "resnet18" else "py"
    assert message in next(task.refusal or "" for task in skipped.tasks if task.runner.name == wanted)


def test_what_most_runners_have_may_be_lacking() -> None:
    runner = replace(registry.find("py"), lacks=("inference", "amp", "deterministic"))
    for mode, flag in (({"mode": "inference"}, "does not support inference"), ({"amp": True}, "does not support amp")):
        assert runner.refusal(problem_of("py", **mode)) == flag
    assert runner.refusal(problem_of("py", deterministic=True)) == "does not support deterministic"
    assert runner.refusal(problem_of("py")) is None


def test_what_the_device_or_the_dtype_cannot_do_is_refused() -> None:
    with pytest.raises(UsageError, match="`cudnn_benchmark` needs a CUDA device, and the device is cpu"):
        plan(CPU, modes=Modes(cudnn_benchmark=True))
    with pytest.raises(UsageError, match=".amp. needs float32, and .dtype. is float64"):
        plan(CPU, modes=Modes(amp=True), dtype="float64")
    with pytest.raises(UsageError, match=".bfloat16. .amp.: cuda"):
        plan(replace(GPU, dtype_problem="the GPU computes bfloat16 by emulation only"), modes=Modes(amp=True))


def model_of(name: str, **modes: Any) -> ModelDef:
    return timed_loop.build(registry.find(name).creator, problem_of(name, **modes))


def test_inference_has_no_gradients_and_no_backward() -> None:
    model = model_of("cudnn", mode="inference")
    assert model.backward is None
    with model.context():
        y, _ = model.forward(*model.inputs)
    assert y.is_inference()
    assert not torch.is_inference_mode_enabled()


def test_inference_is_evaluation() -> None:
    network = model_of("resnet18", mode="inference")
    assert isinstance(network.forward, torch.nn.Module)
    assert not network.forward.training
    before = {name: buffer.clone() for name, buffer in network.forward.named_buffers()}
    with network.context():
        network.forward(*network.inputs)
    # Batch normalisation in training would have counted this.
    assert all(torch.equal(buffer, before[name]) for name, buffer in network.forward.named_buffers())


def test_mixed_precision_computes_in_bfloat16_and_differentiates_in_float32() -> None:
    model = model_of("py", amp=True)
    plain = model_of("py")
    (y, _), (expected, _) = model.forward(*model.inputs), plain.forward(*plain.inputs)
    assert not torch.equal(y, expected)
    torch.testing.assert_close(y.float(), expected, rtol=0.05, atol=0.05)
    assert model.backward is not None
    assert model.backward_setup is not None
    with driver_warnings_silenced():
        model.backward(*model.backward_setup((y, None)))
    assert {param.grad.dtype for param in model.params if param.grad is not None} == {torch.float32}


def test_the_weights_are_rounded_in_every_iteration() -> None:
    """Autocast keeps what it has rounded until it is left: entered once around a loop it would round only once."""
    weight = torch.nn.Parameter(torch.eye(2))
    rounded = []

    def forward(x: torch.Tensor) -> tuple[torch.Tensor, None]:
        y = x @ weight
        rounded.append(y.grad_fn.next_functions[1][0])  # type: ignore[union-attr]
        return y, None

    def creator(problem: Problem) -> ModelDef:
        return ModelDef([torch.ones(2, 2)], [weight], forward, from_sequence(problem.seed), backward)

    model = timed_loop.build(creator, problem_of("py", amp=True))
    for _ in range(2):
        model.forward(*model.inputs)
    assert rounded[0] is not rounded[1]


def test_settings_of_the_process_are_put_back() -> None:
    for inside in (deterministic, cudnn_benchmark):
        read = torch.are_deterministic_algorithms_enabled if inside is deterministic else _benchmark
        before = read()
        with inside(not before):
            assert read() is not before
        assert read() is before
    with problem_settings(problem_of("py", deterministic=True)):
        assert torch.are_deterministic_algorithms_enabled()
    assert not torch.are_deterministic_algorithms_enabled()


def test_cudnn_is_switched_off_and_on_again() -> None:
    with pytest.raises(KeyError), cudnn_disabled():
        assert not torch.backends.cudnn.enabled
        raise KeyError
    assert torch.backends.cudnn.enabled


def test_settings_that_are_not_asked_for_load_nothing() -> None:
    """To set torch's determinism, even to what it is, loads its compiler: seconds, and a model's memory twice."""
    code = """
import sys
from fastrnns_rs.worker.torch_settings import problem_settings
from fastrnns_rs.problem.problem import Problem
with problem_settings(Problem(mini_batch=1)):
    pass
sys.exit("torch._inductor.config" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("axis", "options", "message"),
    [
        ("amp=off,on", {"dtype": "float64"}, "`amp` needs float32, and `dtype` is float64"),
        ("cudnn-benchmark=off,on", {}, "`cudnn_benchmark` needs a CUDA device, and the device is cpu"),
    ],
)
def test_a_mode_that_is_an_axis_is_checked_as_one_that_is_given(axis: str, options: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan(CPU, axes=parse_axes([axis]), choice=Choice(groups=(), names=["py", "resnet18"]), **options)


def _benchmark() -> bool:
    return bool(torch.backends.cudnn.benchmark)


def test_problems_of_older_files_were_trained() -> None:
    from fastrnns_rs.documents.codec import from_plain, to_plain

    plain = json.loads(json.dumps(to_plain(problem_of("py"))))
    assert plain.pop("mode") == "train"
    assert from_plain(Problem, plain) == problem_of("py")
