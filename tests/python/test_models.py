"""The runners' mathematics, against formulas written out; test_models_variants.py holds them against `nn.LSTM`."""

from __future__ import annotations

import parts
import pytest
import torch
from gpu_tests import few, fuser_on
from models_under_test import OURS, QUICK, problem_of, run_once
from torch.testing import assert_close

from fastrnns_rs.models.compiled import FIRST_RIGHT_SCAN
from fastrnns_rs.models.inputs import lstm_inputs, varlen_inputs
from fastrnns_rs.runners.registry import find

#: Torch compiles nothing where operators are computed beside it.
COMPILED = [name for name in OURS if find(name).compiles]
#: A runner of each family, and of each way of writing one.
FAMILIES = ["cudnn", "jit", "gru_cudnn", "rnn_tanh_py", "milstm_jit", "vl_cudnn", "resnet18", "cudagraph"]
LIKE_NN_LSTM = ["cudnn", "aten", "jit", "jit_premul", "jit_premul_bias", "jit_multilayer", "py"]


def test_jit_simple_gives_the_last_step_of_nn_lstm() -> None:
    reference = run_once("cudnn")
    found = run_once("jit_simple")
    assert_close(found.output, reference.output[-1:])
    assert_close(found.states, reference.states)


def test_jit_simple_differentiates_its_last_step() -> None:
    problem = problem_of("jit_simple")
    inputs = lstm_inputs(problem)
    y, _ = inputs.module(inputs.x, inputs.hidden)
    gradient = torch.randn(y[-1:].shape, generator=torch.Generator().manual_seed(problem.seed))
    y[-1:].backward(gradient)
    assert_close(run_once("jit_simple").gradients, [weight.grad for weight in inputs.flat_weights()])


def test_variable_lengths_are_those_of_upstream() -> None:
    """From 30 to 99 at upstream's length; a sequence has at least one step, however short the bound."""
    lengths = [len(x) for x in varlen_inputs(problem_of("vl_py", seq_length=100, mini_batch=2000, input_size=1)).x]
    assert (min(lengths), max(lengths)) == (30, 99)
    for bound in (1, 2, 3):
        problem = problem_of("vl_py", seq_length=bound)
        lengths = {len(x) for x in varlen_inputs(problem).x}
        assert lengths == {1} if bound < 3 else lengths <= {1, 2}
        assert (find("vl_py").note(problem) == "all sequences have length 1") is (bound < 3)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("name", ["jit_layernorm", "jit_layernorm_decom"])
def test_layer_norm_equals_the_formula(name: str, layers: int) -> None:
    inputs = lstm_inputs(problem_of(name, num_layers=layers, dtype="float64"))
    y, (h0, c0) = inputs.x, inputs.hidden

    def norm(x: torch.Tensor) -> torch.Tensor:
        return (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, unbiased=False, keepdim=True) + 1e-5)

    states = []
    for layer, (w_ih, w_hh, *_) in enumerate(inputs.weights()):
        h, c = h0[layer], c0[layer]
        outputs = []
        for x in y:
            i, f, g, o = (norm(x @ w_ih.T) + norm(h @ w_hh.T)).split(w_hh.shape[1], dim=1)
            c = norm(f.sigmoid() * c + i.sigmoid() * g.tanh())
            h = o.sigmoid() * c.tanh()
            outputs.append(h)
        y = torch.stack(outputs)
        states.append((h, c))
    found = run_once(name, num_layers=layers, dtype="float64")
    assert_close(found.output, y)
    assert_close(found.states, tuple(torch.stack(state) for state in zip(*states, strict=True)))
    assert len(found.gradients) == 8 * layers


def test_both_layer_norms_have_the_same_gradients() -> None:
    one, other = (run_once(name, num_layers=2, dtype="float64") for name in ("jit_layernorm", "jit_layernorm_decom"))
    assert_close(one.gradients, other.gradients)


def test_dropout_silences_its_share_between_layers() -> None:
    """With the second layer's input weights as an identity, its input gate shows which features were dropped."""
    from fastrnns_rs.worker import recurrence

    state = (torch.zeros(2, 50, 8), torch.zeros(2, 50, 8))
    weights = [
        torch.randn(32, 8) if w.dim() == 2 else torch.zeros(32)
        for w in [torch.zeros(32, 8)] * 2 + [torch.zeros(32)] * 2
    ]
    x = torch.randn(10, 50, 8)
    torch.manual_seed(0)
    dropped = torch.dropout(torch.ones(200_000), 0.4, True)  # noqa: FBT003
    assert dropped.eq(0).double().mean().item() == pytest.approx(0.4, abs=0.01)
    plain, _ = recurrence.multilayer(x, state, weights * 2, 0.0)
    torch.manual_seed(1)
    once, _ = recurrence.multilayer(x, state, weights * 2, 0.4)
    torch.manual_seed(1)
    again, _ = recurrence.multilayer(x, state, weights * 2, 0.4)
    assert not torch.equal(plain, once)
    assert torch.equal(once, again)


def test_a_trace_computes_what_the_module_computes() -> None:
    plain, traced = run_once("resnet18", mini_batch=2), run_once("resnet18_jit", mini_batch=2)
    assert_close(traced.output, plain.output)
    assert_close(traced.gradients, plain.gradients)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize(
    "name", parts.few(FAMILIES[:-1], [name for name in QUICK if not name.startswith("resnet50")], "models")
)
def test_every_runner_takes_every_dtype(name: str, dtype: str) -> None:
    found = run_once(name, dtype=dtype, mini_batch=2)
    output = found.output[0] if isinstance(found.output, list) else found.output
    assert output.dtype is getattr(torch, dtype)
    assert torch.isfinite(output).all()
    assert all(gradient is None or gradient.dtype is output.dtype for gradient in found.gradients)


@pytest.mark.parametrize("name", ["cudnn", "vl_py", "jit_layernorm", "cudnn_layernorm", "resnet18"])
def test_a_seed_fixes_everything_and_zero_is_one(name: str) -> None:
    def output(seed: int) -> torch.Tensor:
        found = run_once(name, seed=seed, mini_batch=2).output
        return found[0] if isinstance(found, list) else found

    torch.manual_seed(99)
    first = output(0)
    torch.manual_seed(100)
    assert torch.equal(first, output(0))
    other = output(1)
    assert other.shape != first.shape or not torch.equal(first, other)


@pytest.mark.gpu(emulated="long", arithmetic=True)
@pytest.mark.parametrize("name", few(FAMILIES, OURS, only_gpu=COMPILED, arithmetic=True))
def test_every_runner_runs_on_cuda(name: str, device_kind: str) -> None:
    if name == "compile_scan" and torch.__version__ < FIRST_RIGHT_SCAN:
        pytest.skip("torch computes wrong gradients of scan")
    found = run_once(name, device="cuda", mini_batch=2, fuser=fuser_on(device_kind))
    output = found.output[0] if isinstance(found.output, list) else found.output
    assert output.is_cuda
    assert torch.isfinite(output).all()


@pytest.mark.gpu(emulated="quick", arithmetic=True)
@pytest.mark.parametrize("name", ["cudnn", "aten", "gru_cudnn", "rnn_tanh_cudnn", "vl_cudnn", "cudnn_dropout"])
def test_a_note_names_the_dtype_that_autocast_gives_cudnn(name: str) -> None:
    problem = problem_of(name, amp=True, device="cuda")
    found = run_once(name, amp=True, device="cuda").output
    assert found.dtype is (torch.float16 if "float16" in str(find(name).note_on(problem)) else torch.bfloat16)


@pytest.mark.gpu(emulated="long", arithmetic=True)
@pytest.mark.parametrize("name", few(("cudnn", "jit"), LIKE_NN_LSTM, arithmetic=True))
def test_cuda_equals_the_cpu(name: str, device_kind: str) -> None:
    reference = run_once("py", num_layers=2, dtype="float64")
    found = run_once(name, num_layers=2, dtype="float64", device="cuda", fuser=fuser_on(device_kind))
    assert_close(found.output.cpu(), reference.output)
    assert_close([gradient.cpu() for gradient in found.gradients], reference.gradients)
