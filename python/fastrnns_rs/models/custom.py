"""LSTMs written out in Python and compiled by TorchScript, in the variants that PyTorch's fastrnns compares.

`jit` multiplies the input step by step, `jit_premul` once for all steps, `jit_premul_bias` adds the input's bias there
too. `py` is `jit` without a compiler.
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
    """`function` compiled by TorchScript, without torch's notice that TorchScript is deprecated."""
    import torch

    from fastrnns_rs.worker.torch_settings import torchscript_warnings_silenced

    with torchscript_warnings_silenced():
        compiled: Callable[..., Any] = torch.jit.script(function)
    return compiled


def stacked(layer: Callable[..., Any], *shared: Any, directions: int = 1) -> Callable[..., Any]:
    """A function over a stack of layers from one over a single layer, which is called with its weights and `shared`.

    Args:
        layer: Takes x [S, B, I], its state, its weights and `shared`; returns y [S, B, H] and its state. A state is one
            tensor [1, B, H] or a tuple of them.
        shared: What every layer takes beside its weights.
        directions: With 2 a second layer beside each reads the sequence backwards: y [S, B, 2H].

    Returns:
        A function of x, the states of all layers and directions as one tensor [L D, B, H] or a tuple of them, and the
        weights of each. It returns (y, states).
    """
    import torch

    def one_way(x: Tensor, hidden: Any, weights: list[list[Any]]) -> tuple[Tensor, Any]:
        if len(weights) == 1:
            result: tuple[Tensor, Any] = layer(x, hidden, *weights[0], *shared)
            return result
        states = []
        for row, of_layer in enumerate(weights):
            x, state = layer(x, _row(hidden, row), *of_layer, *shared)
            states.append(state)
        return x, _joined(states)

    def both_ways(x: Tensor, hidden: Any, weights: list[list[Any]]) -> tuple[Tensor, Any]:
        states = []
        for row in range(0, len(weights), 2):
            ahead, first = layer(x, _row(hidden, row), *weights[row], *shared)
            back, second = layer(x.flip(0), _row(hidden, row + 1), *weights[row + 1], *shared)
            x = torch.cat([ahead, back.flip(0)], 2)
            states += [first, second]
        return x, _joined(states)

    return one_way if directions == 1 else both_ways


def _row(states: Any, row: int) -> Any:
    """The state of one layer and direction."""
    if isinstance(states, tuple):
        return tuple(state[row : row + 1] for state in states)
    return states[row : row + 1]


def _joined(states: list[Any]) -> Any:
    """The states of all layers and directions, of which `_row` gives one."""
    import torch

    if isinstance(states[0], tuple):
        return tuple(torch.cat(of_layers) for of_layers in zip(*states, strict=True))
    return torch.cat(states)


def stacked_model(problem: Problem, inputs: RecurrentInputs[Any] | MilstmInputs, layer: Callable[..., Any]) -> ModelDef:
    """A model of layers and directions of `layer`, with what `inputs` holds."""
    forward = stacked(layer, directions=problem.directions)
    return sequence_model(problem, [inputs.x, inputs.hidden, inputs.weights()], inputs.flat_weights(), forward)


def _stacked_lstm(problem: Problem, layer: Callable[..., Any]) -> ModelDef:
    from fastrnns_rs.models.inputs import lstm_inputs

    return stacked_model(problem, lstm_inputs(problem), layer)


def _step_by_step(problem: Problem) -> Callable[..., Any]:
    """The layer that multiplies its input in each step, with a projection if the problem has one."""
    from fastrnns_rs.worker.recurrence import lstm_layer, projected_layer

    return lstm_layer if problem.proj_size is None else projected_layer


#: What upstream's LSTMs have in common.
_lstm = partial(runner, family="lstm", group="rnns", reference="nn.LSTM")
_scripted = partial(_lstm, torchscript=True)


@_scripted("jit", description="TorchScript: a loop over time", honours=("bidirectional", "proj_size"))
def jit(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H]; P stands for H in y and h with a projection."""
    return _stacked_lstm(problem, script(_step_by_step(problem)))


@_scripted(
    "jit_premul", description="TorchScript: the input multiplied for all steps at once", honours=("bidirectional",)
)
def jit_premul(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H]."""
    from fastrnns_rs.worker.recurrence import premul_layer

    return _stacked_lstm(problem, script(premul_layer))


@_scripted(
    "jit_premul_bias",
    description="TorchScript: as jit_premul, with the input's bias added there too",
    honours=("bidirectional",),
)
def jit_premul_bias(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H]."""
    from fastrnns_rs.worker.recurrence import premul_bias_layer

    return _stacked_lstm(problem, script(premul_bias_layer))


@_scripted(
    "jit_simple",
    description="TorchScript: no tuples and no list of outputs, the last state only",
    layers=(1, 1),
    note=lambda _problem: (
        "gives the last step only, so backward starts from one step: do not compare its backward with other rows"
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


@_scripted("jit_multilayer", description="TorchScript: the loop over layers compiled too", honours=("bidirectional",))
def jit_multilayer(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H]."""
    return multilayer(problem, dropout=0.0)


def multilayer(problem: Problem, *, dropout: float) -> ModelDef:
    """A stack of layers in one TorchScript function, which drops nothing unless it is trained."""
    from fastrnns_rs.models.inputs import lstm_inputs
    from fastrnns_rs.worker import recurrence

    inputs = lstm_inputs(problem)
    dropped = dropout if problem.training else 0.0
    given = [inputs.x, inputs.hidden, inputs.flat_weights(), dropped, problem.directions]
    return sequence_model(problem, given, inputs.flat_weights(), script(recurrence.multilayer))


@_lstm("py", description="the loop over time in plain Python", honours=("bidirectional", "proj_size"))
def py(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H]; P stands for H in y and h with a projection."""
    return _stacked_lstm(problem, _step_by_step(problem))
