"""A runner that is the same function as its reference, another runner, is right; its wrong gradients are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from fastrnns_rs import ModelDef, Problem
from fastrnns_rs.errors import RunnerError
from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.problem.tolerance import Tolerance, choose_tolerance
from fastrnns_rs.runners import registry
from fastrnns_rs.worker.verification.checks import compare
from fastrnns_rs.worker.verification.examination import Examination, examine
from fastrnns_rs.worker.verification.references import find_reference
from fastrnns_rs.worker.verification.tensors import MISSING, pairs

PROBLEM = Problem(seq_length=5, num_layers=1, input_size=4, hidden_size=3, mini_batch=2, device="cpu")


def from_part(part: Callable[[Any], Tensor]) -> Callable[[Any], tuple[Any, ...]]:
    return lambda result: (part(result), torch.ones_like(part(result)))


def model(
    forward: Callable[..., Any],
    part: Callable[[Any], Tensor] = lambda result: result,
    *,
    inputs: list[Any] | None = None,
    params: list[Tensor] | None = None,
) -> ModelDef:
    given = [torch.randn(2, 4)] if inputs is None else inputs
    own = [*forward.parameters()] if params is None and isinstance(forward, nn.Module) else params or []
    return ModelDef(given, own, forward, from_part(part), torch.Tensor.backward)


@dataclass
class Output:
    first: Tensor
    second: Tensor


class Changed(nn.Linear):
    """Linear layer between two functions of the runner."""

    def __init__(self, before: Callable[[Any], Any] = lambda x: x, after: Callable[[Any], Any] = lambda y: y) -> None:
        super().__init__(4, 3)
        self.before, self.after = before, after

    def forward(self, x: Any) -> Any:
        return self.after(super().forward(self.before(x)))


def frozen() -> ModelDef:
    layers = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 3))
    layers[0].requires_grad_(requires_grad=False)
    return model(layers, params=[*layers[1].parameters()])


def mixed_order() -> ModelDef:
    layer = nn.Linear(4, 3)
    return model(layer, params=[layer.bias, layer.weight])


def none_state() -> ModelDef:
    layer = nn.Linear(4, 3)
    return model(lambda x: (layer(x), None), lambda result: result[0], params=[*layer.parameters()])


def packed() -> ModelDef:
    sequences = nn.utils.rnn.pack_padded_sequence(torch.randn(5, 2, 4), torch.tensor([5, 3]))
    return model(nn.LSTM(4, 3), lambda result: result[0].data, inputs=[sequences])


def embedding() -> ModelDef:
    return model(nn.Embedding(4, 3), inputs=[torch.tensor([1, 0, 3])])


def own_loss() -> ModelDef:
    return replace(model(nn.Linear(4, 3)), backward_setup=None, backward=lambda y: y.square().sum().backward())


SAME: dict[str, Callable[[], ModelDef]] = {
    "grad_input": lambda: model(nn.Linear(4, 3), inputs=[torch.randn(2, 4, requires_grad=True)]),
    "frozen": frozen,
    "mixed_order": mixed_order,
    "from_state": lambda: model(nn.GRU(4, 3), lambda result: result[1], inputs=[torch.randn(5, 2, 4)]),
    "from_second": lambda: model(Changed(after=lambda y: (y, y * 2)), lambda result: result[1]),
    "none_state": none_state,
    "none_state_of_a_module": lambda: model(Changed(after=lambda y: (y, None)), lambda result: result[0]),
    "packed": packed,
    "dict_in": lambda: model(Changed(lambda given: given["x"]), inputs=[{"x": torch.randn(2, 4)}]),
    "dict_out": lambda: model(Changed(after=lambda y: {"y": y}), lambda result: result["y"]),
    "dataclass": lambda: model(Changed(after=lambda y: Output(y, y * 2)), lambda result: result.second),
    "integers": embedding,
    "own_loss": own_loss,
    "sparse_gradient": lambda: model(nn.Embedding(4, 3, sparse=True), inputs=[torch.tensor([1, 0, 3])]),
    "sparse_input": lambda: model(Changed(lambda x: x.to_dense()), inputs=[torch.eye(2, 4).to_sparse()]),
    "fixed_dtype": lambda: model(Changed(lambda x: x.float())),
}


def checked(name: str, change: Callable[[ModelDef], ModelDef], monkeypatch: pytest.MonkeyPatch) -> Examination:
    """An examination of a runner with these changes against the same one without them."""

    def creator(_problem: Problem) -> ModelDef:
        torch.manual_seed(0)
        return SAME[name]()

    other = replace(registry.find("py"), name="other", reference=None, creator=creator)
    monkeypatch.setattr(registry, "find", {"other": other}.__getitem__)
    runner = replace(other, name="mine", reference="other", creator=lambda problem: change(creator(problem)))
    examination = Examination()
    examine(runner, PROBLEM, JitSettings(), choose_tolerance(PROBLEM), examination)
    return examination


@pytest.mark.parametrize("name", SAME)
def test_a_copy_of_the_reference_is_right(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = checked(name, lambda same: same, monkeypatch)
    assert (found.wrong(), found.notes) == ([], [])
    assert {one.name.partition("[")[0].partition(":")[0] for one in found.checks()} >= {"output", "gradient"}


@pytest.mark.parametrize("name", SAME)
def test_doubled_gradients_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def doubled(same: ModelDef) -> ModelDef:
        for param in same.params:
            param.register_hook(lambda gradient: gradient * 2)
        return same

    wrong = checked(name, doubled, monkeypatch).wrong()
    assert wrong
    assert all(one.startswith("gradient:") for one in wrong)


def test_a_model_without_parameters_has_no_gradients_to_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SAME, "frozen", lambda: replace(frozen(), params=[]))
    found = checked("frozen", lambda same: same, monkeypatch)
    assert (found.wrong(), found.notes) == ([], ["no parameters: outputs and states only"])
    monkeypatch.undo()
    monkeypatch.setitem(SAME, "frozen", lambda: replace(frozen(), params=[]))
    changed = checked("frozen", lambda same: replace(same, forward=lambda x: same.forward(x) + 1), monkeypatch)
    assert [one.partition(":")[0] for one in changed.wrong()] == ["output"]


def test_a_tensor_in_the_place_of_none_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def more(same: ModelDef) -> ModelDef:
        return replace(same, forward=lambda x: (same.forward(x)[0], x))

    assert checked("none_state", more, monkeypatch).wrong() == ["state: nothing is expected here (call 1)"]


def test_integers_are_equal_and_complex_numbers_are_near() -> None:
    tolerance = Tolerance(relative=1e-3, absolute=1e-3)
    known = torch.arange(50_000, 50_003)
    assert compare("output", known, known, tolerance, dtypes={torch.float32}).wrong is None
    found = compare("output", known + 1, known, tolerance, dtypes={torch.float32})
    assert (str(found.wrong).partition(";")[0], found.check.tolerance_relative) == ("50001 at [0], expected 50000", 0.0)
    waves = torch.polar(torch.ones(3, dtype=torch.float64), torch.arange(3, dtype=torch.float64))
    for factor, is_right in ((1.0, True), (1.1, False)):
        found = compare("output", (factor * waves).to(torch.complex64), waves, tolerance, dtypes={torch.float32})
        assert (found.wrong is None) == is_right


def test_values_of_mappings_are_paired_by_their_keys() -> None:
    one, other = torch.zeros(1), torch.ones(1)
    found = [*pairs("output", {"b": other, "c": one}, {"a": one, "b": other})]
    assert found == [("output[a]", MISSING, one), ("output[b]", other, other), ("output[c]", one, MISSING)]


def test_an_eager_runner_that_the_name_does_not_have() -> None:
    runner = replace(registry.find("py"), name="mine", reference="eager")
    with pytest.raises(RunnerError, match=r"^no reference: 'eager' is the part of the name before its last '_'"):
        find_reference(runner)
