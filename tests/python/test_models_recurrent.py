"""The runners of GRUs, plain networks and LSTMs with multiplicative integration, against torch and the equations."""

from __future__ import annotations

import pytest
import torch
from gpu_tests import few, fuser_on
from models_under_test import Outcome, assert_same, problem_of, run_module, run_once
from torch import Tensor

from fastrnns_rs.models.inputs import milstm_inputs, rnn_inputs
from fastrnns_rs.problem.problem import Problem
from fastrnns_rs.runners.registry import all_runners

LIKE_TORCH = [f"{kind}_{way}" for kind in ("gru", "rnn_tanh", "rnn_relu") for way in ("cudnn", "jit", "py")]
MULTIPLICATIVE = ["milstm_jit", "milstm_py"]
NEW = [*LIKE_TORCH, *MULTIPLICATIVE]
EXECUTORS = ["profiling", "legacy", "simple", None]


def reference(name: str, problem: Problem) -> Outcome:
    kind = name.rpartition("_")[0]
    return of_equations(problem) if kind == "milstm" else run_module(rnn_inputs(problem, kind), problem.seed)


def of_equations(problem: Problem) -> Outcome:
    """An LSTM with multiplicative integration, written for reading: one gate and one direction after the other."""
    inputs = milstm_inputs(problem)
    y, (h0, c0) = inputs.x, inputs.hidden
    h_last, c_last = [], []
    for layer in range(problem.num_layers or 0):
        outputs = []
        for direction in range(problem.directions):
            row = layer * problem.directions + direction
            h, c = h0[row], c0[row]
            found: dict[int, Tensor] = {}
            order = range(len(y)) if direction == 0 else reversed(range(len(y)))
            for step in order:
                h, c = one_step(y[step], h, c, inputs.layers[row])
                found[step] = h
            outputs.append(torch.stack([found[step] for step in range(len(y))]))
            h_last.append(h)
            c_last.append(c)
        y = torch.cat(outputs, dim=-1)
    y.backward(torch.randn(y.shape, generator=torch.Generator().manual_seed(problem.seed)).to(y))
    gradients = [weight.grad for weights in inputs.layers for weight in weights]
    return Outcome(y, (torch.stack(h_last), torch.stack(c_last)), gradients)


def one_step(x: Tensor, h: Tensor, c: Tensor, weights: list[Tensor]) -> tuple[Tensor, Tensor]:
    sums = []
    for w, u, alpha, beta_i, beta_h, bias in zip(*(weight.chunk(4) for weight in weights), strict=True):
        of_x, of_h = x @ w.T, h @ u.T
        sums.append(alpha * of_x * of_h + beta_i * of_x + beta_h * of_h + bias)
    i, f, g, o = sums
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("name", NEW)
def test_equals_its_reference(name: str, layers: int, bidirectional: bool) -> None:
    changes = {"num_layers": layers, "bidirectional": bidirectional, "dtype": "float64"}
    expected = reference(name, problem_of(name, **changes))
    assert_same(run_once(name, **changes), expected)
    assert len(expected.gradients) == layers * (2 if bidirectional else 1) * (6 if name in MULTIPLICATIVE else 4)


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("name", [name for name in NEW if name.endswith("jit")])
def test_equals_its_reference_once_compiled(name: str, executor: str | None) -> None:
    """TorchScript profiles the first calls and optimises later ones: both must be right."""
    changes = {"num_layers": 2, "bidirectional": True}
    expected = reference(name, problem_of(name, **changes))
    assert_same(run_once(name, times=5, executor=executor, **changes), expected, rtol=1e-4, atol=1e-5)


def test_each_family_is_drawn_from_its_seed_on_the_cpu_in_float32() -> None:
    for kind in ("gru", "rnn_tanh", "rnn_relu"):
        plain, again, wider, other = (
            rnn_inputs(problem_of(f"{kind}_py", **changes), kind)
            for changes in ({}, {}, {"dtype": "float64"}, {"seed": 4})
        )
        assert torch.equal(plain.x, again.x)
        assert torch.equal(plain.hidden.double(), wider.hidden)
        assert all(torch.equal(a.double(), b) for a, b in zip(plain.flat_weights(), wider.flat_weights(), strict=True))
        assert not torch.equal(plain.x, other.x)
        assert not torch.equal(plain.flat_weights()[0], other.flat_weights()[0])
    plain, wider = (milstm_inputs(problem_of("milstm_py", dtype=dtype)) for dtype in ("float32", "float64"))
    assert all(torch.equal(a.double(), b) for a, b in zip(plain.flat_weights(), wider.flat_weights(), strict=True))


def test_no_two_parameters_of_multiplicative_integration_are_alike() -> None:
    """Equal ones would hide that two of them were swapped."""
    for _, _, *vectors in milstm_inputs(problem_of("milstm_py")).layers:
        assert len({tuple(vector.tolist()) for vector in vectors}) == 4


def test_they_are_picked_by_name_and_have_a_reference() -> None:
    by_family: dict[str, list[str]] = {}
    for name, runner in all_runners().items():
        if runner.family in {"gru", "rnn", "milstm"}:
            by_family.setdefault(runner.family, []).append(name)
            assert runner.group is None
            assert runner.reference
            assert runner.torchscript == name.endswith("_jit")
    assert sorted(by_family["gru"] + by_family["rnn"]) == sorted(LIKE_TORCH)
    assert by_family["milstm"] == MULTIPLICATIVE


@pytest.mark.gpu(emulated="long", arithmetic=True)
@pytest.mark.parametrize("name", few(("gru_cudnn", "rnn_tanh_py", "milstm_jit"), NEW, arithmetic=True))
def test_cuda_equals_the_cpu(name: str, device_kind: str) -> None:
    changes = {"num_layers": 2, "bidirectional": True, "dtype": "float64"}
    expected = reference(name, problem_of(name, **changes))
    found = run_once(name, device="cuda", fuser=fuser_on(device_kind), **changes)
    states = found.states.cpu() if isinstance(found.states, Tensor) else tuple(state.cpu() for state in found.states)
    assert_same(Outcome(found.output.cpu(), states, [gradient.cpu() for gradient in found.gradients]), expected)
