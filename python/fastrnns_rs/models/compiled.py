"""LSTMs and residual networks compiled by `torch.compile`.

The compiled part is one of three: a step, a loop that stays one operator (`scan`), or an unrolled loop.
Shapes never change here, so they are compiled as constants. The compiler's mode is its default.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from fastrnns_rs.models.definition import ModelDef, sequence_model
from fastrnns_rs.runners.registry import find, runner

if TYPE_CHECKING:
    from torch import Tensor

    from fastrnns_rs.problem.problem import Problem
    from fastrnns_rs.runners.runner import Creator

    State = tuple[Tensor, Tensor]

#: First version of torch in which gradients of `scan` are right although the initial state requires none.
FIRST_RIGHT_SCAN = "2.13"


def compiled(function: Callable[..., Any], *, whole: bool = True) -> Callable[..., Any]:
    """Returns `function` such that its first call compiles it.

    Args:
        function: Function or module.
        whole: True makes a graph break an error.
    """
    import torch

    found: Callable[..., Any] = torch.compile(function, fullgraph=whole, dynamic=False)
    return found


def _model(problem: Problem, forward: Callable[..., Any], *, separate_weights: bool = False) -> ModelDef:
    """Returns a model whose weights are arguments.

    Args:
        problem: Problem that the model is built for.
        forward: Function of the inputs and weights.
        separate_weights: True gives each weight its own storage.
    """
    from fastrnns_rs.models.inputs import lstm_inputs

    inputs = lstm_inputs(problem)
    if separate_weights:
        # cuDNN makes them views of one buffer, but inputs of `scan` must not share memory.
        for weight in inputs.flat_weights():
            weight.data = weight.data.clone()
    return sequence_model(problem, [inputs.x, inputs.hidden, inputs.weights()], inputs.flat_weights(), forward)


def _stack(problem: Problem, layer: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function over all layers and directions of a problem."""
    from fastrnns_rs.models.custom import stacked

    return stacked(layer, directions=problem.directions)


def _cell_by_cell() -> Callable[..., Any]:
    """Returns a layer over a compiled step."""
    import torch

    from fastrnns_rs.worker.cells import lstm_cell

    step = compiled(lstm_cell)

    def layer(x: Tensor, state: State, *weights: Tensor) -> tuple[Tensor, State]:
        h, c = state[0][0], state[1][0]
        outputs = []
        for step_input in x.unbind(0):
            h, c = step(step_input, (h, c), *weights)
            outputs.append(h)
        return torch.stack(outputs), (h.unsqueeze(0), c.unsqueeze(0))

    return layer


def _scanned(x: Tensor, state: State, *weights: Tensor) -> tuple[Tensor, State]:
    """Returns a layer whose time loop is one operator for the compiler."""
    from torch._higher_order_ops import scan

    from fastrnns_rs.worker.cells import lstm_cell

    def step(carry: State, step_input: Tensor) -> tuple[State, Tensor]:
        h, c = lstm_cell(step_input, carry, *weights)
        # The carry and the output must not share memory: without these clones only inference compiles.
        return (h.clone(), c.clone()), h

    (h, c), y = scan(step, (state[0][0], state[1][0]), x)
    return y, (h.unsqueeze(0), c.unsqueeze(0))


_lstm = partial(runner, family="lstm", compiles=True, honours=("bidirectional",), reference="nn.LSTM")


@_lstm("compile_cell", description="torch.compile of one LSTM step, loop over time steps in Python")
def compile_cell(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H]."""
    return _model(problem, _stack(problem, _cell_by_cell()))


@_lstm("compile_scan", description="torch.compile of the whole LSTM, loop over time steps as operator scan")
def compile_scan(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H]."""
    import torch

    if problem.mode == "train" and torch.__version__ < FIRST_RIGHT_SCAN:
        message = f"torch {torch.__version__} computes wrong gradients of scan"
        raise RuntimeError(f"{message}: use torch {FIRST_RIGHT_SCAN} or newer, or --mode inference")
    return _model(problem, compiled(_stack(problem, _scanned)), separate_weights=True)


@_lstm(
    "compile_unrolled",
    description="torch.compile of the whole LSTM, loop over time steps unrolled",
    note=lambda _problem: "compile time grows with --seq-length: each time step is compiled separately",
)
def compile_unrolled(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H]."""
    from fastrnns_rs.worker.recurrence import lstm_layer

    return _model(problem, compiled(_stack(problem, lstm_layer)))


def _network(architecture: str) -> Creator:
    def creator(problem: Problem) -> ModelDef:
        eager = find(architecture).creator(problem)
        return replace(eager, forward=compiled(eager.forward, whole=False))

    return creator


for _architecture in ("resnet18", "resnet50"):
    runner(
        f"{_architecture}_compile",
        family="resnet",
        description=f"torchvision's {_architecture}, compiled by torch.compile",
        images=True,
        requires=("torchvision",),
        compiles=True,
        honours=("channels_last",),
        reference="eager",
    )(_network(_architecture))
