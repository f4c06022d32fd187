"""`nn.LSTM` as torch runs it: with cuDNN, and without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.models.definition import ModelDef, backward, from_sequence
from fastrnns_rs.registry import runner

if TYPE_CHECKING:
    from fastrnns_rs.problem import Problem


def _same_on_cpu(problem: Problem) -> str | None:
    return "cudnn and aten are the same code path on a CPU (oneDNN)" if problem.device == "cpu" else None


def nn_lstm(problem: Problem, *, dropout: float = 0.0) -> ModelDef:
    """The module `nn.LSTM`, with dropout between its layers."""
    from fastrnns_rs.models.inputs import lstm_inputs

    inputs = lstm_inputs(problem, dropout=dropout)
    return ModelDef(
        inputs=[inputs.x, inputs.hidden],
        params=inputs.flat_weights(),
        forward=inputs.module,
        backward_setup=from_sequence(problem.seed),
        backward=backward,
    )


@runner("cudnn", family="lstm", group="rnns", description="nn.LSTM as torch runs it, on cuDNN", note=_same_on_cpu)
def cudnn(problem: Problem) -> ModelDef:
    """Returns y [S, B, H] and (h, c), each [L, B, H]."""
    return nn_lstm(problem)


@runner("aten", family="lstm", group="rnns", description="nn.LSTM with cuDNN switched off", note=_same_on_cpu)
def aten(problem: Problem) -> ModelDef:
    """Returns y [S, B, H] and (h, c), each [L, B, H]."""
    from dataclasses import replace

    from fastrnns_rs.context import cudnn_disabled

    return replace(nn_lstm(problem), context=cudnn_disabled)
