"""Two directions, projections, inference, channels last: a runner that has a variant computes it, others refuse it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from models_under_test import QUICK, Outcome, assert_same, problem_of, run_module, run_once
from parts import few
from torch.testing import assert_close

from fastrnns_rs.models.inputs import lstm_inputs, varlen_inputs
from fastrnns_rs.runners.registry import find
from fastrnns_rs.worker.timed_loop import build

BOTH_WAYS = ["cudnn", "aten", "jit", "jit_premul", "jit_premul_bias", "jit_multilayer", "py"]
PROJECTED = ["cudnn", "aten", "jit", "py"]
VARLEN = ["vl_cudnn", "vl_jit", "vl_py"]
LAYER_NORM = ["jit_layernorm", "jit_layernorm_decom"]


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("layers", few([1, 2], [1, 2, 3], "models"))
@pytest.mark.parametrize("name", BOTH_WAYS)
def test_equals_nn_lstm(name: str, layers: int, bidirectional: bool) -> None:
    changes = {"num_layers": layers, "bidirectional": bidirectional, "dtype": "float64"}
    problem = problem_of(name, **changes)
    expected = run_module(lstm_inputs(problem), problem.seed)
    assert expected.output.shape == (6, 3, 5 * problem.directions)
    assert expected.states[0].shape == (problem.directions * layers, 3, 5)
    assert_same(run_once(name, **changes), expected)


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("name", PROJECTED)
def test_a_projection_equals_nn_lstm(name: str, layers: int, bidirectional: bool) -> None:
    changes = {"num_layers": layers, "bidirectional": bidirectional, "proj_size": 2, "dtype": "float64"}
    problem = problem_of(name, **changes)
    expected = run_module(lstm_inputs(problem), problem.seed)
    assert expected.output.shape == (6, 3, 2 * problem.directions)
    assert [state.shape[2] for state in expected.states] == [2, 5]
    assert_same(run_once(name, **changes), expected)


@pytest.mark.parametrize("executor", ["profiling", "legacy", "simple", None])
@pytest.mark.parametrize(
    ("name", "changes"),
    [(name, {"bidirectional": two}) for name in BOTH_WAYS if name.startswith("jit") for two in (False, True)]
    + [("jit", {"bidirectional": True, "proj_size": 2})],
)
def test_equals_nn_lstm_once_compiled(name: str, changes: dict[str, Any], executor: str | None) -> None:
    """TorchScript profiles the first calls and optimises later ones: both must be right."""
    problem = problem_of(name, num_layers=2, **changes)
    expected = run_module(lstm_inputs(problem), problem.seed)
    times = 5 if problem.bidirectional else 25
    found = run_once(name, times=times, executor=executor, num_layers=2, **changes)
    assert_same(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "changes"),
    [(name, {"num_layers": layers}) for name in VARLEN for layers in (1, 2)]
    + [(name, {"bidirectional": True}) for name in VARLEN]
    + [("vl_cudnn", {"proj_size": 2}), ("vl_cudnn", {"proj_size": 2, "bidirectional": True})],
)
def test_each_sequence_of_many_lengths_equals_nn_lstm(name: str, changes: dict[str, Any]) -> None:
    changes = {"num_layers": 2, "seq_length": 20, "mini_batch": 5, "dtype": "float64", **changes}
    inputs = varlen_inputs(problem_of(name, **changes))
    found = run_once(name, **changes)
    for index, sequence in enumerate(inputs.x):
        h, c = (state[:, index : index + 1].contiguous() for state in inputs.hidden)
        y, (h, c) = inputs.module(sequence.unsqueeze(1), (h, c))
        of_sequence = found.output[index] if isinstance(found.output, list) else found.output[: len(y), index]
        assert_close(of_sequence, y[:, 0])
        assert_close(found.states[0][:, index], h[:, 0])
        assert_close(found.states[1][:, index], c[:, 0])
    assert_close(found.gradients, run_once("vl_cudnn", **changes).gradients)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("name", LAYER_NORM)
def test_the_second_direction_of_a_layer_norm_is_the_first_of_the_sequence_reversed(name: str, layers: int) -> None:
    """Each half of a bidirectional layer is the one-directional runner's layer, given its weights and its order."""
    problem = problem_of(name, num_layers=layers, bidirectional=True, dtype="float64")
    model = find(name).creator(problem)
    one_way = find(name).creator(problem_of(name, dtype="float64")).forward
    y, (h, c), weights = model.inputs
    states = []
    for layer in range(layers):
        halves = []
        for row in (2 * layer, 2 * layer + 1):
            x = y if row % 2 == 0 else torch.stack(list(y)[::-1])
            output, state = one_way(x, (h[row : row + 1], c[row : row + 1]), [weights[row]])
            halves.append(output if row % 2 == 0 else torch.stack(list(output)[::-1]))
            states.append(state)
        y = torch.cat(halves, dim=2)
    found = run_once(name, num_layers=layers, bidirectional=True, dtype="float64")
    assert_close(found.output, y)
    assert_close(found.states, tuple(torch.cat(state) for state in zip(*states, strict=True)))
    assert len(found.gradients) == 16 * layers
    assert all(gradient is not None and gradient.any() for gradient in found.gradients)


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("proj_size", [None, 2])
def test_the_lower_bound_of_a_layer_norm_has_both_variants(proj_size: int | None, bidirectional: bool) -> None:
    changes = {"proj_size": proj_size, "bidirectional": bidirectional}
    plain = run_once("cudnn", num_layers=2, dtype="float64", **changes)
    found = run_once("cudnn_layernorm", num_layers=2, dtype="float64", **changes)
    assert_close(found.output, plain.output)
    assert_close(found.states[0], plain.states[0])
    cell = plain.states[1]
    for _ in range(6):
        cell = (cell - cell.mean(-1, keepdim=True)) / torch.sqrt(cell.var(-1, unbiased=False, keepdim=True) + 1e-5)
    assert_close(found.states[1], cell)


@pytest.mark.parametrize("name", ["cudnn_dropout", "jit_dropout"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_inference_drops_nothing(name: str, bidirectional: bool) -> None:
    changes = {"num_layers": 3, "bidirectional": bidirectional, "dtype": "float64"}
    problem = problem_of(name, mode="inference", **changes)
    inputs = lstm_inputs(problem_of("cudnn", **changes))
    found = run_once(name, mode="inference", times=3, **changes)
    assert_same(found, Outcome(*inputs.module(inputs.x, inputs.hidden), gradients=[None] * len(inputs.flat_weights())))
    assert find(name).note_on(problem) == "no dropout in inference"
    assert "dropout 0.4" in (find(name).note_on(problem_of(name, **changes)) or "")


@pytest.mark.parametrize("name", ["cudnn_dropout", "jit_dropout"])
def test_both_directions_are_dropped_from_in_training(name: str) -> None:
    changes = {"num_layers": 2, "bidirectional": True, "hidden_size": 50, "mini_batch": 20}
    model = find(name).creator(problem_of(name, **changes))
    whole, (h, _) = run_once("cudnn", **changes).output, model.inputs[1]
    first, second = (model.forward(*model.inputs)[0] for _ in range(2))
    assert h.shape == (4, 20, 50)
    for half in (slice(0, 50), slice(50, 100)):
        assert not torch.equal(first[..., half], second[..., half])
        assert not torch.allclose(first[..., half], whole[..., half])


@pytest.mark.parametrize("name", [name for name in QUICK if not find(name).images])
def test_inference_computes_what_training_computes(name: str) -> None:
    """Where nothing is dropped; on the later calls too, which TorchScript optimised for inference."""
    found = run_once(name, mode="inference", times=4)
    if "dropout" not in name:
        expected = run_once(name)
        assert_close(found.output, expected.output)
        assert_close(found.states, expected.states)
    tensor = found.output[0] if isinstance(found.output, list) else found.output
    assert not tensor.requires_grad
    assert not any(weight.grad is not None for weight in build(find(name).creator, problem_of(name)).params)


@pytest.mark.parametrize("name", few(["resnet18_jit"], ["resnet18", "resnet18_jit"], "models"))
def test_channels_last_changes_the_layout_and_no_number(name: str) -> None:
    model = find(name).creator(problem_of(name, mini_batch=2, channels_last=True))
    assert model.inputs[0].is_contiguous(memory_format=torch.channels_last)
    kernels = [param for param in model.params if param.dim() == 4 and param.shape[2] > 1]
    assert len(kernels) == 17
    assert all(param.is_contiguous(memory_format=torch.channels_last) for param in kernels)
    changes = {"mini_batch": 2, "dtype": "float64"}
    assert_same(run_once(name, channels_last=True, **changes), run_once(name, **changes))


@pytest.mark.parametrize("channels_last", [False, True])
def test_a_trace_for_inference_is_of_evaluation_mode(channels_last: bool) -> None:
    """Its batch normalisation knows the running mean, which training does not use."""
    changes = {"mini_batch": 2, "dtype": "float64", "channels_last": channels_last}
    problem = problem_of("resnet18_jit", mode="inference", **changes)
    model = find("resnet18").creator(problem_of("resnet18", **changes))
    with torch.no_grad():
        expected = model.forward.eval()(*model.inputs)
    traced = build(find("resnet18_jit").creator, problem)
    with traced.context():
        first, second, third = (traced.forward(*traced.inputs) for _ in range(3))
    assert_close(first, expected)
    assert torch.equal(first, third)
    assert torch.equal(second, third)
    assert_close(run_once("resnet18", mode="inference", **changes).output, expected)
    assert not torch.allclose(run_once("resnet18", **changes).output, expected)


@pytest.mark.parametrize("amp", ["gru_jit", "gru_cudnn", "rnn_relu_jit", "milstm_jit", "jit", "vl_jit"])
@pytest.mark.parametrize("mode", ["train", "inference"])
def test_mixed_precision_is_near_the_full_one(amp: str, mode: str) -> None:
    changes = {"bidirectional": True, "mode": mode}
    expected, found = run_once(amp, **changes), run_once(amp, amp=True, times=3, **changes)
    outputs = zip(expected.output, found.output, strict=True)
    for plain, mixed in outputs:
        assert_close(mixed.float(), plain, rtol=0.05, atol=0.05)
    assert not torch.equal(found.output[0].float(), expected.output[0])


def test_what_a_runner_has_not_it_refuses_by_name() -> None:
    asked = {"bidirectional": True, "proj_size": 2, "channels_last": True}
    for name in QUICK:
        runner = find(name)
        for mode, value in asked.items():
            refusal = runner.refusal(problem_of(name, num_layers=max(1, runner.layers[0]), **{mode: value}))
            if mode in runner.honours:
                assert refusal is None
            else:
                assert mode.replace("_", "-") in (refusal or "")
    assert "bidirectional" not in find("jit_simple").honours
    assert "5 and 5" in (find("jit").refusal(problem_of("jit", proj_size=5)) or "")
