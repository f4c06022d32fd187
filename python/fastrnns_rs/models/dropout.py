"""LSTMs with dropout between their layers. Two layers are the default and the least: one has nothing between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.models.custom import multilayer
from fastrnns_rs.models.lstm import nn_lstm
from fastrnns_rs.runners.registry import runner

if TYPE_CHECKING:
    from fastrnns_rs.models.definition import ModelDef
    from fastrnns_rs.problem.problem import Problem

PROBABILITY = 0.4


def _where(problem: Problem) -> str:
    if not problem.training:
        return "inference drops nothing"
    return f"dropout {PROBABILITY} between its {problem.num_layers} layers"


@runner(
    "cudnn_dropout",
    family="lstm",
    description="nn.LSTM with dropout between layers",
    layers=(2, None),
    honours=("bidirectional", "proj_size"),
    note=_where,
    reference="LSTM under the same dropout mask",
)
def cudnn_dropout(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H]; P stands for H in y and h with a projection."""
    return nn_lstm(problem, dropout=PROBABILITY)


@runner(
    "jit_dropout",
    family="lstm",
    description="TorchScript: jit_multilayer with dropout between layers",
    layers=(2, None),
    honours=("bidirectional",),
    torchscript=True,
    note=_where,
    reference="LSTM under the same dropout mask",
)
def jit_dropout(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H]."""
    return multilayer(problem, dropout=PROBABILITY)
