"""LSTMs written in Python, most of them compiled by TorchScript.

The variants are those of PyTorch's fastrnns. `jit` multiplies the input step by step, `jit_premul` once for all steps.
`jit_premul_bias` also adds the bias of the input there. `py` is `jit` without a compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from fastrnns_rs.models.definition import ModelDef, sequence_model
from fastrnns_rs.runners.registry import runner

if TYPE_CHECKING:
    from torch import Tensor

    from fastrnns_rs.models.inputs import MilstmInputs, RecurrentInputs
    from fastrnns_rs.problem.problem import Problem


def script(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `function` compiled by TorchScript.

    Torch's warning that TorchScript is deprecated is silenced.
    """
    import torch

    from fastrnns_rs.worker.torch_settings import torchscript_warnings_silenced

    with torchscript_warnings_silenced():
        compiled: Callable[..., Any] = torch.jit.script(function)
    return compiled


def stacked(layer: Callable[..., Any], *shared: Any, directions: int = 1) -> Callable[..., Any]:
    """Returns a function over a stack of layers, from a function over one layer.

    Args:
        layer: Takes x [S, B, I], its state, its weights and `shared`; returns y [S, B, H] and its state. A state is one
            tensor [1, B, H] or a tuple of tensors.
        shared: Arguments of every layer in addition to its weights.
        directions: 2 adds a second layer to each layer, which reads the sequence backwards: y [S, B, 2H].

    Returns:
        Function of x, the states of all layers and directions (one tensor [L D, B, H] or a tuple of tensors), and the
        weights of each. It returns (y, states).
    """
    import torch

    def one_way(x: Tensor, hidden: Any, weights: list[list[Any]]) -> tuple[Tensor, Any]:
        if len(weights) == 1:
            result: tuple[Tensor, Any] = layer(x, hidden, *weights[0], *shared)
            return result
        states = []
        for row, layer_weights in enumerate(weights):
            x, state = layer(x, _row(hidden, row), *layer_weights, *shared)
            states.append(state)
        return x, _joined(states)

    def both_ways(x: Tensor, hidden: Any, weights: list[list[Any]]) -> tuple[Tensor, Any]:
        states = []
        for row in range(0, len(weights), 2):
            forwards, first = layer(x, _row(hidden, row), *weights[row], *shared)
            backwards, second = layer(x.flip(0), _row(hidden, row + 1), *weights[row + 1], *shared)
            x = torch.cat([forwards, backwards.flip(0)], 2)
            states += [first, second]
        return x, _joined(states)

    return one_way if directions == 1 else both_ways


def _row(states: Any, row: int) -> Any:
    """Returns the state of one layer and direction."""
    if isinstance(states, tuple):
        return tuple(state[row : row + 1] for state in states)
    return states[row : row + 1]


def _joined(states: list[Any]) -> Any:
    """Joins the states of all layers and directions, which `_row` separates."""
    import torch

    if isinstance(states[0], tuple):
        return tuple(torch.cat(parts) for parts in zip(*states, strict=True))
    return torch.cat(states)


def stacked_model(problem: Problem, inputs: RecurrentInputs[Any] | MilstmInputs, layer: Callable[..., Any]) -> ModelDef:
    """Returns a model of stacked layers with the tensors of `inputs`."""
    forward = stacked(layer, directions=problem.directions)
    return sequence_model(problem, [inputs.x, inputs.hidden, inputs.weights()], inputs.flat_weights(), forward)


def _stacked_lstm(problem: Problem, layer: Callable[..., Any]) -> ModelDef:
    from fastrnns_rs.models.inputs import lstm_inputs

    return stacked_model(problem, lstm_inputs(problem), layer)


def _step_by_step(problem: Problem) -> Callable[..., Any]:
    """Returns the layer that multiplies its input in each step.

    It has a projection if the problem has one.
    """
    from fastrnns_rs.worker.recurrence import lstm_layer, projected_layer

    return lstm_layer if problem.proj_size is None else projected_layer


#: Arguments that upstream's LSTMs have in common.
_lstm = partial(runner, family="lstm", group="rnns", reference="nn.LSTM")
_scripted = partial(_lstm, torchscript=True)


@_scripted("jit", description="TorchScript LSTM, loop over time steps", honours=("bidirectional", "proj_size"))
def jit(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H].

    With a projection, P replaces H in y and h.
    """
    return _stacked_lstm(problem, script(_step_by_step(problem)))


@_scripted(
    "jit_premul",
    description="TorchScript LSTM, input projection of all steps in one matrix product",
    honours=("bidirectional",),
)
def jit_premul(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H]."""
    from fastrnns_rs.worker.recurrence import premul_layer

    return _stacked_lstm(problem, script(premul_layer))


@_scripted(
    "jit_premul_bias",
    description="jit_premul, input bias added for all steps at once too",
    honours=("bidirectional",),
)
def jit_premul_bias(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H]."""
    from fastrnns_rs.worker.recurrence import premul_bias_layer

    return _stacked_lstm(problem, script(premul_bias_layer))


@_scripted(
    "jit_simple",
    description="TorchScript LSTM of 1 layer, returns the last state only",
    layers=(1, 1),
    note=lambda _problem: (
        "returns the last step only, so backward starts from one step: do not compare its backward with other rows"
    ),
    reference="last state of nn.LSTM",
)
def jit_simple(problem: Problem) -> ModelDef:
    """Returns y [1, B, H], the last step, and (h, c), each [1, B, H]."""
    from fastrnns_rs.models.inputs import lstm_inputs
    from fastrnns_rs.worker.recurrence import last_state

    inputs = lstm_inputs(problem)
    last = script(last_state)

    def forward(*arguments: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        h, c = last(*arguments)
        return h.unsqueeze(0), (h.unsqueeze(0), c.unsqueeze(0))

    given = [inputs.x, inputs.hidden[0][0], inputs.hidden[1][0], *inputs.flat_weights()]
    return sequence_model(problem, given, inputs.flat_weights(), forward)


@_scripted("jit_multilayer", description="TorchScript LSTM, loop over layers compiled too", honours=("bidirectional",))
def jit_multilayer(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H]."""
    return multilayer(problem, dropout=0.0)


def multilayer(problem: Problem, *, dropout: float) -> ModelDef:
    """Runs a stack of layers in one TorchScript function.

    Dropout applies only in training.
    """
    from fastrnns_rs.models.inputs import lstm_inputs
    from fastrnns_rs.worker import recurrence

    inputs = lstm_inputs(problem)
    dropped = dropout if problem.training else 0.0
    given = [inputs.x, inputs.hidden, inputs.flat_weights(), dropped, problem.directions]
    return sequence_model(problem, given, inputs.flat_weights(), script(recurrence.multilayer))


@_lstm("py", description="eager Python LSTM, loop over time steps", honours=("bidirectional", "proj_size"))
def py(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H].

    With a projection, P replaces H in y and h.
    """
    return _stacked_lstm(problem, _step_by_step(problem))
