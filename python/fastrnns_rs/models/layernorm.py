"""LSTMs whose gates and cell state are layer-normalised.

`cudnn_layernorm` is a lower bound of their time: cuDNN's LSTM, and the layer norms of every step after it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fastrnns_rs.models.custom import script, stacked
from fastrnns_rs.models.definition import ModelDef, sequence_model
from fastrnns_rs.models.lstm import with_autocast
from fastrnns_rs.runners.registry import runner

if TYPE_CHECKING:
    import torch

    from fastrnns_rs.problem.problem import Problem


@runner(
    "cudnn_layernorm",
    family="lstm",
    description="nn.LSTM plus separate layer norms, forward only",
    honours=("bidirectional", "proj_size"),
    note=with_autocast(
        lambda _problem: (
            "not a layer-normalised LSTM, but a lower bound of its time: nn.LSTM, then the layer norms of all steps; "
            "no backward"
        )
    ),
    reference="nn.LSTM, last c layer-normalised",
)
def cudnn_layernorm(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H]; c is normalised."""
    import torch

    from fastrnns_rs.models.inputs import lstm_inputs, torch_dtype

    inputs = lstm_inputs(problem)
    steps, _, _, hidden, batch = problem.sizes()
    dtype = torch_dtype(problem)
    input_norm, hidden_norm, cell_norm = (
        torch.nn.LayerNorm(size).to(problem.device, dtype) for size in (4 * hidden, 4 * hidden, hidden)
    )
    gates = torch.randn(batch, 4 * hidden).to(problem.device, dtype)

    def forward(
        x: torch.Tensor, state: tuple[torch.Tensor, torch.Tensor]
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        y, (h, c) = inputs.module(x, state)
        cells = []
        for cell in c:
            normed = cell
            for _ in range(steps):
                input_norm(gates)
                hidden_norm(gates)
                normed = cell_norm(normed)
            cells.append(normed)
        return y, (h, torch.stack(cells))

    return ModelDef(inputs=[inputs.x, inputs.hidden], params=inputs.flat_weights(), forward=forward)


_scripted = partial(
    runner,
    family="lstm",
    honours=("bidirectional",),
    torchscript=True,
    reference="layer-normalised LSTM equations",
)


@_scripted("jit_layernorm", description="TorchScript layer-normalised LSTM, torch's layer_norm")
def jit_layernorm(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H]."""
    return _layer_normalised(problem, decompose=False)


@_scripted(
    "jit_layernorm_decom", description="TorchScript layer-normalised LSTM, elementary operators instead of layer_norm"
)
def jit_layernorm_decom(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H]."""
    return _layer_normalised(problem, decompose=True)


def _layer_normalised(problem: Problem, *, decompose: bool) -> ModelDef:
    import torch

    from fastrnns_rs.models.inputs import lstm_inputs
    from fastrnns_rs.worker.recurrence import layer_norm_layer

    inputs = lstm_inputs(problem)
    layers: list[list[Any]] = []
    for w_ih, w_hh, *_ in inputs.weights():
        gates, hidden = w_hh.shape
        # Initial weights and biases of three norms: for the gates of the input, those of the hidden state, and c.
        norms = [fill(size) for size in (gates, gates, hidden) for fill in (w_hh.new_ones, w_hh.new_zeros)]
        layers.append([w_ih, w_hh, [torch.nn.Parameter(norm) for norm in norms]])
    params = [weight for w_ih, w_hh, norms in layers for weight in (w_ih, w_hh, *norms)]
    forward = stacked(script(layer_norm_layer), decompose, directions=problem.directions)
    return sequence_model(problem, [inputs.x, inputs.hidden, layers], params, forward)
