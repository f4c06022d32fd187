"""LSTMs written out in Python and compiled by TorchScript, in the variants that PyTorch's fastrnns compares.

`jit` multiplies the input step by step, `jit_premul` once for all steps, `jit_premul_bias` adds the input's bias there
too. `py` is `jit` without a compiler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastrnns_rs.models.definition import ModelDef, backward, from_sequence
from fastrnns_rs.registry import runner

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from fastrnns_rs.problem import Problem


def script(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` compiled by TorchScript, without torch's notice that TorchScript is deprecated."""
    import torch

    from fastrnns_rs.context import torchscript_warnings_silenced

    with torchscript_warnings_silenced():
        compiled: Callable[..., Any] = torch.jit.script(function)
    return compiled


def stacked(layer: Callable[..., Any], *shared: Any) -> Callable[..., Any]:
    """A function over a stack of layers from one over a single layer, which is called with its weights and `shared`."""
    import torch

    def forward(
        x: torch.Tensor, hidden: tuple[torch.Tensor, torch.Tensor], weights: list[list[Any]]
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        h, c = hidden
        if len(weights) == 1:
            result: tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]] = layer(x, hidden, *weights[0], *shared)
            return result
        states = []
        for index, of_layer in enumerate(weights):
            x, state = layer(x, (h[index : index + 1], c[index : index + 1]), *of_layer, *shared)
            states.append(state)
        return x, (torch.cat([h for h, _ in states]), torch.cat([c for _, c in states]))

    return forward


def _stacked_lstm(problem: Problem, layer: Callable[..., Any]) -> ModelDef:
    from fastrnns_rs.models.inputs import lstm_inputs

    inputs = lstm_inputs(problem)
    return ModelDef(
        inputs=[inputs.x, inputs.hidden, inputs.weights()],
        params=inputs.flat_weights(),
        forward=stacked(layer),
        backward_setup=from_sequence(problem.seed),
        backward=backward,
    )


@runner("jit", family="lstm", group="rnns", description="TorchScript: a loop over time", torchscript=True)
def jit(problem: Problem) -> ModelDef:
    """Returns y [S, B, H] and (h, c), each [L, B, H]."""
    from fastrnns_rs.recurrence import lstm_layer

    return _stacked_lstm(problem, script(lstm_layer))


@runner(
    "jit_premul",
    family="lstm",
    group="rnns",
    description="TorchScript: the input multiplied for all steps at once",
    torchscript=True,
)
def jit_premul(problem: Problem) -> ModelDef:
    """Returns y [S, B, H] and (h, c), each [L, B, H]."""
    from fastrnns_rs.recurrence import premul_layer

    return _stacked_lstm(problem, script(premul_layer))


@runner(
    "jit_premul_bias",
    family="lstm",
    group="rnns",
    description="TorchScript: as jit_premul, with the input's bias added there too",
    torchscript=True,
)
def jit_premul_bias(problem: Problem) -> ModelDef:
    """Returns y [S, B, H] and (h, c), each [L, B, H]."""
    from fastrnns_rs.recurrence import premul_bias_layer

    return _stacked_lstm(problem, script(premul_bias_layer))


def _last_step_only(_problem: Problem) -> str:
    return "gives the last step only, so backward starts from one step: do not compare its backward with other rows"


@runner(
    "jit_simple",
    family="lstm",
    group="rnns",
    description="TorchScript: no tuples and no list of outputs, the last state only",
    layers=(1, 1),
    torchscript=True,
    note=_last_step_only,
)
def jit_simple(problem: Problem) -> ModelDef:
    """Returns y [1, B, H], the last step, and (h, c), each [1, B, H]."""
    from fastrnns_rs.models.inputs import lstm_inputs
    from fastrnns_rs.recurrence import last_state

    inputs = lstm_inputs(problem)
    last = script(last_state)

    def forward(*arguments: torch.Tensor) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        h, c = last(*arguments)
        return h.unsqueeze(0), (h.unsqueeze(0), c.unsqueeze(0))

    return ModelDef(
        inputs=[inputs.x, inputs.hidden[0][0], inputs.hidden[1][0], *inputs.flat_weights()],
        params=inputs.flat_weights(),
        forward=forward,
        backward_setup=from_sequence(problem.seed),
        backward=backward,
    )


@runner(
    "jit_multilayer",
    family="lstm",
    group="rnns",
    description="TorchScript: the loop over layers compiled too",
    torchscript=True,
)
def jit_multilayer(problem: Problem) -> ModelDef:
    """Returns y [S, B, H] and (h, c), each [L, B, H]."""
    return multilayer(problem, dropout=0.0)


def multilayer(problem: Problem, *, dropout: float) -> ModelDef:
    """A stack of layers in one TorchScript function."""
    from fastrnns_rs import recurrence
    from fastrnns_rs.models.inputs import lstm_inputs

    inputs = lstm_inputs(problem)
    return ModelDef(
        inputs=[inputs.x, inputs.hidden, inputs.flat_weights(), dropout],
        params=inputs.flat_weights(),
        forward=script(recurrence.multilayer),
        backward_setup=from_sequence(problem.seed),
        backward=backward,
    )


@runner("py", family="lstm", group="rnns", description="the loop over time in plain Python")
def py(problem: Problem) -> ModelDef:
    """Returns y [S, B, H] and (h, c), each [L, B, H]."""
    from fastrnns_rs.recurrence import lstm_layer

    return _stacked_lstm(problem, lstm_layer)
